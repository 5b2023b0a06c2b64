import FuelModel
import Simulator
import Testing

@testable import Timeline

/// Validity spans and station days of synthetic reports equal what a check of every minute finds.
struct SpanTests {
  private let begin = Instant(seconds: 1_780_000_000 / 86_400 * 86_400)
  private let hour: Int64 = 3_600_000_000

  private func at(minutes: Int) -> Instant { begin + .seconds(minutes * 60) }

  private func days(_ range: Range<Int>) -> [PriceCalendar.PriceDay] {
    range.map { day in
      .init(
        beginsAt: at(minutes: day * 1_440), endsAt: at(minutes: (day + 1) * 1_440), isEnded: true)
    }
  }

  private struct World {
    var reports: [Int32: [Evidence]]
    var lists: [Instant]
  }

  /// Returns stations that change their prices, stop selling and fall silent, with lists of one
  /// feed that is away for a while.
  private func world(_ seed: Int) -> World {
    var random = Random(seed: UInt64(seed), "averages")
    var reports: [Int32: [Evidence]] = [:]
    for station in Int32(1)...12 {
      var list = [
        Evidence(
          kind: .listed, recordID: station, sourceID: 1, at: at(minutes: -4 * 1_440),
          learntAt: at(minutes: -4 * 1_440))
      ]
      for _ in 0..<random.integer(1...9) {
        let minute = random.integer(-3 * 1_440...4 * 1_440)
        list.append(
          Evidence(
            kind: .price, recordID: station, sourceID: 1, at: at(minutes: minute),
            price: random.chance(0.15) ? 0 : Int32(random.integer(1_700...1_900)),
            learntAt: at(minutes: minute + 5)))
      }
      reports[station] = list
    }
    let away = random.integer(0...3 * 1_440)
    let lists = stride(from: -3 * 1_440, to: 5 * 1_440, by: 60)
      .filter { $0 < away || $0 > away + 1_000 }.map { at(minutes: $0) }
    return World(reports: reports, lists: lists)
  }

  private var rules: [Int16: ReportRules] {
    [1: ReportRules(priceLapse: 48 * hour, sightLapse: 6 * hour)]
  }

  /// Returns the intervals that the lists cover. Lists six hours or less apart belong to one
  /// interval.
  private func sightings(_ world: World) -> [Int16: Coverage] {
    var intervals: [(from: Instant, until: Instant)] = []
    for list in world.lists.sorted() {
      if let last = intervals.last, list.microseconds - last.until.microseconds <= 6 * hour {
        intervals[intervals.count - 1].until = list
      } else {
        intervals.append((list, list))
      }
    }
    return [1: Coverage(intervals)]
  }

  /// Returns the spans of a station. The newest list sets the ends of open spans.
  private func made(_ world: World, _ station: Int32, reversed: Bool = false) -> [Span] {
    let reports = world.reports[station] ?? []
    let newest = (world.lists.max() ?? begin).after(6 * hour)
    return spans(
      of: reversed ? reports.reversed() : reports, rules: rules, sightings: sightings(world)
    ).map { span in
      var span = span
      if span.isOpen { span.until = min(span.lapsesAt, max(span.until, newest)) }
      return span
    }
  }

  /// Returns the prices that a station reported, in their order.
  private func prices(_ world: World, _ station: Int32) -> [Evidence] {
    (world.reports[station] ?? []).filter { $0.kind == .price }.sorted {
      ($0.at, $0.learntAt, $0.price) < ($1.at, $1.learntAt, $1.price)
    }
  }

  /// Returns the price in effect in a minute, computed directly from the rules.
  private func price(_ reports: [Evidence], _ world: World, _ minute: Int) -> Int32? {
    let now = at(minutes: minute)
    guard let report = reports.last(where: { $0.at <= now }), report.price > 0 else { return nil }
    if now.microseconds - report.at.microseconds >= 48 * hour { return nil }
    let next = reports.first { $0.at > now }?.at
    let seen = world.lists.last { $0 < next ?? .distantFuture } ?? report.at
    let lapses = max(seen, report.learntAt).microseconds + 6 * hour
    // A price holds until six hours after the last list before the next report, even across an
    // outage.
    return now.microseconds < lapses ? report.price : nil
  }

  @Test(arguments: 0..<30)
  func equalAskingEveryMinute(seed: Int) {
    let world = world(seed)
    for station in Int32(1)...12 {
      let spans = made(world, station)
      let reports = prices(world, station)
      for minute in stride(from: 0, to: 4 * 1_440, by: 1) {
        let now = at(minutes: minute)
        let held = spans.first { $0.from <= now && now < $0.until }?.price
        guard held != price(reports, world, minute) else { continue }
        Issue.record("station \(station), minute \(minute): \(held as Any)")
        return
      }
      let days = stationDays(of: spans, in: days(0..<4))
      for day in 0..<4 {
        let charged = (day * 1_440..<(day + 1) * 1_440).compactMap { price(reports, world, $0) }
        #expect((days[day].standing == .known) == !charged.isEmpty)
        guard days[day].standing == .known, !charged.isEmpty else { continue }
        let mean = Double(charged.reduce(0) { $0 + Int($1) }) / Double(charged.count)
        #expect(abs(Double(days[day].mean) / StationDay.fraction - mean) <= 0.5)
        #expect(days[day].seconds == Int32(charged.count * 60))
        #expect(days[day].low == charged.min() && days[day].high == charged.max())
        #expect(days[day].last == charged.last)
      }
    }
  }

  /// The order of reports does not matter, and a day is the same in a range of any length.
  @Test(arguments: 0..<30)
  func orderAndLengthAreNoMatter(seed: Int) {
    let world = world(seed)
    for station in Int32(1)...12 {
      let spans = made(world, station)
      #expect(made(world, station, reversed: true) == spans)
      let whole = stationDays(of: spans, in: days(0..<4))
      #expect((0..<4).flatMap { stationDays(of: spans, in: days($0..<$0 + 1)) } == whole)
    }
  }

  private func report(_ tenths: Int32, hours: Int, by source: Int16 = 1) -> Evidence {
    Evidence(
      kind: .price, recordID: Int32(source), sourceID: source, at: at(minutes: hours * 60),
      price: tenths,
      learntAt: at(minutes: hours * 60))
  }

  /// F-N29: a price of an archive does not continue into a month that no file covers.
  @Test func nothingIsCarriedIntoUncoveredTime() {
    let covered = Coverage([
      (at(minutes: 0), at(minutes: 30 * 1_440)), (at(minutes: 60 * 1_440), at(minutes: 90 * 1_440)),
    ])
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 60 * 24 * hour, sightLapse: 60 * 24 * hour, covered: covered)
    ]
    let made = spans(
      of: [report(1_800, hours: 20 * 24), report(1_900, hours: 65 * 24)], rules: rules,
      sightings: [:])
    #expect(
      made.map { [$0.from, $0.until] } == [
        [at(minutes: 20 * 1_440), at(minutes: 30 * 1_440)],
        [at(minutes: 65 * 1_440), at(minutes: 90 * 1_440)],
      ])
    // Without the gap in the coverage, the first price holds until the second.
    let whole: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 60 * 24 * hour, sightLapse: 60 * 24 * hour)
    ]
    #expect(
      spans(
        of: [report(1_800, hours: 20 * 24), report(1_900, hours: 65 * 24)],
        rules: whole, sightings: [:]
      ).first?.until == at(minutes: 65 * 1_440))
  }

  /// Consecutive reports of one price form one span, which the first report begins.
  @Test func equalNeighboursAreOneSpan() {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 48 * hour, sightLapse: 48 * hour),
      2: ReportRules(priceLapse: 48 * hour, sightLapse: 48 * hour),
    ]
    let made = spans(
      of: [
        report(1_800, hours: 0), report(1_800, hours: 30, by: 2), report(1_900, hours: 60),
        report(1_900, hours: 200),
      ], rules: rules, sightings: [:])
    #expect(made.map(\.price) == [1_800, 1_900, 1_900])
    #expect(made[0].from == at(minutes: 0) && made[0].until == at(minutes: 60 * 60))
    #expect(made[0].sourceID == 1 && made[0].seenBy == 2 && made[0].isEnded)
    #expect(made[1].until == at(minutes: 108 * 60) && !made[1].isEnded)
  }

  private func listing(_ kind: Evidence.Kind, _ record: Int32, hours: Int) -> Evidence {
    Evidence(
      kind: kind, recordID: record, sourceID: 1, at: at(minutes: hours * 60),
      learntAt: at(minutes: hours * 60))
  }

  private func price(_ tenths: Int32, _ record: Int32, hours: Int) -> Evidence {
    Evidence(
      kind: .price, recordID: record, sourceID: 1, at: at(minutes: hours * 60), price: tenths,
      learntAt: at(minutes: hours * 60))
  }

  /// F-N33: a list that leaves out a station's old record does not end the price of its new record,
  /// whatever the stamps are.
  @Test(arguments: [30, 48])
  func anOldRecordEndsNothingOfTheNewOne(appearsAfter hours: Int) {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 480 * hour, sightLapse: 48 * hour)
    ]
    let lists: [Int16: Coverage] = [1: Coverage([(at(minutes: 0), at(minutes: 72 * 60))])]
    let made = spans(
      of: [
        price(1_800, 1, hours: 0), listing(.listed, 1, hours: 0), listing(.unlisted, 1, hours: 30),
        // The price took effect before the list that shows it first.
        price(1_900, 2, hours: 20), listing(.listed, 2, hours: hours),
      ], rules: rules, sightings: lists)
    #expect(made.map(\.price) == (hours == 30 ? [1_800, 1_900] : [1_800, 1_900, 1_900]))
    #expect(made.last?.isOpen == true && made.last?.lapsesAt == at(minutes: 500 * 60))
    #expect(made.last?.from == at(minutes: (hours == 30 ? 20 : 48) * 60))
  }

  /// F-N33: when one record of a station is no longer listed, the price of another listed record is
  /// in effect.
  @Test func aStationOfTwoRecordsKeepsThePriceOfTheOther() {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 480 * hour, sightLapse: 48 * hour)
    ]
    let made = spans(
      of: [
        price(1_800, 1, hours: 0), listing(.listed, 1, hours: 0),
        price(1_900, 2, hours: 2), listing(.listed, 2, hours: 2),
        listing(.unlisted, 2, hours: 10), listing(.unlisted, 1, hours: 20),
      ], rules: rules, sightings: [1: Coverage([(at(minutes: 0), at(minutes: 72 * 60))])])
    #expect(made.map(\.price) == [1_800, 1_900, 1_800])
    #expect(made.map(\.from) == [0, 2, 10].map { at(minutes: $0 * 60) })
    #expect(made.last?.until == at(minutes: 20 * 60))
  }

  /// F-N53: a station gets a new code and its old one back, and its price keeps its stamp all the
  /// time. Whether the later reports of the old code have rows of their own depends on the order in
  /// which lists arrived. The spans do not.
  @Test func repeatedReportsChangeNothing() {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 480 * hour, sightLapse: 24 * hour)
    ]
    func price(_ record: Int32, learnt hours: Int) -> Evidence {
      Evidence(
        kind: .price, recordID: record, sourceID: 1, at: at(minutes: 0), price: 1_800,
        learntAt: at(minutes: hours * 60))
    }
    let once = [
      price(1, learnt: 1), listing(.listed, 1, hours: 1),
      price(2, learnt: 30), listing(.unlisted, 1, hours: 30), listing(.listed, 2, hours: 30),
      listing(.listed, 1, hours: 40), listing(.unlisted, 2, hours: 40),
    ]
    func made(_ evidence: [Evidence]) -> [Span] {
      spans(
        of: evidence, rules: rules,
        sightings: [
          1: Coverage([
            (at(minutes: 60), at(minutes: 60)), (at(minutes: 1_800), at(minutes: 2_400)),
          ])
        ])
    }
    let spelledOut = once + [price(1, learnt: 2), price(1, learnt: 40)]
    #expect(made(spelledOut) == made(once))
    #expect(made(once).first?.from == at(minutes: 0))
    #expect(made(once).first?.until == at(minutes: 2_400 + 1_440))
  }

  /// F-G28: of a feed and its archive, which report one price for the second in which the feed was
  /// read, the feed counts, whichever of its records and the archive's was stored first.
  @Test(arguments: [(Int32(1), Int32(2)), (2, 1)])
  func theFeedCountsBeforeItsArchive(records: (feed: Int32, archive: Int32)) {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 48 * hour, sightLapse: 6 * hour),
      2: ReportRules(
        priceLapse: 48 * hour, sightLapse: 48 * hour,
        covered: Coverage([(begin, at(minutes: 1_440))])),
    ]
    let evidence = [
      Evidence(
        kind: .price, recordID: records.feed, sourceID: 1, at: at(minutes: 60), price: 1_857,
        learntAt: at(minutes: 60)),
      Evidence(
        kind: .price, recordID: records.archive, sourceID: 2, at: at(minutes: 60), price: 1_857,
        learntAt: at(minutes: 60)),
    ]
    let made = spans(of: evidence, rules: rules, sightings: [:])
    #expect(made.map(\.sourceID) == [1])
    #expect(spans(of: evidence.reversed(), rules: rules, sightings: [:]) == made)
  }

  /// Returns the spans of a feed that shows 150.0 from hour 1 on, and of an archive (record 3), as
  /// their beginning, end, price and source. Lists are taken in the hours 1 and 12 and every six
  /// hours from then on, until hour 234.
  private func shown(_ archived: Int32, hours: Int, _ more: [Evidence] = []) -> [[Int]] {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 480 * hour, sightLapse: 12 * hour),
      3: ReportRules(
        priceLapse: 100 * hour, sightLapse: 100 * hour,
        covered: Coverage([(begin, .distantFuture)])),
    ]
    let lists = [1] + Array(stride(from: 12, to: 240, by: 6))
    let instants = lists.map { at(minutes: $0 * 60) }
    let sightings = [Int16(1): Coverage([(instants[0], instants[lists.count - 1])])]
    let made = spans(
      of: [
        price(1_500, 1, hours: 0), listing(.listed, 1, hours: 1),
        report(archived, hours: hours, by: 3),
      ] + more, rules: rules, sightings: sightings, lists: [1: instants])
    return made.map { $0.believed(rules: rules, sightings: sightings) }.map { span in
      [span.from, span.until].map { Int(($0.microseconds - begin.microseconds) / hour) }
        + [Int(span.price), Int(span.sourceID)]
    }
  }

  /// F-G39: a price of an archive holds until the first complete list after it that shows another
  /// one, whatever the stamp of that one is.
  @Test func aListEndsThePriceOfAnArchive() {
    #expect(
      shown(1_700, hours: 10) == [[0, 10, 1_500, 1], [10, 12, 1_700, 3], [12, 246, 1_500, 1]])
    #expect(
      shown(1_700, hours: 13) == [[0, 13, 1_500, 1], [13, 18, 1_700, 3], [18, 246, 1_500, 1]])
    // A list of the same instant was seen live.
    #expect(shown(1_700, hours: 12) == [[0, 246, 1_500, 1]])
    #expect(shown(0, hours: 10) == [[0, 10, 1_500, 1], [12, 246, 1_500, 1]])
    // The feed reports the next price before it takes a list.
    #expect(
      shown(1_700, hours: 10, [price(1_600, 1, hours: 11)])
        == [[0, 10, 1_500, 1], [10, 11, 1_700, 3], [11, 246, 1_600, 1]])
    // After the last list nothing is known.
    #expect(shown(1_700, hours: 239) == [[0, 239, 1_500, 1], [239, 339, 1_700, 3]])
  }

  /// F-G39: a list ends a price of an archive where it leaves out what its feed has reported before.
  @Test func aListWithoutTheStationEndsThePriceOfAnArchive() {
    let gap = [listing(.unlisted, 1, hours: 6)]
    #expect(shown(1_700, hours: 10, gap) == [[0, 6, 1_500, 1], [10, 12, 1_700, 3]])
    #expect(
      shown(1_700, hours: 10, gap + [listing(.listed, 1, hours: 24)])
        == [[0, 6, 1_500, 1], [10, 12, 1_700, 3], [24, 246, 1_500, 1]])
    // The same price ends too.
    #expect(shown(1_500, hours: 10, gap) == [[0, 6, 1_500, 1], [10, 12, 1_500, 3]])
    // Another code of the station is listed for the first time, with a price from before.
    let second = [price(1_650, 2, hours: 8), listing(.listed, 2, hours: 30)]
    #expect(
      shown(1_700, hours: 10, gap + second)
        == [
          [0, 6, 1_500, 1], [8, 10, 1_650, 1], [10, 12, 1_700, 3], [30, 246, 1_650, 1],
        ])
  }

  /// F-G39: a list that shows the price of an archive is followed by one that shows another price,
  /// under another code of the station.
  @Test func aLaterListEndsThePriceOfAnArchive() {
    let second = [price(1_650, 2, hours: 8), listing(.listed, 2, hours: 30)]
    #expect(
      shown(1_500, hours: 10, second)
        == [[0, 8, 1_500, 1], [8, 10, 1_650, 1], [10, 30, 1_500, 3], [30, 246, 1_650, 1]])
  }

  /// F-G39: after a list has ended a price of an archive, later lists still show what they show.
  @Test func listsGoOnAfterTheEndOfAnArchivesPrice() {
    let second = [price(1_650, 2, hours: 8), listing(.listed, 2, hours: 30)]
    #expect(
      shown(1_700, hours: 10, second)
        == [
          [0, 8, 1_500, 1], [8, 10, 1_650, 1], [10, 12, 1_700, 3], [12, 30, 1_500, 1],
          [30, 246, 1_650, 1],
        ])
  }

  /// F-G39: lists that never showed a station leave nothing out.
  @Test func listsDoNotEndWhatTheyNeverShowed() {
    let rules: [Int16: ReportRules] = [
      1: ReportRules(priceLapse: 480 * hour, sightLapse: 12 * hour),
      3: ReportRules(
        priceLapse: 100 * hour, sightLapse: 100 * hour,
        covered: Coverage([(begin, .distantFuture)])),
    ]
    let lists = [Int16(1): stride(from: 0, to: 48, by: 6).map { at(minutes: $0 * 60) }]
    let evidence = [
      report(1_700, hours: 10, by: 3), price(1_500, 1, hours: 0), listing(.listed, 1, hours: 24),
    ]
    let made = spans(of: evidence, rules: rules, sightings: [:], lists: lists)
    #expect(made.map(\.price) == [1_500, 1_700, 1_500])
    #expect(made.map(\.from) == [0, 10, 24].map { at(minutes: $0 * 60) })
    #expect(spans(of: evidence.reversed(), rules: rules, sightings: [:], lists: lists) == made)
  }

  /// F-G39: a price that the archive and the lists have in common does not end with the archive.
  @Test func listsGoOnWithThePriceOfAnArchive() {
    #expect(shown(1_500, hours: 10) == [[0, 246, 1_500, 1]])
    #expect(shown(1_500, hours: 130) == [[0, 246, 1_500, 1]])
  }

  /// F-G39: of a feed and its archive that report two prices for the second in which the feed was
  /// read, that of the feed holds, even if it is the lower one.
  @Test func whatWasSeenLiveHolds() {
    #expect(
      shown(1_700, hours: 12, [price(1_600, 1, hours: 12)])
        == [[0, 12, 1_500, 1], [12, 246, 1_600, 1]])
  }
}
