import FuelModel

/// The header of a file, which states what its columns hold.
extension Engine {
  func unknownLayout() -> ArchiveRefusal {
    let missing = "no header of \(format.id)"
    guard let first = seen.first else { return refusal("\(missing): the file is empty") }
    if let other = otherFormat {
      return refusal(
        "\(missing): the file is one of \(other); load it with bowser backfill \(other)")
    }
    if first.hasPrefix("<") {
      return refusal("\(missing): the file is a web page; download the data that it offers")
    }
    if seen.contains(where: Self.isBinary) {
      return refusal("\(missing): the file is not text; if it was packed twice, unpack it once")
    }
    if seen.contains(where: { $0.count { $0 == ";" } > 3 }) {
      return refusal("\(missing): its fields are separated by ';', and commas are expected")
    }
    let expected = ArchiveFormat.Column.allCases.compactMap { format.columns[$0]?.first }
    return refusal(
      "\(missing) in the first \(rows) rows; seen: '\(first.prefix(120))'; "
        + "expected columns such as \(expected.joined(separator: ", "))")
  }

  /// The archive whose header is among the rows that were seen; `nil` where there is none.
  private var otherFormat: String? {
    let rows = seen.map { Set($0.split(separator: ", ").map { String($0) }) }
    for other in ArchiveFormat.all where other.id != format.id {
      for names in rows where !other.isWide || !names.isDisjoint(with: other.fuelColumns.keys) {
        let needed = other.requiredColumns.map { other.columns[$0] ?? [] }
        if needed.allSatisfy({ !names.isDisjoint(with: $0) }) { return other.id }
      }
    }
    return nil
  }

  /// Whether a quarter of a row is no UTF-8. A text in another encoding has a few such letters.
  private static func isBinary(_ row: String) -> Bool {
    let scalars = row.unicodeScalars
    return !scalars.isEmpty && 4 * scalars.count { $0 == "\u{FFFD}" } >= scalars.count
  }

  /// Returns the name of a column for comparison: in lower case, with spaces for underscores.
  private static func folded(_ name: String) -> String {
    name.replacing("_", with: " ").lowercased().split(separator: " ").joined(separator: " ")
  }

  mutating func findHeader(_ record: ArchiveRecord) throws -> Bool {
    let names = record.fields.indices.map { Self.folded(record.text($0)) }
    if !record.isBlank { seen.append(names.joined(separator: ", ")) }
    var found: [Int] = []
    for column in ArchiveFormat.Column.allCases {
      let positions = names.indices.filter { format.columns[column]?.contains(names[$0]) ?? false }
      if positions.count > 1 {
        throw refusal("two columns called '\(names[positions[0]])'")
      }
      found.append(positions.first ?? -1)
    }
    let fuels = names.indices.compactMap { index in
      format.fuelColumns[names[index]].map { (column: index, fuel: $0) }
    }
    func has(_ column: ArchiveFormat.Column) -> Bool { found[column.rawValue] >= 0 }
    let required = format.requiredColumns
    guard required.allSatisfy(has), !format.isWide || !fuels.isEmpty else {
      // A row with a part of the header's columns is a changed header, not a title.
      let missing = required.filter { !has($0) }
      if has(.stamp), !missing.isEmpty, missing.count <= 2 {
        let names = missing.compactMap { format.columns[$0]?.first }
        throw refusal(
          "no column '\(names.joined(separator: "', '"))'; seen: "
            + "\(seen.last.map { String($0.prefix(300)) } ?? "")")
      }
      return false
    }
    columns = found
    fuelColumns = fuels
    fieldCount = record.fields.count
    identity = [
      ArchiveFormat.Column.code, .name, .brand, .address, .suburb, .state, .postcode, .latitude,
      .longitude,
    ].map { found[$0.rawValue] }.filter { $0 >= 0 }
    let sorted = identity.sorted()
    identityIsOneSpan = zip(sorted, sorted.dropFirst()).allSatisfy { $1 == $0 + 1 }
    isHeaderFound = true
    if has(.price) { whenHeaderIsFound(found[ArchiveFormat.Column.price.rawValue]) }
    return true
  }
}
