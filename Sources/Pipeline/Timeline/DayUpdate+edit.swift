import FuelModel
import Store
import Timeline

extension DayUpdate {
  /// Changes averages of regions by single stations: takes out the earlier days of each station and
  /// puts in its new days.
  ///
  /// Days whose averages are due anyway, or of which too little is stored, are left out here and
  /// made from all stations later.
  func edit(
    _ spans: [MonthSpan], before: [StationMonth], after: [StationMonth], context: RegionContext
  ) throws {
    guard let first = spans.map(\.first).min(), let last = spans.map(\.last).max() else { return }
    let before = StationMonths(before)
    let after = StationMonths(after)
    var widest = spans
    // A station with a price is also expected in the following month.
    for position in widest.indices { widest[position].last = Month(number: last.number + 1) }
    let calendar = try calendar(
      of: widest, from: first, to: Month(number: last.number + 1), context: context)
    let from = first.firstDay
    let to = Month(number: last.number + 2).firstDay + -1
    var edit = RegionEdit(
      regions: context.regions, regionSets: context.regionSets,
      settled: try store.settledDays(from: from, to: to, states: context.states))
    for span in spans {
      guard let station = context.countedStation(of: span.pair.stationID) else { continue }
      for number in span.first.number...span.last.number + 1 {
        let month = Month(number: number)
        Self.edit(
          &edit, span, month, Self.days(of: station.state, from: month, to: month, calendar),
          at: station, before: before, after: after)
      }
    }
    let fuelIDs = Set(spans.map(\.pair.fuelID)).sorted()
    try edit.leave(store.dirtyDays(of: fuelIDs, from: from, to: to))
    guard let (begin, end) = edit.range else { return }
    let (made, left) = edit.averages(
      of: try store.regionDays(
        of: edit.changedRegions.map { ($0, context.regions[$0].code) }, fuelIDs: fuelIDs,
        from: begin, to: end))
    try store.replace(with: made)
    try store.markDirty(left)
  }

  /// Takes out the earlier days of a station, fuel and month, and puts in the new ones.
  private static func edit(
    _ edit: inout RegionEdit, _ span: MonthSpan, _ month: Month,
    _ days: ArraySlice<PriceCalendar.PriceDay>, at station: CountedStation,
    before: StationMonths, after: StationMonths
  ) {
    func old(_ month: Int32) -> [StationDay]? { before[span.pair, month] }
    // Months outside the span have not changed.
    func new(_ month: Int32) -> [StationDay]? {
      month < span.first.number || month > span.last.number
        ? old(month) : after[span.pair, month]
    }
    func isKnown(_ days: [StationDay]?) -> Bool {
      days?.contains { $0.standing == .known } ?? false
    }
    let fuelID = span.pair.fuelID
    let (out, into) = (old(month.number), new(month.number))
    let wasExpected = isKnown(out) || isKnown(old(month.number - 1))
    let isExpected = isKnown(into) || isKnown(new(month.number - 1))
    for (position, day) in days.enumerated() {
      let date = month.firstDay + position
      if wasExpected != isExpected {
        edit.expect(at: station, fuelID: fuelID, on: date, isNew: isExpected)
      }
      let was = out.flatMap { position < $0.count ? $0[position] : nil } ?? .unknown
      let now = into.flatMap { position < $0.count ? $0[position] : nil } ?? .unknown
      guard !was.countsAs(now) else { continue }
      for (value, isNew) in [(was, false), (now, true)] {
        edit.count(
          value, at: station, fuelID: fuelID, on: date, lasting: day.microseconds, isNew: isNew)
      }
    }
  }
}

/// The days of stations and fuels, by month.
private struct StationMonths {
  private struct Key: Hashable {
    var pair: Pair
    var month: Int32
  }

  private let days: [Key: [StationDay]]

  /// Of several that are of one month, the last counts.
  init(_ months: [StationMonth]) {
    days = Dictionary(
      months.map { (Key(pair: $0.pair, month: $0.month.number), $0.days) },
      uniquingKeysWith: { $1 })
  }

  subscript(pair: Pair, month: Int32) -> [StationDay]? { days[Key(pair: pair, month: month)] }
}
