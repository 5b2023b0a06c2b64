/// A value that can travel to the server as a parameter, in PostgreSQL's text form.
package protocol Bindable {
  /// The text form; `nil` is NULL. The server infers the type from where the parameter stands.
  var sqlText: String? { get }
}

/// A parameter as it is sent.
enum Parameter: Sendable {
  case text(String?)
  case binary([UInt8])
}

/// A statement whose interpolated values become `$1`, `$2`, ...: never part of its text.
///
///     try connection.query("DELETE FROM fuel.reject WHERE run_id = \(run)")
package struct SQL: ExpressibleByStringInterpolation, Sendable {
  package private(set) var text: String
  private(set) var parameters: [Parameter]

  package init(stringLiteral value: String) {
    text = value
    parameters = []
  }

  package init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    parameters = stringInterpolation.parameters
  }

  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var parameters: [Parameter] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 3)
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ value: some Bindable) {
      parameters.append(.text(value.sqlText))
      text += "$\(parameters.count)"
    }

    /// A value that may be missing; `nil` is NULL.
    package mutating func appendInterpolation(optional value: (some Bindable)?) {
      appendInterpolation(value)
    }

    /// Bytes for a `bytea`, sent as they are.
    package mutating func appendInterpolation(bytes: [UInt8]) {
      parameters.append(.binary(bytes))
      text += "$\(parameters.count)"
    }
  }
}

extension String: Bindable {
  /// libpq ends a text parameter at its first NUL, which would store half a value without a word.
  /// Readers strip control characters long before; here it can only be a mistake of ours.
  package var sqlText: String? {
    precondition(!utf8.contains(0), "a text parameter holds a NUL")
    return self
  }
}
/// `nil` is NULL.
extension Optional: Bindable where Wrapped: Bindable {
  package var sqlText: String? { self?.sqlText }
}
extension Int: Bindable { package var sqlText: String? { String(self) } }
extension Int16: Bindable { package var sqlText: String? { String(self) } }
extension Int32: Bindable { package var sqlText: String? { String(self) } }
extension Int64: Bindable { package var sqlText: String? { String(self) } }
extension Double: Bindable { package var sqlText: String? { String(self) } }
extension Bool: Bindable { package var sqlText: String? { self ? "t" : "f" } }

extension Array: Bindable where Element: Bindable {
  /// PostgreSQL's array literal with every element quoted, so that no content can end it.
  package var sqlText: String? {
    var literal = "{"
    for (position, element) in enumerated() {
      if position > 0 { literal += "," }
      guard let text = element.sqlText else {
        literal += "NULL"
        continue
      }
      literal += "\""
      // Most elements are numbers, and there are millions of them.
      if text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") }) {
        literal += text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      } else {
        literal += text
      }
      literal += "\""
    }
    return literal + "}"
  }
}
