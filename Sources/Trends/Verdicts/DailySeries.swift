package import FuelModel

/// The daily averages of one region and fuel, with an entry for every day without a gap. They are
/// in cents per litre with two decimals, so that equal averages are equal on every machine. `nil`
/// is a day without a usable average.
package struct DailySeries: Sendable, Equatable {
  package var first: Day
  package var averages: [Double?]

  package init(first: Day, averages: [Double?]) {
    self.first = first
    self.averages = averages
  }

  /// Puts the averages into the order of their days. Days between them are missing.
  package init?(_ known: [(day: Day, average: Double)]) {
    guard let first = known.map(\.day).min(), let last = known.map(\.day).max() else { return nil }
    self.init(
      first: first,
      averages: Array(repeating: nil, count: last.sinceEpoch - first.sinceEpoch + 1))
    for (day, average) in known {
      averages[day.sinceEpoch - first.sinceEpoch] = (average * 100).rounded() / 100
    }
  }

  /// Makes a series up to a day from averages with their numbers of stations. A day with fewer than
  /// half the usual number of stations of the month before is missing, because its mean is of a
  /// different set of stations.
  package init?(
    _ known: [(day: Day, average: Double, stations: Int)], upTo last: Day
  ) {
    var counts: [Int] = []
    var usable: [(day: Day, average: Double)] = []
    for (day, average, stations) in known where day <= last {
      let usual = counts.sorted()
      if usual.isEmpty || 2 * stations >= usual[usual.count / 2] { usable.append((day, average)) }
      counts.append(stations)
      if counts.count > 30 { counts.removeFirst() }
    }
    self.init(usable)
    while self.last < last { averages.append(nil) }
  }

  package var count: Int { averages.count }
  package var last: Day { first + (averages.count - 1) }

  package subscript(day: Day) -> Double? {
    let index = day.sinceEpoch - first.sinceEpoch
    return averages.indices.contains(index) ? averages[index] : nil
  }

  /// 0 is Monday.
  func weekday(_ index: Int) -> Int { (first + index).weekday }

  /// The latest day with an average that is at least `least` and at most three more days before
  /// another day.
  func earlier(_ index: Int, _ least: Int) -> Int? {
    var candidate = index - least
    while candidate >= max(0, index - least - 3) {
      if averages[candidate] != nil { return candidate }
      candidate -= 1
    }
    return nil
  }

  /// The change per day since the previous average, or `nil` if that is too long ago.
  func step(_ index: Int) -> Double? {
    guard let price = averages[index], let before = earlier(index, 1), let then = averages[before]
    else { return nil }
    return (price - then) / Double(index - before)
  }

  /// The averages from one day to another, as far as they are known.
  func known(_ first: Int, _ last: Int) -> [Double] {
    guard last >= 0 else { return [] }
    return averages[max(0, first)...last].compactMap { $0 }
  }

  /// The lowest average from one day to another, or the highest, and the last day that had it.
  func extreme(
    _ first: Int, _ last: Int, by isBeyond: (Double, Double) -> Bool
  ) -> (price: Double, day: Int)? {
    (max(0, first)...last).reduce(nil) { extreme, day in
      guard let price = averages[day] else { return extreme }
      return extreme.map { isBeyond($0.price, price) } ?? false ? extreme : (price, day)
    }
  }

  // What happened in a longer gap is not known.
  private static let longestFilled = 3

  /// The averages, with inner gaps of at most three days filled by linear interpolation. A filled
  /// day is known once the day after the gap is.
  func filled() -> [Double?] {
    var filled = averages
    var last: Int?
    for (index, value) in averages.enumerated() {
      guard let value else { continue }
      if let last, let before = averages[last], index - last <= Self.longestFilled + 1 {
        for inner in last + 1..<index {
          filled[inner] = before + (value - before) * Double(inner - last) / Double(index - last)
        }
      }
      last = index
    }
    return filled
  }
}
