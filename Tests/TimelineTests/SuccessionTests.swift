import FuelModel
import Simulator
import Testing

@testable import Timeline

/// Where a list only goes on with a newer price, the last span says as much as all evidence does.
struct SuccessionTests {
  private static let begin = Instant(seconds: 1_780_000_000 / 86_400 * 86_400)
  private static let hour: Int64 = 3_600_000_000

  private static func at(_ minute: Int) -> Instant { begin + .seconds(Int64(minute) * 60) }

  /// A feed that knows a station by two codes (records 1 and 2), and an archive of it (record 3).
  private struct Feed {
    var random: Random
    /// How long after a list its prices are published.
    let delay: Int64
    var evidence: [Evidence] = []
    var lists: [Instant] = []
    /// By record: the newest reported stamp and price, and whether the newest complete list shows
    /// it.
    var told: [Int32: (at: Int, tenths: Int32)] = [:]
    var isListed: [Int32: Bool] = [:]

    var sightings: [Int16: Coverage] {
      [
        1: Coverage(
          lists.map { ($0, $0) }
            + zip(lists, lists.dropFirst()).filter {
              $1.microseconds - $0.microseconds <= 6 * hour
            })
      ]
    }

    var rules: [Int16: ReportRules] {
      [
        1: ReportRules(priceLapse: 60 * hour, sightLapse: 6 * hour, delay: delay),
        2: ReportRules(
          priceLapse: 60 * hour, sightLapse: 60 * hour,
          covered: Coverage([(begin, .distantFuture)])),
      ]
    }

    var spans: [Span] {
      Timeline.spans(of: evidence, rules: rules, sightings: sightings, lists: [1: lists.sorted()])
    }

    /// Reports the price of a record at a minute if it has not been reported yet. Returns whether
    /// that adds evidence.
    private mutating func tell(_ record: Int32, _ price: (at: Int, tenths: Int32), _ minute: Int)
      -> Bool
    {
      if let known = told[record], known == price { return false }
      told[record] = price
      evidence.append(
        Evidence(
          kind: .price, recordID: record, sourceID: 1, at: at(price.at), price: price.tenths,
          learntAt: at(minute).after(delay)))
      return true
    }

    private mutating func list(_ record: Int32, _ isShown: Bool, _ minute: Int) -> Bool {
      guard isListed[record] ?? false != isShown else { return false }
      isListed[record] = isShown
      evidence.append(
        Evidence(
          kind: isShown ? .listed : .unlisted, recordID: record, sourceID: 1, at: at(minute),
          learntAt: at(minute)))
      return true
    }

    /// Takes a list or an update. Returns how the list goes on with a newer price, if it reports
    /// nothing else of the station.
    mutating func report(at minute: Int) -> Succession? {
      let isList = random.chance(0.85)
      let listedAt = lists.last
      let (known, wasListed) = (told[1], isListed[1] ?? false)
      var isPlain = isList
      for record in Int32(1)...2 {
        let isShown = random.chance(
          record == 1 ? 0.95 : isListed[2] ?? false ? 0.7 : 0.2)
        guard isShown else {
          if isList, list(record, false, minute) { isPlain = false }
          continue
        }
        if !isList, random.chance(0.5) { continue }
        var price = told[record] ?? (minute - random.integer(0...300), 1_800)
        if random.chance(0.5) {
          price.at = random.integer(max(price.at + 1, minute - 900)...max(price.at + 1, minute))
          // Stamps are often the instant of the list.
          if random.chance(0.3), price.at < minute { price.at = minute }
          if random.chance(0.8) { price.tenths = Int32(random.integer(0...6) * 10 + 1_770) }
          if random.chance(0.05) { price.tenths = 0 }
        }
        if tell(record, price, minute), record == 2 { isPlain = false }
        if isList, list(record, true, minute) { isPlain = false }
      }
      if isList { lists.append(SuccessionTests.at(minute)) }
      guard isPlain, wasListed, let listedAt, let known, let told = told[1], told.at > known.at,
        let report = evidence.last(where: { $0.recordID == 1 })
      else { return nil }
      return Succession(
        stampedBefore: SuccessionTests.at(known.at), listedAt: listedAt, report: report)
    }

    /// Adds a price of the archive.
    mutating func archive(at minute: Int) {
      evidence.append(
        Evidence(
          kind: .price, recordID: 3, sourceID: 2, at: SuccessionTests.at(minute),
          price: Int32(random.integer(0...6) * 10 + 1_770), learntAt: SuccessionTests.at(minute)))
    }
  }

  @Test func theLastSpanSaysAsMuchAsAllEvidence() {
    var followed = 0
    for seed in 0..<600 {
      var feed = Feed(
        random: Random(seed: UInt64(seed), "successions"),
        delay: seed % 2 == 0 ? 0 : Self.hour / 4)
      var minute = 600
      var before: [Span] = []
      for _ in 0..<40 {
        minute +=
          feed.random.chance(0.1) ? feed.random.integer(400...2_000) : feed.random.integer(5...300)
        let succession = feed.report(at: minute)
        let after = feed.spans
        if let succession, let last = before.last,
          let made = spans(
            after: last, succession, rules: feed.rules, sightings: feed.sightings)
        {
          followed += 1
          guard before.dropLast() + made != after else {
            before = after
            continue
          }
          Issue.record("seed \(seed), minute \(minute): \(made) and not \(after.suffix(2))")
          return
        }
        if feed.random.chance(0.1) { feed.archive(at: minute - feed.random.integer(0...200)) }
        before = feed.spans
      }
    }
    // Otherwise hardly anything was compared.
    #expect(followed > 2_000)
  }
}
