/// Writes values one after another, to be read by another process of this program.
package struct FrameWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Appends an integer, the least significant byte first.
  package mutating func write(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  /// Appends one byte, 0 or 1.
  package mutating func write(_ value: Bool) { write(UInt8(value ? 1 : 0)) }

  /// Appends the 64 bits of a number.
  package mutating func write(_ value: Double) { write(value.bitPattern) }

  /// Appends a text in UTF-8 behind its length.
  package mutating func write(_ text: String) {
    write(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// Writes a text that may be missing; `nil` and the empty text are different values.
  package mutating func write(optional text: String?) {
    write(text != nil)
    if let text { write(text) }
  }

  /// Appends bytes behind their number.
  package mutating func write(bytes more: [UInt8]) {
    write(UInt32(more.count))
    bytes.append(contentsOf: more)
  }

  /// Writes values whose memory is the same in both processes, without their count.
  mutating func write(raw values: UnsafeRawBufferPointer) { bytes.append(contentsOf: values) }

  /// Appends elements behind their number.
  package mutating func write<Element>(
    each elements: [Element], _ body: (inout FrameWriter, Element) -> Void
  ) {
    write(UInt32(elements.count))
    for element in elements { body(&self, element) }
  }
}

/// Reads what a `FrameWriter` wrote and trusts none of it: the other process has read a document
/// from outside, which may have taken control of that process.
package struct FrameReader {
  /// The bytes are not what the other process of this program would have written.
  package struct Broken: Error, Equatable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
  }

  private let bytes: [UInt8]
  private var position = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  private mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count <= bytes.count - position else { throw Broken("a value is cut short") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  /// Reads an integer of the given width.
  package mutating func integer<Value: FixedWidthInteger>(
    _ type: Value.Type = Value.self
  ) throws -> Value {
    let part = try take(MemoryLayout<Value>.size)
    return part.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
  }

  /// Reads a byte that must be 0 or 1.
  package mutating func boolean() throws -> Bool {
    let value: UInt8 = try integer()
    guard value < 2 else { throw Broken("neither true nor false") }
    return value == 1
  }

  /// Reads 64 bits as a number.
  package mutating func double() throws -> Double { Double(bitPattern: try integer()) }

  /// Reads bytes behind their number.
  package mutating func rawBytes() throws -> [UInt8] {
    Array(try take(Int(try integer(UInt32.self))))
  }

  /// Reads the given number of bytes unchanged.
  mutating func raw(_ count: Int) throws -> ArraySlice<UInt8> { try take(count) }

  /// Reads a text, which must already have the form of `String.plain`.
  package mutating func plain() throws -> String {
    let text = try utf8()
    guard Array(text.plain.utf8) == Array(text.utf8) else {
      throw Broken("a text that is not in plain form")
    }
    return text
  }

  /// Reads a text without control characters, or `nil`.
  package mutating func optionalPlain() throws -> String? {
    try boolean() ? try plain() : nil
  }

  /// Reads a line for people, which must already have the form of `String.line(ofBytes:)`.
  package mutating func line(ofBytes limit: Int) throws -> String {
    let text = try utf8()
    guard Array(text.line(ofBytes: limit).utf8) == Array(text.utf8) else {
      throw Broken("an invalid line of text")
    }
    return text
  }

  private mutating func utf8() throws -> String {
    let count = Int(try integer(UInt32.self))
    guard let text = String(validating: try take(count), as: UTF8.self) else {
      throw Broken("a text that is not UTF-8")
    }
    return text
  }

  /// Reads elements behind their number.
  package mutating func each<Element>(
    _ body: (inout FrameReader) throws -> Element
  ) throws -> [Element] {
    let count = Int(try integer(UInt32.self))
    // Each element has at least one byte: a false count cannot reserve room for more elements than
    // there are bytes.
    guard count <= bytes.count - position else { throw Broken("a list is cut short") }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(try body(&self)) }
    return elements
  }
}
