import Archives
import Configuration
import Feeds
import Foundation
import FuelModel
import Logging
import Pipeline
import PlainModel
import Postgres
import Simulator
import Store
import TestDatabase

/// A history as the product processed it, and the same history as input of the model.
final class Lived {
  let connection: Connection
  private let history: RandomHistory
  private let feeds: [String: Feed]
  let sources: [String: Source]
  /// The run that stored each answer, by the number of the answer, and which answers are withdrawn.
  private var runs: [Int: RunID] = [:]
  private var withdrawn: Set<Int> = []
  private let archive: Archive

  var end: Instant { Instant(seconds: Int64(history.end)) }
  var begin: Int { history.begin }

  init(_ history: RandomHistory, _ target: String, _ random: inout Random) async throws {
    self.history = history
    var feeds: [String: Feed] = [:]
    var sources: [String: Source] = [:]
    let files = [(RandomHistory.nsw, "nsw"), (RandomHistory.nt, "nt")]
    for (name, file) in files {
      let source = try Self.source(file)
      sources[name] = source
      feeds[name] = try Feed(
        target, name: name, state: source.state,
        priceLapsesHours: source.settings.priceLapsesHours,
        sightLapsesHours: source.settings.sightLapsesHours,
        delayHours: source.settings.delayHours,
        holdingConfirms: source.settings.holdingConfirms)
    }
    self.feeds = feeds
    self.sources = sources
    archive = try HistoryOrderTests.archive("nsw")
    connection = feeds[RandomHistory.nsw]!.connection
    try await live(&random)
  }

  static func source(_ name: String) throws -> Source {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config/feeds").standardized.path
    return try Source(file: "\(folder)/\(name).json5", environment: [:])
  }

  private enum Event {
    case answer(Int)
    case file(Int)
    case withdraw(Int)
    case undo(Int)
    case aggregate
  }

  /// Processes everything in any order. A withdrawal comes after its run.
  private func live(_ random: inout Random) async throws {
    var events: [(at: Double, Event)] = []
    for (number, answer) in history.answers.enumerated() {
      // Most answers come in their own order, some late.
      let own = Double(answer.takenAt - history.begin) / Double(history.end - history.begin)
      let at = random.chance(0.75) ? min(own, 1) : random.real(0...1)
      events.append((at, .answer(number)))
      guard answer.isWithdrawn else { continue }
      let later = random.real(at...1.2)
      events.append((later, .withdraw(number)))
      if answer.isUndone { events.append((random.real(later...1.3), .undo(number))) }
    }
    var arrivals: [Double] = []
    for number in history.files.indices {
      // Before the first answer, between answers, or after the last one.
      let at = random.real((history.isExtended ? -0.2 : 0)...1.1)
      events.append((at, .file(number)))
      arrivals.append(at)
    }
    let file = history.isExtended ? arrivals.filter { $0 < 0.6 }.max() : nil
    if let file, random.chance(0.5) {
      // This aggregate makes the spans of the file, and later answers change them.
      events.append((file + 0.001, .aggregate))
    } else {
      for _ in 0..<random.integer(0...1) { events.append((random.real(0...1.2), .aggregate)) }
    }
    for (_, event) in events.sorted(by: { $0.at < $1.at }) {
      switch event {
      case .answer(let number):
        try report(number)
      case .file(let number): try await load(history.files[number])
      case .withdraw(let number): try decide(number, counts: false)
      case .undo(let number): try decide(number, counts: true)
      case .aggregate: try aggregate(isDecided: true)
      }
    }
    try aggregate(isDecided: history.isDecidedInTheEnd)
  }
  // MARK: Runs

  private func report(_ number: Int, kind: RunKind = .live) throws {
    let answer = history.answers[number]
    let observations = answer.lines.map { line in
      Observation(
        stationCode: line.code, fuel: Fuel(rawValue: line.fuel)!, price: Price(tenths: line.tenths),
        effectiveAt: line.stamp.map { Instant(seconds: Int64($0)) })
    }
    let named = Set(answer.lines.map(\.code))
    let state = sources[answer.feed]!.state
    let stations = history.sites[answer.feed]!.filter { named.contains($0.code) }.map { site in
      Station(
        code: site.code, state: state, name: site.name, brand: site.brand,
        address: "\(site.address), \(site.suburb.uppercased()) \(state.code) 2000",
        suburb: site.suburb, postcode: "2000", position: site.position)
    }
    let settings = sources[answer.feed]!.settings
    var unread: [RunID] = []
    do {
      unread = try feeds[answer.feed]!.reports(
        observations, stations: stations, at: Instant(seconds: Int64(answer.takenAt)), now: end,
        coverage: answer.isList ? .complete : .partial,
        refuseBelow: settings.refuseBelowShare,
        partialBelow: settings.partialBelowShare, kind: kind
      ).believedNow
    } catch let error as BelievedNow {
      unread = error.runs
    } catch is Refusal {}
    let newest = try connection.lines("SELECT max(run_id) FROM fuel.run")[0]
    runs[number] = try feeds[answer.feed]!.store.ledger.ledgerRun(Int(newest) ?? 0)?.run
    try readAgain(unread)
  }

  /// Reads answers again whose runs then no longer count, as the pipeline does.
  private func readAgain(_ unread: [RunID]) throws {
    for run in unread {
      guard let number = runs.first(where: { $0.value.number == run.number })?.key else { continue }
      let original = try connection.lines(
        "SELECT coalesce(replaces_run_id, run_id) FROM fuel.run WHERE run_id = \(run.number)")[0]
      let store = feeds[history.answers[number].feed]!.store
      guard let first = try store.ledger.ledgerRun(Int(original) ?? 0)?.run else { continue }
      try report(number, kind: .reprocess(first))
    }
  }

  /// Whether no run that counts describes some station of an answer.
  private func isUndescribed(_ answer: RandomHistory.Answer) throws -> Bool {
    try !connection.lines(
      """
      SELECT FROM fuel.station JOIN fuel.source USING (source_id)
      WHERE source = \(answer.feed) AND station_code = ANY (\(answer.lines.map(\.code)))
        AND NOT EXISTS (
          SELECT FROM fuel.station_description AS description
          WHERE description.station_id = station.station_id)
      """
    ).isEmpty
  }

  /// Does what `bowser withdraw` does: a run that is refused cannot be withdrawn.
  private func decide(_ number: Int, counts: Bool) throws {
    let answer = history.answers[number]
    guard let run = runs[number],
      let outcome = try feeds[answer.feed]!.store.ledger.ledgerRun(run.number)?.outcome,
      counts ? outcome == "withdrawn" : ["stored", "unchanged"].contains(outcome)
    else { return }
    let settings = sources[answer.feed]!.settings
    let unread = try feeds[answer.feed]!.decide(
      run, takenAt: Instant(seconds: Int64(answer.takenAt)), counts: counts, now: end,
      refuseBelow: settings.refuseBelowShare,
      partialBelow: settings.partialBelowShare)
    if counts { withdrawn.remove(number) } else { withdrawn.insert(number) }
    try readAgain(unread)
    // `bowser withdraw` reads a run that counts again once more, and so describes its stations again.
    if counts, try isUndescribed(answer) { try readAgain([run]) }
  }

  // MARK: Files and the aggregate

  private func load(_ rows: [PlainModel.ArchiveRow]) async throws {
    var text = "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    let sites = history.sites[RandomHistory.archive]!
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    for row in rows {
      let site = sites.first { $0.name == row.code }!
      let local = Zone.sydney.local(Instant(seconds: Int64(row.at)))
      let (hour, minute) = (local.secondsOfDay / 3_600, local.secondsOfDay / 60 % 60)
      text +=
        "\(site.name),\"\(site.address), \(site.suburb) NSW 2000\",\(site.suburb),2000,\(site.brand),"
        + "\(row.fuel),\(local.day) \(two(hour)):\(two(minute)):\(two(local.secondsOfDay % 60)),"
        + "\(row.tenths / 10).\(row.tenths % 10)\n"
    }
    let store = feeds[RandomHistory.nsw]!.store
    _ = try await HistoryOrderTests.withFile(text) { path in
      try await Backfill(
        archive, store: store, decisions: [], clock: .fixed(end), log: Logger(.error)
      ).run([path])
    }
  }

  private static let regions: [Region] =
    [
      .nation, .newSouthWales,
      Region(
        code: "NT", name: "NT", kind: "state", state: .nt, centre: nil, radiusKilometres: nil),
      Region(
        code: "sydney", name: "Sydney", kind: "capital", state: .nsw,
        centre: Position(latitude: -33.87, longitude: 151.21), radiusKilometres: 60),
    ]

  private func aggregate(isDecided: Bool) throws {
    _ = try Aggregate(
      store: feeds[RandomHistory.nsw]!.store, regions: Self.regions,
      decisions: isDecided ? try decision() : [], clock: .fixed(end), log: Logger(.error)
    ).run()
  }

  private func decision() throws -> [StationDecision] {
    guard let decided = history.decided,
      let code = try connection.lines(
        "SELECT station_code FROM fuel.station WHERE name = \(decided.archived)"
      ).first
    else { return [] }
    return [
      StationDecision(
        day: Day(sinceEpoch: 20_000), firstSource: RandomHistory.nsw, firstCode: decided.listed,
        secondSource: RandomHistory.archive, secondCode: code, isSame: true, reason: "looked")
    ]
  }

  // MARK: The model's input

  func world() throws -> PlainModel.World {
    var world = PlainModel.World()
    world.madeAt = history.end
    for state in Australia.states {
      world.states[state.code] = .init(
        zone: state.timeZone.rawValue, startsAt: state == .wa ? 6 * 3_600 : 0)
    }
    for (name, source) in sources {
      let settings = source.settings
      world.feeds[name] = .init(
        state: source.state.code, priceLapse: 3_600 * settings.priceLapsesHours,
        priceLapseByFuel: settings.priceLapsesHoursByFuel.mapValues { 3_600 * $0 },
        sightLapse: 3_600 * settings.sightLapsesHours,
        refuseBelow: settings.refuseBelowShare,
        partialBelow: settings.partialBelowShare,
        holdingConfirms: settings.holdingConfirms,
        delay: 3_600 * settings.delayHours)
    }
    world.archives[RandomHistory.archive] = .init(
      state: "NSW", feed: RandomHistory.nsw,
      priceLapse: 3_600 * archive.settings.priceLapsesHours,
      priceLapseByFuel: archive.settings.priceLapsesHoursByFuel.mapValues { 3_600 * $0 }
    )
    world.runs = history.answers.enumerated().map { number, answer in
      .init(
        feed: answer.feed, takenAt: answer.takenAt, isList: answer.isList, lines: answer.lines,
        brands: Dictionary(
          uniqueKeysWithValues: history.sites[answer.feed]!.map { ($0.code, $0.brand) }),
        isWithdrawn: withdrawn.contains(number))
    }
    world.rows = history.files.flatMap { $0 }
    addStations(to: &world)
    return world
  }

  private func addStations(to world: inout PlainModel.World) {
    // An archive record belongs to the feed's station at the same address, which has the same code
    // here, or to the one that a person decided on.
    var taken: Set<String> = []
    let archived = history.sites[RandomHistory.archive]!.filter { site in
      world.rows.contains { $0.code == site.name }
    }
    let names = PlainModel(world)
    for feed in [RandomHistory.nsw, RandomHistory.nt] {
      for site in history.sites[feed]! where names.isKnown(feed, site.code) {
        var records = [PlainModel.Record(feed, site.code)]
        for other in feed == RandomHistory.nsw ? archived : [] {
          let isDecided =
            history.isDecidedInTheEnd && history.decided?.archived == other.name
            && history.decided?.listed == site.code
          guard other.code == site.code || isDecided else { continue }
          records.append(.init(RandomHistory.archive, other.name))
          taken.insert(other.name)
        }
        world.stations.append(
          .init(
            id: "\(feed) \(site.code)", state: feed == RandomHistory.nsw ? "NSW" : "NT",
            position: site.position.map { ($0.latitude, $0.longitude) }, records: records))
      }
    }
    for site in archived where !taken.contains(site.name) {
      world.stations.append(
        .init(
          id: "\(RandomHistory.archive) \(site.name)", state: "NSW", position: nil,
          records: [.init(RandomHistory.archive, site.name)]))
    }
    let sydney = Position(latitude: -33.87, longitude: 151.21)!
    for region in Self.regions {
      let members = world.stations.filter { station in
        guard region.state == nil || region.state?.code == station.state else { return false }
        guard let radius = region.radiusKilometres else { return true }
        let position = station.position.flatMap {
          Position(latitude: $0.latitude, longitude: $0.longitude)
        }
        return position.map { sydney.kilometres(to: $0) <= radius } ?? false
      }
      world.regions.append(
        .init(code: region.code, state: region.state?.code, stations: Set(members.map(\.id))))
    }
  }
}
