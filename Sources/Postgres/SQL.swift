/// A value that can be sent to the server as a parameter.
package protocol Bindable {
  /// The value in PostgreSQL's text form; `nil` is NULL.
  var parameter: String? { get }
  /// What follows the parameter in the statement. It is empty where the server infers the type from
  /// the parameter's use.
  static var cast: String { get }
}

extension Bindable {
  package static var cast: String { "" }
}

/// A statement whose interpolated values become the parameters `$1`, `$2`, ... and never a part of
/// its text.
///
///     try connection.query("DELETE FROM fuel.reject WHERE run_id = \(run)")
package struct SQL: ExpressibleByStringInterpolation {
  package private(set) var text: String
  private(set) var parameters: [String?]

  package init(stringLiteral value: String) {
    text = value
    parameters = []
  }

  package init(stringInterpolation: StringInterpolation) {
    text = stringInterpolation.text
    parameters = stringInterpolation.parameters
  }

  /// Collects a statement's text and its values. A value becomes a parameter and never text.
  package struct StringInterpolation: StringInterpolationProtocol {
    var text = ""
    var parameters: [String?] = []

    package init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + interpolationCount * 3)
    }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation<Value: Bindable>(_ value: Value) {
      parameters.append(value.parameter)
      text += "$\(parameters.count)\(Value.cast)"
    }

    /// Appends a value that may be missing; `nil` becomes NULL.
    package mutating func appendInterpolation(optional value: (some Bindable)?) {
      appendInterpolation(value)
    }
  }
}

extension Bindable where Self: LosslessStringConvertible {
  package var parameter: String? { String(self) }
}

/// `nil` becomes NULL.
extension Optional: Bindable where Wrapped: Bindable {
  package var parameter: String? { self?.parameter }
  package static var cast: String { Wrapped.cast }
}

/// A value that can be an element of an array parameter.
package protocol ArrayElement: Bindable {
  /// The name of the element's type in PostgreSQL.
  static var typeName: String { get }
}

extension Int16: ArrayElement { package static var typeName: String { "smallint" } }
extension Int32: ArrayElement { package static var typeName: String { "integer" } }
extension Int64: ArrayElement { package static var typeName: String { "bigint" } }
extension Int: ArrayElement { package static var typeName: String { "bigint" } }
extension Double: ArrayElement { package static var typeName: String { "double precision" } }
extension Bool: ArrayElement { package static var typeName: String { "boolean" } }
extension String: ArrayElement { package static var typeName: String { "text" } }
extension Optional: ArrayElement where Wrapped: ArrayElement {
  package static var typeName: String { Wrapped.typeName }
}

extension Array: Bindable where Element: ArrayElement {
  package static var cast: String { "::\(Element.typeName)[]" }

  /// Every element stands in quotes, so that none can end the array early. Bytes are escaped, not
  /// characters: to Swift a letter and its marks are one character, but to the server they are not.
  package var parameter: String? {
    var literal: [UInt8] = [UInt8(ascii: "{")]
    for (position, element) in enumerated() {
      if position > 0 { literal.append(UInt8(ascii: ",")) }
      guard let text = element.parameter else {
        literal += "NULL".utf8
        continue
      }
      literal.append(UInt8(ascii: "\""))
      for byte in text.utf8 {
        if byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "\"") {
          literal.append(UInt8(ascii: "\\"))
        }
        literal.append(byte)
      }
      literal.append(UInt8(ascii: "\""))
    }
    literal.append(UInt8(ascii: "}"))
    return String(decoding: literal, as: UTF8.self)
  }
}
