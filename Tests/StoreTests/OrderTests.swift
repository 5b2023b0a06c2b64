import Foundation
import FuelModel
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// Snapshots may arrive in any order, may be repeated, and may have aggregations between them. All
/// published answers end up the same.
struct OrderTests {
  /// One answer of a feed.
  struct Snapshot {
    var takenAt: Instant
    var observations: [Observation]
    var stations: [Station]
    var coverage: Reading.Coverage
  }

  static let begin = Instant("2026-03-30T00:00:00Z")
  static let end = begin + .seconds(9 * 86_400)

  /// Returns a week of a small feed with everything that feeds do: changes, restated stamps, fuels
  /// that are stated as unavailable or left out, entries that come hours late, two prices under one
  /// stamp, an outage of three days, partial lists, and stations that are renamed.
  static func snapshots(seed: UInt64) -> [Snapshot] {
    var random = Random(seed: seed, "order")
    let codes = ["1001", "1002", "1003", "1004"]
    let fuels: [Fuel] = [.u91, .dl]
    struct Event {
      var code: String
      var fuel: Fuel
      var at: Instant
      var known: Instant
      var tenths: Int
    }
    var events: [Event] = []
    for code in codes {
      for fuel in fuels {
        var at = begin - .seconds(random.integer(0...200_000))
        var tenths = random.integer(1500...1999)
        while at < end {
          let late = random.chance(0.15) ? random.integer(0...30_000) : 0
          events.append(
            Event(code: code, fuel: fuel, at: at, known: at + .seconds(late), tenths: tenths))
          if random.chance(0.1) {
            events.append(
              Event(
                code: code, fuel: fuel, at: at, known: at + .seconds(late + 9_000),
                tenths: tenths + random.integer(1...9)))
          }
          at = at + .seconds(random.integer(10_000...150_000))
          if random.chance(0.6) { tenths = random.chance(0.1) ? 0 : random.integer(1500...1999) }
          if tenths == 0, random.chance(0.5) { tenths = random.integer(1500...1999) }
        }
      }
    }
    var snapshots: [Snapshot] = []
    var at = begin
    while at < begin + .seconds(8 * 86_400) {
      var listed: [Observation] = []
      for code in codes {
        for fuel in fuels where !random.chance(0.12) {
          let known = events.filter { $0.code == code && $0.fuel == fuel && $0.known <= at }
          // The list shows the price with the newest stamp. Of several with one stamp it shows the
          // one known last.
          guard let shown = known.max(by: { ($0.at, $0.known) < ($1.at, $1.known) }) else {
            continue
          }
          listed.append(
            Observation(
              stationCode: code, fuel: fuel, price: Price(tenths: shown.tenths),
              effectiveAt: shown.at))
        }
      }
      let day = (at.seconds - begin.seconds) / 86_400
      let stations = codes.map { code in
        Station(
          code: code, state: .qld, name: day < 4 ? "Old \(code)" : "New \(code)", brand: "B\(code)",
          address: "1 Main Rd")
      }
      snapshots.append(
        Snapshot(
          takenAt: at, observations: listed, stations: random.chance(0.5) ? stations : [],
          coverage: random.chance(seed % 2 == 0 ? 0.1 : 0.4) ? .partial : .complete))
      at = at + .seconds(random.chance(0.06) ? 260_000 : random.integer(9_000...40_000))
    }
    return snapshots
  }

  /// To try more seeds by hand: ORDER_SEEDS=2000 make test-long.
  static let seeds = Long.count("ORDER_SEEDS", short: 1, long: 10)

  @Test(.longer, arguments: 0..<seeds)
  func shuffledAndRepeatedSnapshotsEndInTheSameState(seed: Int) async throws {
    let snapshots = Self.snapshots(seed: UInt64(seed))
    let plain = try await TestDatabase.with { target in
      let feed = try Feed(target)
      for snapshot in snapshots { try store(snapshot, in: feed) }
      try feed.aggregate(at: Self.end)
      return try feed.published(at: Self.end)
    }
    var random = Random(seed: UInt64(seed), "shuffle")
    let shuffled = try await TestDatabase.with { target in
      let feed = try Feed(target)
      let repeated = snapshots.filter { _ in random.chance(0.3) }
      for snapshot in (snapshots + repeated).shuffled(using: &random) {
        try store(snapshot, in: feed)
        if random.chance(0.15) { try feed.aggregate(at: Self.end) }
      }
      try feed.aggregate(at: Self.end)
      return try feed.published(at: Self.end)
    }
    #expect(plain.count > 30)
    #expect(shuffled == plain, "seed \(seed)")
    for (left, right) in zip(plain, shuffled) where left != right {
      Issue.record("seed \(seed): plain \(left), shuffled \(right)")
      break
    }
  }

  private func store(_ snapshot: Snapshot, in feed: Feed) throws {
    try feed.reports(
      snapshot.observations, stations: snapshot.stations, at: snapshot.takenAt, now: Self.end,
      coverage: snapshot.coverage)
  }
}
