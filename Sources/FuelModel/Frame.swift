/// Writes values one after another, for another process of this program.
package struct FrameWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func write(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  package mutating func write(_ value: Bool) { write(UInt8(value ? 1 : 0)) }

  package mutating func write(_ value: Double) { write(value.bitPattern) }

  package mutating func write(_ text: String) {
    write(UInt32(text.utf8.count))
    bytes.append(contentsOf: text.utf8)
  }

  /// `nil` is not the empty text.
  package mutating func write(optional text: String?) {
    write(text != nil)
    if let text { write(text) }
  }

  package mutating func write(bytes more: [UInt8]) {
    write(UInt32(more.count))
    bytes.append(contentsOf: more)
  }

  /// Values that are the same bytes in both processes, without their number.
  mutating func write(raw values: UnsafeRawBufferPointer) { bytes.append(contentsOf: values) }

  package mutating func write<Element>(
    each elements: [Element], _ body: (inout FrameWriter, Element) -> Void
  ) {
    write(UInt32(elements.count))
    for element in elements { body(&self, element) }
  }
}

/// Reads what a `FrameWriter` wrote, and believes none of it: the other process has read a stranger's document.
package struct FrameReader {
  /// What came is not what a reader sends.
  package struct Broken: Error, Equatable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
  }

  private let bytes: [UInt8]
  private var position = 0

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package var isAtEnd: Bool { position == bytes.count }

  private mutating func take(_ count: Int) throws(Broken) -> ArraySlice<UInt8> {
    guard count <= bytes.count - position else { throw Broken("a value is cut short") }
    defer { position += count }
    return bytes[position..<position + count]
  }

  package mutating func integer<Value: FixedWidthInteger>(
    _ type: Value.Type = Value.self
  ) throws(Broken) -> Value {
    let part = try take(MemoryLayout<Value>.size)
    return part.withUnsafeBytes { Value(littleEndian: $0.loadUnaligned(as: Value.self)) }
  }

  package mutating func boolean() throws(Broken) -> Bool {
    let value: UInt8 = try integer()
    guard value < 2 else { throw Broken("neither true nor false") }
    return value == 1
  }

  package mutating func double() throws(Broken) -> Double { Double(bitPattern: try integer()) }

  package mutating func rawBytes() throws(Broken) -> [UInt8] {
    Array(try take(Int(try integer(UInt32.self))))
  }

  /// So many bytes as they are.
  mutating func raw(_ count: Int) throws(Broken) -> ArraySlice<UInt8> { try take(count) }

  /// A text that has passed the gate of texts already.
  package mutating func plain() throws(Broken) -> String {
    let text = try utf8()
    guard Array(text.plain.utf8) == Array(text.utf8) else {
      throw Broken("a text that is not plain")
    }
    return text
  }

  package mutating func optionalPlain() throws(Broken) -> String? {
    try boolean() ? try plain() : nil
  }

  /// A line for people, of at most so many bytes.
  package mutating func line(ofBytes limit: Int) throws(Broken) -> String {
    let text = try utf8()
    guard Array(text.line(ofBytes: limit).utf8) == Array(text.utf8) else {
      throw Broken("a line that is none")
    }
    return text
  }

  private mutating func utf8() throws(Broken) -> String {
    let count = Int(try integer(UInt32.self))
    guard let text = String(validating: try take(count), as: UTF8.self) else {
      throw Broken("a text that is not UTF-8")
    }
    return text
  }

  package mutating func each<Element>(
    _ body: (inout FrameReader) throws(Broken) -> Element
  ) throws(Broken) -> [Element] {
    let count = Int(try integer(UInt32.self))
    // An element has a byte at least, so that no count reserves more than came.
    guard count <= bytes.count - position else { throw Broken("a list is cut short") }
    var elements: [Element] = []
    elements.reserveCapacity(count)
    for _ in 0..<count { elements.append(try body(&self)) }
    return elements
  }
}
