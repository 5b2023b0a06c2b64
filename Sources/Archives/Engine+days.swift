/// What the days of a whole file show.
extension Engine {
  /// Checks the end of a text file, or of one sheet of a workbook.
  mutating func endFile() throws {
    guard isHeaderFound else { throw unknownLayout() }
    if encoding.isWindows1252 {
      warnings.append("not in UTF-8, so read as Windows-1252")
    }
    noteDays()
    if format.holdsOneMonth { try checkDays() }
  }

  mutating func noteDays() {
    for (month, _, days) in months { daysOfMonth[month, default: 0] |= days.reduce(0, |) }
  }

  /// Detects files in which day and month are exchanged. Some exports exchange them where both are
  /// below 13. A file of one month then has rows in up to twelve months, all on the same day of the
  /// month.
  ///
  /// - Throws: `ArchiveRefusal` for such a file.
  private func checkDays() throws {
    // Months with rows on days from 13 to 31, which cannot result from an exchange.
    let proof = daysOfMonth.filter { $0.value & ~0xFFF != 0 }
    let others = daysOfMonth.filter { $0.value & ~0xFFF == 0 }
    guard others.count >= 2 else { return }
    let single = others.values.allSatisfy { $0.nonzeroBitCount == 1 }
    guard single, Set(others.values).count == 1, let bit = others.values.first else { return }
    let number = bit.trailingZeroBitCount + 1
    if proof.isEmpty || proof.keys.contains(where: { Int($0 % 12) + 1 == number }) {
      throw refusal(
        "day and month are swapped: all rows are on day \(number) of \(others.count) months; "
          + "expected the original file, not a portal's export")
    }
  }
}
