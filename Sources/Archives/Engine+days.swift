/// What the days of a whole file show.
extension Engine {
  /// Checks the end of a text file, or of one sheet of a workbook.
  mutating func endFile() throws {
    guard isHeaderFound else { throw unknownLayout() }
    if encoding.isWindows1252 {
      warnings.append("not in UTF-8, so read as Windows-1252")
    }
    noteDays()
    try checkDays()
  }

  mutating func noteDays() {
    for (month, _, days) in months { daysOfMonth[month, default: 0] |= days.reduce(0, |) }
  }

  /// Detects files in which day and month are exchanged. Some exports exchange them where both are
  /// below 13. A file of one month then has rows in up to twelve months, all on the same day of the
  /// month. Files of the Northern Territory also have a day of each month beside their own.
  ///
  /// - Throws: `ArchiveRefusal` for such a file.
  private func checkDays() throws {
    // Months with rows on days from 13 to 31, which cannot result from an exchange.
    let proof = daysOfMonth.filter { $0.value & ~0xFFF != 0 }
    let others = daysOfMonth.filter { $0.value & ~0xFFF == 0 }
    guard others.count >= 2 else { return }
    let common = others.values.reduce(~0, &)
    let days = others.values.reduce(0) { $0 + $1.nonzeroBitCount }
    guard common.nonzeroBitCount == 1, days <= others.count + 1 else { return }
    let number = common.trailingZeroBitCount + 1
    if proof.isEmpty || proof.keys.contains(where: { Int($0 % 12) + 1 == number }) {
      throw refusal(
        "day and month are swapped: \(others.count) months have rows on day \(number) alone; "
          + "expected the original file, not a portal's export")
    }
  }
}
