/// Passes the rows of a workbook's sheet to the engine, and fills the empty cells of a sheet that
/// is a printed report.
///
/// In such a report an empty cell repeats the cell above, in every column but the price: cells are
/// merged downwards, and on the first row of a page every cell that equals the one above is empty,
/// even where the two rows are of different stations. In any other sheet an empty cell is empty, and
/// so is a formula without a stored result in any sheet.
struct SheetRows {
  /// Whether titles precede the header.
  private var hasTitle = false
  /// The first rows below the header, until it is known whether the sheet is a report.
  private var waiting: [DecodedRow] = []
  private var isReport: Bool?
  /// The last value of each column of a report.
  private var above: [[UInt8]] = []

  /// A page of the reports of New South Wales.
  private static let decidingRows = 300

  mutating func take(_ record: ArchiveRecord, _ engine: inout Engine) throws {
    guard engine.isHeaderFound else {
      try engine.take(record)
      if !engine.isHeaderFound { hasTitle = true }
      return
    }
    guard isReport == nil else { return try pass(record, &engine) }
    waiting.append(DecodedRow(record))
    if waiting.count == Self.decidingRows { try decide(&engine) }
  }

  /// Passes the rows that wait at the end of the sheet.
  mutating func end(_ engine: inout Engine) throws {
    if isReport == nil { try decide(&engine) }
  }

  /// Programs leave out the empty cells at the end of a row. What stands to the right of the
  /// header's columns belongs to none of them, unless it is a further header or all of the row.
  private func padded(_ record: ArchiveRecord, _ engine: Engine) throws -> DecodedRow {
    let count = engine.layout.fieldCount
    let filled = record.fields.indices.filter { !record[$0].isEmpty }
    if let first = filled.first, let last = filled.last, last >= count {
      if try first >= count || engine.header(in: record) != nil { return DecodedRow(record) }
    }
    var row = DecodedRow()
    for index in 0..<count {
      if index < record.fields.count {
        row.append(record[index], as: record.fields[index])
      } else {
        row.append([])
      }
    }
    return row
  }

  private mutating func decide(_ engine: inout Engine) throws {
    isReport = try hasTitle && engine.canBeReport && looksPrinted(engine)
    let rows = waiting
    waiting = []
    for row in rows { try row.with { try pass($0, &engine) } }
  }

  private func looksPrinted(_ engine: Engine) throws -> Bool {
    var blanks = 0
    var repeats = 0
    var station: [[UInt8]] = []
    for row in waiting {
      try row.with { try padded($0, engine) }.with { record in
        if engine.isOfStationAbove(record) {
          blanks += 1
          return
        }
        let cells = [ArchiveFormat.Column.name, .address].map {
          Array(record[engine.layout.columns[$0.rawValue]])
        }
        if cells == station, !cells.contains([]) { repeats += 1 }
        station = cells
      }
    }
    // In the reports of New South Wales two thirds of the rows are blank, and none repeats the
    // station of the row above, since that is what a blank says; at most the first row of a page
    // may. In a sheet whose program did not find some of the stations, the other rows repeat theirs.
    return blanks > 0 && 4 * blanks >= waiting.count && 30 * repeats <= blanks
  }

  private mutating func pass(_ record: ArchiveRecord, _ engine: inout Engine) throws {
    if isReport == false, record.fields.count == engine.layout.fieldCount {
      return try engine.take(record)
    }
    let row = try padded(record, engine)
    guard isReport == true else { return try row.with { try engine.take($0) } }
    switch try row.with({ try engine.kindInReport($0, above: above) }) {
    case .noRecord:
      let columns = engine.layout.columns
      try row.with { try engine.take($0) }
      // Below a header in another order, no cell repeats one above it.
      if engine.layout.columns != columns { above = [] }
    case .unclear:
      try row.with { try engine.take($0) }
      above = above.map { _ in Array("\u{FFFD}".utf8) }
    case .record:
      try fill(row, &engine)
    }
  }

  private mutating func fill(_ row: DecodedRow, _ engine: inout Engine) throws {
    let price = engine.layout[.price]
    var filled = DecodedRow()
    row.with { record in
      while above.count < record.fields.count { above.append([]) }
      for index in record.fields.indices {
        if index != price, record.repeatsAbove(index) {
          filled.append(above[index])
        } else {
          above[index] = Array(record[index])
          filled.append(record[index])
        }
      }
    }
    try filled.with { try engine.take($0) }
  }
}

/// What a row of a printed report is, by the cells that stand in the sheet.
enum RowOfReport {
  case record
  /// A sum, a note or a header. The rows below still repeat the record above it.
  case noRecord
  /// A row that may begin a station and is no record. What the rows below repeat is not known.
  case unclear
}
