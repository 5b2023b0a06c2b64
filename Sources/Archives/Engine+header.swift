import FuelModel

/// The header of a file, which states what its columns hold.
extension Engine {
  func unknownLayout() -> ArchiveRefusal {
    let expected = ArchiveFormat.Column.allCases.compactMap { format.columns[$0]?.first }
    return refusal(
      "no header of \(format.id) in the first \(max(rows, 1)) rows; "
        + "seen: '\(seen.first.map { String($0.prefix(120)) } ?? "nothing")'; "
        + "expected columns such as \(expected.joined(separator: ", "))")
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
    let isWide = !format.fuelColumns.isEmpty
    let required: [ArchiveFormat.Column] =
      isWide ? [.stamp, .suburb] : [.name, .address, .fuel, .price, .stamp]
    let needsCode = format.identity == .code
    guard required.allSatisfy(has), !needsCode || has(.code), !isWide || !fuels.isEmpty else {
      // A row with a part of the header's columns is a changed header, not a title.
      let missing = (required + (needsCode ? [.code] : [])).filter { !has($0) }
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
