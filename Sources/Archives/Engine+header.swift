import FuelModel

/// Which columns a file has, as its header states.
struct Layout {
  /// The columns of the file by `ArchiveFormat.Column`.
  var columns: [Int] = []
  var fuelColumns: [(column: Int, fuel: Fuel)] = []
  /// The columns of a file with a column per fuel whose names say nothing.
  var unknown: [Int] = []
  var fieldCount = 0
  /// The columns that describe the station.
  var identity: [Int] = []
  /// Columns that hold the same thing, such as FuelCode and FuelType. In each row at most one of
  /// them is filled, or both say the same.
  var doubles: [[Int]] = []
  var names: [String] = []

  /// The place of a column in the file; -1 where the file has no such column.
  subscript(_ column: ArchiveFormat.Column) -> Int { columns[column.rawValue] }

  /// The columns that are read.
  var read: [Int] {
    columns.filter { $0 >= 0 } + fuelColumns.map(\.column) + doubles.flatMap { $0 }
  }
}

/// The header of a file, which states what its columns hold.
extension Engine {
  /// Returns the name of a column for comparison: in lower case, with spaces for underscores.
  static func folded(_ name: String) -> String {
    name.replacing("_", with: " ").lowercased().split(separator: " ").joined(separator: " ")
  }

  /// Reads a header, the first one or one further down, as in files that were put together.
  mutating func findHeader(_ record: ArchiveRecord) throws -> Bool {
    guard let found = try header(in: record) else { return false }
    layout = found
    isHeaderFound = true
    return true
  }

  /// Returns the layout that a row states; `nil` where the row is no header.
  func header(in record: ArchiveRecord) throws -> Layout? {
    // Where files were put together, a byte order mark stands before a later header.
    let names = record.fields.indices.map { Self.folded(record.text($0).plain) }
    var layout = Layout()
    layout.names = names
    for column in ArchiveFormat.Column.allCases {
      let positions = names.indices.filter { format.columns[column]?.contains(names[$0]) ?? false }
      layout.columns.append(positions.first ?? -1)
      if positions.count > 1 { layout.doubles.append(positions) }
    }
    var positions: [Fuel: [Int]] = [:]
    for index in names.indices where format.isWide {
      guard let fuel = format.fuelColumns[names[index]] ?? FuelName.fuel(names[index]) else {
        continue
      }
      if positions[fuel] == nil { layout.fuelColumns.append((index, fuel)) }
      positions[fuel, default: []].append(index)
    }
    layout.doubles += positions.values.filter { $0.count > 1 }
    func has(_ column: ArchiveFormat.Column) -> Bool { layout[column] >= 0 }
    let required = format.requiredColumns
    guard required.allSatisfy(has), !format.isWide || !layout.fuelColumns.isEmpty else {
      // A row with a part of the header's columns is a changed header, not a title.
      let missing = required.filter { !has($0) }
      if has(.stamp), !missing.isEmpty, missing.count <= 2 { throw lacking(missing, of: names) }
      return nil
    }
    layout.unknown = format.isWide ? names.indices.filter { !layout.read.contains($0) } : []
    layout.fieldCount = record.fields.count
    layout.identity = [
      ArchiveFormat.Column.code, .name, .brand, .address, .suburb, .state, .postcode, .latitude,
      .longitude,
    ].map { layout[$0] }.filter { $0 >= 0 }
    return layout
  }

  // MARK: Two columns for one thing

  /// Returns the row with the filled one of such columns in the place of the first.
  ///
  /// - Throws: `ArchiveRefusal` where two of them say different things.
  mutating func joined(_ record: ArchiveRecord) throws -> [ArchiveRecord.Field]? {
    var fields = Array(record.fields)
    for positions in layout.doubles {
      var kept = positions[0]
      for position in positions.dropFirst() where !record[position].isEmpty {
        if record[kept].isEmpty || format.zeroIsBlank && Self.isZero(record[kept]) {
          kept = position
        } else if format.zeroIsBlank && Self.isZero(record[position]) {
          continue
        } else if !saySame(record, kept, position) {
          if try header(in: record) != nil { return nil }
          throw refusal(
            "columns \(kept + 1) ('\(layout.names[kept])') and \(position + 1) "
              + "('\(layout.names[position])') hold the same thing, and in row \(rows) one says "
              + "'\(record.text(kept).plain)' and the other '\(record.text(position).plain)'; "
              + "delete one of these columns")
        }
      }
      fields[positions[0]] = record.fields[kept]
    }
    return fields
  }

  private mutating func saySame(_ record: ArchiveRecord, _ first: Int, _ second: Int) -> Bool {
    let texts = [first, second].map { record.text($0).plain.lowercased() }
    if texts[0] == texts[1] { return true }
    switch layout.columns.firstIndex(of: first).flatMap(ArchiveFormat.Column.init(rawValue:)) {
    case .fuel:
      let fuels = [first, second].map { fuelNumber(record[$0]) }
      return fuels[0] > 0 && fuels[0] == fuels[1]
    case .price, nil:
      let prices = [first, second].map { WrittenNumber.tenths(record[$0], unit: format.unit) }
      return prices[0] != nil && prices[0] == prices[1]
    case .code, .postcode:
      return WrittenNumber.whole(texts[0]) != nil
        && WrittenNumber.whole(texts[0]) == WrittenNumber.whole(texts[1])
    default: return false
    }
  }
}
