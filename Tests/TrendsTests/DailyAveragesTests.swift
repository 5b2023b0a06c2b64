import FuelModel
import Simulator
import Testing

@testable import Trends

/// Daily averages of made-up events against a second way: asking every minute.
struct DailyAveragesTests {
  private let begin = Instant(seconds: 1_780_000_000 / 86_400 * 86_400)
  private let hour: Int64 = 3_600_000_000

  private func at(minutes: Int) -> Instant { begin + .seconds(minutes * 60) }

  private func calendar(days: Int) -> PriceCalendar {
    PriceCalendar(
      first: Day(sinceEpoch: Int(begin.seconds / 86_400)), count: days,
      days: [
        (0..<days).map { day in
          .init(
            beginsAt: at(minutes: day * 1_440), endsAt: at(minutes: (day + 1) * 1_440),
            isEnded: true)
        }
      ])
  }

  private struct World {
    var events: [Int32: [PriceEvent]]
    var sightings: [Instant]
  }

  /// Stations that change, stop selling and fall silent, one source that is away for a while.
  private func world(_ seed: Int) -> World {
    var random = Random(seed: UInt64(seed), "averages")
    var events: [Int32: [PriceEvent]] = [:]
    for station in Int32(1)...12 {
      var list: [PriceEvent] = []
      for _ in 0..<random.integer(1...9) {
        let minute = random.integer(-3 * 1_440...4 * 1_440)
        list.append(
          PriceEvent(
            placeID: station, fuelID: 1, sourceID: 1, stationID: station,
            effectiveAt: at(minutes: minute),
            price: random.chance(0.15) ? 0 : Int32(random.integer(1_700...1_900)),
            stampedAt: at(minutes: minute), learntAt: at(minutes: minute + 5)))
      }
      events[station] = list
    }
    let away = random.integer(0...3 * 1_440)
    let sightings = stride(from: -3 * 1_440, to: 5 * 1_440, by: 60)
      .filter { $0 < away || $0 > away + 1_000 }.map { at(minutes: $0) }
    return World(events: events, sightings: sightings)
  }

  private let rules: [Int16: SourceRules] = [
    1: SourceRules(
      priceLapsesAfter: 48 * 3_600_000_000, sightLapsesAfter: 6 * 3_600_000_000,
      speaksFrom: .distantPast, holdingConfirms: true)
  ]

  private func made(_ world: World, days: Range<Int>, shuffled: Bool) -> [DailyAverage] {
    let whole = calendar(days: 4)
    let part = PriceCalendar(
      first: whole.first + days.lowerBound, count: days.count, days: [Array(whole.days[0][days])])
    var averages = DailyAverages(
      fuelIDs: [1], calendar: part, rules: rules,
      places: Dictionary(
        uniqueKeysWithValues: world.events.keys.map {
          ($0, Place(state: 0, isPublic: $0 != 12, regionSet: 0))
        }),
      regions: [AveragedRegion(code: "R", state: 0, validFrom: nil, validTo: nil, reach: 1)],
      regionSets: [[0]], sightings: Sightings([1: world.sightings]))
    for station in world.events.keys.sorted(by: shuffled ? (>) : (<)) {
      var events = world.events[station] ?? []
      if shuffled { events.reverse() }
      averages.take(&events)
    }
    _ = averages.farPrices()
    return averages.averages(without: [])
  }

  /// What is believed of a station in a minute, by the rules in words.
  private func price(_ world: World, _ station: Int32, _ minute: Int) -> Int32? {
    let now = at(minutes: minute)
    let events = (world.events[station] ?? []).sorted {
      ($0.effectiveAt, $0.learntAt, $0.price) < ($1.effectiveAt, $1.learntAt, $1.price)
    }
    guard let event = events.last(where: { $0.effectiveAt <= now }), event.price > 0 else {
      return nil
    }
    if now.microseconds - event.stampedAt.microseconds >= 48 * hour { return nil }
    let next = events.first { $0.effectiveAt > now }?.effectiveAt
    let seen = world.sightings.last { $0 < next ?? .distantFuture } ?? event.stampedAt
    let lapses = max(seen, event.stampedAt).microseconds + 6 * hour
    // Between two sightings that are near enough it was there all the time.
    return now.microseconds < lapses ? event.price : nil
  }

  @Test(arguments: 0..<30)
  func equalAskingEveryMinute(seed: Int) throws {
    let world = world(seed)
    let averages = made(world, days: 0..<4, shuffled: false)
    for day in 0..<4 {
      var means: [Double] = []
      var minutes = 0
      for station in Int32(1)...11 {
        let prices = (day * 1_440..<(day + 1) * 1_440).compactMap { price(world, station, $0) }
        guard !prices.isEmpty else { continue }
        means.append(Double(prices.reduce(0) { $0 + Int($1) }) / Double(prices.count))
        minutes += prices.count
      }
      let row = averages.first { $0.day == calendar(days: 4).first + day }
      #expect(row?.stations ?? 0 == means.count)
      guard let row, !means.isEmpty else { continue }
      let mean = means.reduce(0, +) / Double(means.count)
      #expect(abs(Double(row.average) - mean * 10) <= 0.51)
      #expect(abs(Double(row.lowest) - (try #require(means.min())) * 10) <= 0.51)
      #expect(abs(Double(row.highest) - (try #require(means.max())) * 10) <= 0.51)
      #expect(abs(Double(row.coverage) - Double(minutes) / Double(means.count) / 1.44) <= 0.51)
    }
  }

  /// The order of events and stations is no matter, and a day is the same in a span of any length.
  @Test(arguments: 0..<30)
  func orderAndSpanAreNoMatter(seed: Int) {
    let world = world(seed)
    let whole = made(world, days: 0..<4, shuffled: false)
    #expect(made(world, days: 0..<4, shuffled: true) == whole)
    let apart = (0..<4).flatMap { made(world, days: $0..<$0 + 1, shuffled: false) }
    #expect(apart == whole)
  }

  /// The level to judge doubtful prices by: the median and six times the middle distance from it.
  @Test func usualPrices() {
    var prices: [Int32] = [1_700, 1_750, 1_800, 1_810, 1_820, 1_900, 2_000]
    // Median 1810; distances 0, 10, 10, 60, 90, 110, 190: 60 × 1.4826 = 89.
    #expect(DailyAverages.usual(&prices) == 1_810 - 534...1_810 + 534)
    var equal: [Int32] = Array(repeating: 1_500, count: 8)
    // At least 4 %.
    #expect(DailyAverages.usual(&equal) == 1_500 - 360...1_500 + 360)
  }
}
