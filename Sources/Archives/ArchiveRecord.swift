import FuelModel

/// The fields of one row, as ranges of the row's bytes. Valid only during the call that receives
/// it.
struct ArchiveRecord {
  struct Field {
    var start: Int32
    var count: Int32
    /// Whether the field contains doubled quotes.
    var isEscaped: Bool
    /// Whether the field is a cell with a formula of which no result is stored.
    var isUncomputed = false
  }

  let base: UnsafePointer<UInt8>
  let fields: UnsafeBufferPointer<Field>

  /// Returns a field without leading and trailing blanks.
  @inline(__always) subscript(_ index: Int) -> UnsafeBufferPointer<UInt8> {
    let field = fields[index]
    var start = Int(field.start)
    var end = start + Int(field.count)
    while start < end, base[start] <= 0x20 { start += 1 }
    while end > start, base[end - 1] <= 0x20 { end -= 1 }
    return UnsafeBufferPointer(start: base + start, count: end - start)
  }

  func text(_ index: Int) -> String {
    guard fields[index].isEscaped else { return String(decoding: self[index], as: UTF8.self) }
    // Compares bytes: in a Swift string a combining mark would merge with the quote before it.
    var bytes: [UInt8] = []
    var isSecond = false
    for byte in self[index] {
      isSecond = byte == 0x22 && !isSecond && bytes.last == 0x22
      if !isSecond { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether the row contains bytes that are not ASCII. Its fields lie one after another.
  @inline(__always) var hasLetters: Bool {
    guard let first = fields.first, let last = fields.last else { return false }
    let row = UnsafeBufferPointer(
      start: base + Int(first.start), count: Int(last.start + last.count - first.start))
    return row.reduce(0, |) >= 0x80
  }

  /// Whether a cell of a printed report says the same as the cell above.
  func repeatsAbove(_ index: Int) -> Bool { self[index].isEmpty && !fields[index].isUncomputed }

  var isBlank: Bool { fields.indices.allSatisfy { self[$0].isEmpty } }

  /// The fields in one text, separated by `|`, for a reject.
  var raw: String {
    let limit = InputLimit.rejectBytes.value
    var raw = ""
    for index in fields.indices where raw.utf8.count < limit {
      let field = self[index]
      let shown = UnsafeBufferPointer(rebasing: field.prefix(limit))
      raw += (index > 0 ? "|" : "") + String(decoding: shown, as: UTF8.self)
    }
    return raw
  }
}

/// A row of which a copy was made, since its texts are not as they stand in the file.
struct DecodedRow {
  var bytes: [UInt8] = []
  var fields: [ArchiveRecord.Field] = []

  init() {}

  /// Copies a row as it is.
  init(_ record: ArchiveRecord) {
    for index in record.fields.indices {
      append(record[index], as: record.fields[index])
    }
  }

  mutating func append(_ text: some Collection<UInt8>, as field: ArchiveRecord.Field? = nil) {
    var field = field ?? .init(start: 0, count: 0, isEscaped: false)
    field.start = Int32(bytes.count)
    field.count = Int32(text.count)
    fields.append(field)
    bytes += text
  }

  func with<Result>(_ body: (ArchiveRecord) throws -> Result) rethrows -> Result {
    // An array without bytes may have no address.
    try (bytes.isEmpty ? [0] : bytes).withUnsafeBufferPointer { bytes in
      try fields.withUnsafeBufferPointer { fields in
        try body(ArchiveRecord(base: bytes.baseAddress!, fields: fields))
      }
    }
  }
}
