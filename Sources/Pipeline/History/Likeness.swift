import FuelModel
import Store

/// How likely two stations near each other or with one name are one station, by name, address and
/// succession in time.
struct Likeness {
  /// Share of common words in the names, without the words of the suburbs.
  var name = 0.0
  /// 1: the same address; 0: different streets.
  var address = 0.0
  /// 1: one station begins where the other ends; 0: both have prices on 31 common days or more, or
  /// more than a year of known days lies between them.
  var succession = 0.0
  /// Known days from the end of one station to the beginning of the other; negative: the number of
  /// common days.
  private var gap: Int?

  /// Compares the records of two stations.
  ///
  /// - Parameter known: days of which anything is known of the scheme. Other days do not count as a
  ///   gap.
  init(_ left: [StationRecord], _ right: [StationRecord], known: [Range<Int>]) {
    for one in left {
      for other in right {
        let suburbs = Set((one.suburbs + other.suburbs).flatMap { $0.split(separator: " ") })
        func plain(_ name: String) -> String {
          let words = name.split(separator: " ").filter { !suburbs.contains($0) }
          return words.isEmpty ? name : words.joined(separator: " ")
        }
        for a in one.names {
          for b in other.names {
            name = max(name, Identity.similarity(plain(a), plain(b)))
          }
        }
        for a in one.addresses {
          for b in other.addresses { address = max(address, Self.address(a, b)) }
        }
      }
    }
    guard let first = Self.days(left), let second = Self.days(right) else { return }
    let begin = min(first.upperBound, second.upperBound)
    let end = max(first.lowerBound, second.lowerBound)
    let gap =
      begin > end
      ? end - begin
      : known.reduce(0) { $0 + max(0, min($1.upperBound, end) - max($1.lowerBound, begin)) }
    self.gap = gap
    // A price stays in effect for weeks, so an archive of changes may report nothing for 62 days.
    succession =
      gap < 0
      ? max(0, 1 + Double(gap) / Double(Self.mostCommonDays))
      : max(0, 1 - Double(max(0, gap - 62)) / 365)
  }

  /// The weighted score, from 0 to 100.
  var score: Int { Int((100 * (0.3 * name + 0.4 * address + 0.3 * succession)).rounded()) }

  /// The reasons in favour, in words for a person.
  var why: String {
    let place =
      address >= 1
      ? "the same address"
      : address >= 0.8
        ? "nearly the same address" : address > 0 ? "the same street" : "the same suburb"
    let time =
      switch gap {
      case nil: ""
      case let gap? where gap < 0: ", both in use for \(-gap) days"
      case 0: ", one after the other"
      case let gap?: ", one \(gap) days after the other"
      }
    return
      "\(place), \(name >= 1 ? "the same name" : name > 0 ? "similar names" : "a different name")\(time)"
  }

  // On how many common days two records of one station may appear. A feed may list an old code for
  // some time.
  private static let mostCommonDays = 31

  /// Returns whether one range of days may begin where the other ends.
  static func mayFollow(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
    left.clamped(to: right).count < mostCommonDays
  }

  /// Returns the range from the first to the last day on which any of the records was described.
  static func days(_ records: [StationRecord]) -> Range<Int>? {
    guard let first = records.compactMap(\.firstDay?.sinceEpoch).min(),
      let last = records.compactMap(\.lastDay?.sinceEpoch).max()
    else { return nil }
    return first..<max(first, last) + 1
  }

  /// Compares two addresses. 1: equal. 0.9: overlapping house numbers in one street, or in streets
  /// whose names differ by at most two letters. 0.6: the same street, with numbers at most twenty
  /// apart or without a number. 0.3: the same street with numbers further apart. 0: different
  /// streets.
  static func address(_ left: String, _ right: String) -> Double {
    if left == right { return 1 }
    let a = Identity.Street(left)
    let b = Identity.Street(right)
    let areNear = a.numbers.flatMap { a in b.numbers.map { a.overlaps($0) } } ?? false
    if a.name == b.name {
      guard let first = a.numbers, let second = b.numbers else { return 0.6 }
      let distance =
        max(first.lowerBound, second.lowerBound) - min(first.upperBound, second.upperBound)
      return areNear ? 0.9 : distance <= 20 ? 0.6 : 0.3
    }
    return areNear && misspellings(a.name, b.name) <= 2 ? 0.9 : 0
  }

  /// Returns how many letters must be changed, added or removed to turn one text into the other.
  /// Where the lengths differ by more than two, it returns only that difference.
  static func misspellings(_ left: String, _ right: String) -> Int {
    let a = Array(left.utf8)
    let b = Array(right.utf8)
    if abs(a.count - b.count) > 2 { return abs(a.count - b.count) }
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let changed = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(changed, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
