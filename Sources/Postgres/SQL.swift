/// A value that can be sent to the server as a parameter.
package protocol Bindable {
  var parameter: Parameter { get }
}

/// A parameter in the form in which it is sent.
package enum Parameter {
  /// PostgreSQL's text form. The server infers the type from the parameter's use. `nil` is NULL.
  case text(String?)
  /// The binary form of a type, and the text form for COPY, which needs a literal.
  case binary([UInt8], type: UInt32, literal: () -> String)
}

/// A statement whose interpolated values become the parameters `$1`, `$2`, ... and never a part of
/// its text.
///
///     try connection.query("DELETE FROM fuel.reject WHERE run_id = \(run)")
package struct SQL: ExpressibleByStringInterpolation {
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
      parameters.append(value.parameter)
      text += "$\(parameters.count)"
    }

    /// Appends a value that may be missing; `nil` becomes NULL.
    package mutating func appendInterpolation(optional value: (some Bindable)?) {
      appendInterpolation(value)
    }
  }
}

extension String: Bindable { package var parameter: Parameter { .text(self) } }
/// `nil` becomes NULL.
extension Optional: Bindable where Wrapped: Bindable {
  package var parameter: Parameter { self?.parameter ?? .text(nil) }
}
extension Int: Bindable { package var parameter: Parameter { .text(String(self)) } }
extension Int16: Bindable { package var parameter: Parameter { .text(String(self)) } }
extension Int32: Bindable { package var parameter: Parameter { .text(String(self)) } }
extension Int64: Bindable { package var parameter: Parameter { .text(String(self)) } }
extension Double: Bindable { package var parameter: Parameter { .text(String(self)) } }
extension Bool: Bindable { package var parameter: Parameter { .text(self ? "t" : "f") } }
