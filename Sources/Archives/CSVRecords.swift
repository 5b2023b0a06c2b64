import Foundation
import Glibc

/// Reads comma-separated values (RFC 4180) from a file descriptor, up to a megabyte at a time.
struct CSVRecords: ~Copyable {
  private let descriptor: Int32
  private var buffer: UnsafeMutableBufferPointer<UInt8>
  private var begin = 0
  private var end = 0
  private var isAtEnd = false
  private var fields: UnsafeMutableBufferPointer<ArchiveRecord.Field>
  private(set) var bytes = 0
  /// The rows so far, and the fewest bytes of the last field of a row below the first.
  private var rows = 0
  private var shortest = Int32.max
  /// The last field of a file that seems to be cut off: its last row has no line end, and this
  /// field is shorter than in any other row.
  private(set) var cutEnd: String?

  // The size of the buffer. A real row has about a hundred bytes; one that fills the buffer is
  // none.
  private static let size = 1 << 20
  private static let mostFields = 256

  enum Fault: Error {
    case unclosedQuote
    case rowTooLong
    case readFailed(Int32)
  }

  init(descriptor: Int32) {
    self.descriptor = descriptor
    buffer = .allocate(capacity: Self.size)
    fields = .allocate(capacity: Self.mostFields)
  }

  deinit {
    buffer.deallocate()
    fields.deallocate()
  }

  /// Passes rows to the body until the body returns false or the file ends.
  ///
  /// - Returns: whether the file has ended.
  mutating func read(_ body: (ArchiveRecord) throws -> Bool) throws -> Bool {
    while true {
      var position = begin
      while let (next, count) = try row(from: position) {
        let record = ArchiveRecord(
          base: UnsafePointer(buffer.baseAddress!),
          fields: UnsafeBufferPointer(rebasing: fields[..<count]))
        note(record)
        position = next
        begin = next
        if try !body(record) { return false }
      }
      if isAtEnd { return true }
      try fill()
    }
  }

  @inline(__always) private mutating func note(_ record: ArchiveRecord) {
    guard let last = record.fields.last, record.fields.count > 1 else { return }
    let end = Int(last.start + last.count)
    // In a file with Windows line ends, the field ends with a carriage return.
    let hasReturn = last.count > 0 && record.base[end - 1] == 0x0D
    let count = hasReturn ? last.count - 1 : last.count
    rows += 1
    if isAtEnd, end == self.end, count < shortest, rows > 2, count > 0 {
      cutEnd = record.text(record.fields.count - 1)
    }
    if rows > 1 { shortest = min(shortest, count) }
  }

  /// Moves the unfinished row to the front of the buffer and reads more bytes after it.
  private mutating func fill() throws {
    if bytes == 0, begin == 0, end == 0 {
      try more()
      try skipMark()
      return
    }
    if begin > 0 {
      buffer.baseAddress!.update(from: buffer.baseAddress! + begin, count: end - begin)
      end -= begin
      begin = 0
    }
    guard end < Self.size else { throw Fault.rowTooLong }
    try more()
  }

  private mutating func more() throws {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress! + end, Self.size - end)
      if count > 0 {
        end += count
        bytes += count
        return
      }
      if count == 0 {
        isAtEnd = true
        return
      }
      guard errno == EINTR else { throw Fault.readFailed(errno) }
    }
  }

  /// Skips the byte order mark of UTF-8.
  private mutating func skipMark() throws {
    while end < 3, !isAtEnd { try more() }
    if end >= 3, buffer[0] == 0xEF, buffer[1] == 0xBB, buffer[2] == 0xBF { begin = 3 }
  }

  /// Finds the fields of the row that begins at a position.
  ///
  /// - Returns: where the next row begins and how many fields this row has; `nil` where the row is
  ///   not complete in the buffer yet.
  private mutating func row(from start: Int) throws -> (Int, Int)? {
    let base = UnsafePointer(buffer.baseAddress!)
    let fields = self.fields
    var position = start
    var count = 0
    guard start < end else { return nil }
    while true {
      guard count < Self.mostFields else { throw Fault.rowTooLong }
      if position < end, base[position] == UInt8(ascii: "\"") {
        guard let field = try quotedField(base, &position) else { return nil }
        fields[count] = field
      } else {
        let from = position
        while position < end, base[position] != UInt8(ascii: ","), base[position] != 0x0A {
          position += 1
        }
        fields[count] = .init(start: Int32(from), count: Int32(position - from), isEscaped: false)
      }
      count += 1
      guard position < end else { return isAtEnd ? (position, count) : nil }
      position += 1
      if base[position - 1] == 0x0A {
        // Before a line feed, a carriage return is not a part of the last field; trimming drops it.
        return (position, count)
      }
    }
  }

  /// Reads the field in quotes that begins at a position, and moves the position behind it.
  ///
  /// - Returns: `nil` where the field is not complete in the buffer yet.
  @inline(__always) private func quotedField(
    _ base: UnsafePointer<UInt8>, _ position: inout Int
  ) throws -> ArchiveRecord.Field? {
    let from = position + 1
    var isEscaped = false
    position = from
    while true {
      while position < end, base[position] != UInt8(ascii: "\"") { position += 1 }
      guard position < end else {
        if isAtEnd { throw Fault.unclosedQuote }
        return nil
      }
      if position + 1 < end, base[position + 1] == UInt8(ascii: "\"") {
        isEscaped = true
        position += 2
        continue
      }
      if position + 1 == end, !isAtEnd { return nil }
      break
    }
    var field = ArchiveRecord.Field(
      start: Int32(from), count: Int32(position - from), isEscaped: isEscaped)
    position += 1
    // Text between the closing quote and the comma means a broken row. It becomes a part of the
    // field, so that the field does not match a number or a known name.
    while position < end, base[position] != UInt8(ascii: ","), base[position] != 0x0A {
      if base[position] > 0x20 { field.count = Int32(position + 1 - from) }
      position += 1
    }
    return field
  }
}
