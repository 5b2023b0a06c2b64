/// A value that can be an element of an array parameter. Arrays are sent in PostgreSQL's binary
/// form, in which nothing is quoted, so that no value can end the array early.
///
/// Source: array_recv of PostgreSQL; the type numbers are those of pg_type.dat and never change.
package protocol ArrayElement: Bindable {
  /// The number (OID) of the element's type.
  static var typeNumber: UInt32 { get }
  /// The number (OID) of the type of arrays of this element.
  static var arrayTypeNumber: UInt32 { get }
  /// Appends the value in the binary form of its type. Returns `false` for NULL, for which it
  /// appends nothing.
  func appendBinary(to bytes: inout [UInt8]) -> Bool
}

extension FixedWidthInteger {
  fileprivate func appendBigEndian(to bytes: inout [UInt8]) {
    withUnsafeBytes(of: bigEndian) { bytes.append(contentsOf: $0) }
  }
}

extension ArrayElement where Self: FixedWidthInteger {
  package func appendBinary(to bytes: inout [UInt8]) -> Bool {
    appendBigEndian(to: &bytes)
    return true
  }
}

extension Int16: ArrayElement {
  package static var typeNumber: UInt32 { 21 }
  package static var arrayTypeNumber: UInt32 { 1005 }
}

extension Int32: ArrayElement {
  package static var typeNumber: UInt32 { 23 }
  package static var arrayTypeNumber: UInt32 { 1007 }
}

extension Int64: ArrayElement {
  package static var typeNumber: UInt32 { 20 }
  package static var arrayTypeNumber: UInt32 { 1016 }
}

/// Sent as `bigint`.
extension Int: ArrayElement {
  package static var typeNumber: UInt32 { 20 }
  package static var arrayTypeNumber: UInt32 { 1016 }
}

extension Double: ArrayElement {
  package static var typeNumber: UInt32 { 701 }
  package static var arrayTypeNumber: UInt32 { 1022 }
  package func appendBinary(to bytes: inout [UInt8]) -> Bool {
    bitPattern.appendBigEndian(to: &bytes)
    return true
  }
}

extension Bool: ArrayElement {
  package static var typeNumber: UInt32 { 16 }
  package static var arrayTypeNumber: UInt32 { 1000 }
  package func appendBinary(to bytes: inout [UInt8]) -> Bool {
    bytes.append(self ? 1 : 0)
    return true
  }
}

extension String: ArrayElement {
  package static var typeNumber: UInt32 { 25 }
  package static var arrayTypeNumber: UInt32 { 1009 }
  package func appendBinary(to bytes: inout [UInt8]) -> Bool {
    bytes.append(contentsOf: utf8)
    return true
  }
}

/// `nil` becomes NULL.
extension Optional: ArrayElement where Wrapped: ArrayElement {
  package static var typeNumber: UInt32 { Wrapped.typeNumber }
  package static var arrayTypeNumber: UInt32 { Wrapped.arrayTypeNumber }
  package func appendBinary(to bytes: inout [UInt8]) -> Bool {
    self?.appendBinary(to: &bytes) ?? false
  }
}

extension Array: Bindable where Element: ArrayElement {
  package var parameter: Parameter {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(20 + 12 * count)
    Int32(isEmpty ? 0 : 1).appendBigEndian(to: &bytes)  // dimensions
    Int32(0).appendBigEndian(to: &bytes)  // whether there are NULLs, filled in below
    Element.typeNumber.appendBigEndian(to: &bytes)
    if !isEmpty {
      Int32(count).appendBigEndian(to: &bytes)
      Int32(1).appendBigEndian(to: &bytes)  // the first index
    }
    for element in self {
      let start = bytes.count
      Int32(-1).appendBigEndian(to: &bytes)  // the length of a NULL
      guard element.appendBinary(to: &bytes) else {
        bytes[7] = 1
        continue
      }
      let length = UInt32(bytes.count - start - 4)
      for index in 0..<4 {
        bytes[start + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
      }
    }
    return .binary(bytes, type: Element.arrayTypeNumber, literal: { self.literal })
  }

  /// The text form, for COPY, which takes no parameters. Bytes are escaped, not characters: to
  /// Swift a letter and its marks are one character, but to the server they are not.
  private var literal: String {
    var literal: [UInt8] = [UInt8(ascii: "{")]
    for (position, element) in enumerated() {
      if position > 0 { literal.append(UInt8(ascii: ",")) }
      guard case .text(let text?) = element.parameter else {
        literal += [UInt8]("NULL".utf8)
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
