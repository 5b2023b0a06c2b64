/// A calendar day without a zone, in the Gregorian calendar.
package struct Day: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Days since 1970-01-01.
  package let sinceEpoch: Int

  package init(sinceEpoch: Int) { self.sinceEpoch = sinceEpoch }

  /// - Returns: `nil` for a day that does not exist, such as 31 February.
  package init?(year: Int, month: Int, day: Int) {
    guard (1...12).contains(month), (1...31).contains(day), (1...9999).contains(year) else {
      return nil
    }
    // Years begin in March here: the leap day comes last, and month lengths follow one formula.
    // Source: https://howardhinnant.github.io/date_algorithms.html, days_from_civil
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    let candidate = Day(sinceEpoch: era * 146_097 + dayOfEra - 719_468)
    guard candidate.day == day, candidate.month == month else { return nil }
    self = candidate
  }

  /// Reads `yyyy-MM-dd` and nothing else.
  package init?(_ text: String) {
    var reader = DigitReader(text)
    guard let year = reader.number(digits: 4), reader.skip("-"),
      let month = reader.number(digits: 2), reader.skip("-"),
      let day = reader.number(digits: 2), reader.isAtEnd
    else { return nil }
    self.init(year: year, month: month, day: day)
  }

  package var year: Int { civil.year }
  package var month: Int { civil.month }
  package var day: Int { civil.day }

  /// 0 is Monday.
  package var weekday: Int { ((sinceEpoch + 3) % 7 + 7) % 7 }

  package var description: String {
    let (year, month, day) = civil
    return "\(pad(year, 4))-\(pad(month))-\(pad(day))"
  }

  package static func < (left: Day, right: Day) -> Bool { left.sinceEpoch < right.sinceEpoch }
  package static func + (left: Day, right: Int) -> Day {
    Day(sinceEpoch: left.sinceEpoch + right)
  }

  // Source: the same page, civil_from_days.
  private var civil: (year: Int, month: Int, day: Int) {
    let shifted = sinceEpoch + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    )
  }
}
