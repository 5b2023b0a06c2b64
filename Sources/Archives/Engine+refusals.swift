import FuelModel

/// Why a file without a header of its archive is refused, and what to do with it.
extension Engine {
  func unknownLayout() -> ArchiveRefusal {
    let missing = "no header of \(format.id)"
    guard let first = seen.first else { return refusal("\(missing): the file is empty") }
    if let other = otherFormat {
      return refusal(
        "\(missing): the file is one of \(other); load it with bowser backfill \(other)")
    }
    if let words = otherContent(first) { return refusal("\(missing): \(words)") }
    let expected = ArchiveFormat.Column.allCases.compactMap { format.columns[$0]?.first }
    return refusal(
      "\(missing) in the first \(rows) rows; seen: '\(first.prefix(120))'; "
        + "expected columns such as \(expected.joined(separator: ", "))")
  }

  /// What else than comma-separated values the file is.
  private func otherContent(_ first: String) -> String? {
    if first.hasPrefix("<") { return "the file is a web page; download the data that it offers" }
    if first.hasPrefix("{") || first.hasPrefix("[") {
      return "the file is JSON, as answers of a feed are; bowser ingest FEED --record FOLDER keeps "
        + "answers as they come, bowser backfill recordings FOLDER loads them, and bowser ingest "
        + "FEED --replay FOLDER reads those of one instant"
    }
    if seen.contains(where: { $0.contains("ustar") }) { return ArchiveFile.tar }
    if seen.contains(where: Self.isBinary) {
      return "the file is not text; unpack it, or save it as CSV, first"
    }
    for (separator, name) in [(";", "';'"), ("\t", "tabs"), ("|", "'|'")] as [(Character, String)] {
      if seen.contains(where: { $0.count { $0 == separator } > 3 }) {
        return "its fields are separated by \(name), and commas are expected; "
          + "save it as CSV with commas first"
      }
    }
    return nil
  }

  /// Why a header is refused that lacks some of the columns.
  func lacking(_ missing: [ArchiveFormat.Column], of names: [String]) -> ArchiveRefusal {
    // A packed tar archive begins with a block of its own, in the first line of its first file.
    if names.contains(where: { $0.contains("ustar") }) { return refusal(ArchiveFile.tar) }
    let lacking = missing.compactMap { format.columns[$0]?.first }.joined(separator: "', '")
    return refusal("no column '\(lacking)'; seen: \(names.joined(separator: ", ").prefix(300))")
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

  /// Whether a row contains a NUL, or a quarter of it is no UTF-8. A text in another encoding has a
  /// few such letters.
  private static func isBinary(_ row: String) -> Bool {
    let scalars = row.unicodeScalars
    if scalars.contains("\0") { return true }
    return !scalars.isEmpty && 4 * scalars.count { $0 == "\u{FFFD}" } >= scalars.count
  }
}
