import Configuration
import Console
import Feeds
import Foundation
import FuelModel
import HTTP
import Pipeline
import Simulator
import Store

/// A market that is played, served, recorded or archived, as the arguments say.
struct Simulation {
  private let invocation: Invocation
  private let market: Market
  private let now: Instant
  private let days: Int
  private let hours: Int

  static func run(_ invocation: Invocation) async throws -> ExitCode {
    let simulation = try Simulation(invocation)
    if invocation.options["fault"] == "list" {
      for fault in Fault.all {
        write("\(padded(fault.name, 36))\(fault.ids.joined(separator: " "))\n")
      }
      return .done
    }
    try simulation.refuseWhatHasNoEffect()
    do {
      switch invocation.operands {
      case ["play"]: try await simulation.play()
      case ["serve"]: try simulation.serve()
      case ["record"]: try simulation.record()
      case ["archive"]: try simulation.archive()
      case let words where words.count == 1:
        throw UsageError.unknown(
          "simulation", words[0], among: ["play", "serve", "record", "archive"])
      default: throw UsageError.message("name one simulation: play, serve, record or archive")
      }
    } catch let failure as Server.Failure {
      // Bowser does not know this error, nor its exit code.
      let advice = "; choose another --port, or 0 for any that is free"
      writeError(failure.description + (invocation.operands == ["serve"] ? advice : ""))
      return .unavailable
    } catch let failure as Failure {
      writeError(failure.description)
      return failure.code
    }
    return .done
  }

  /// Why a simulation ends, with its exit code.
  private struct Failure: Error {
    let description: String
    let code: ExitCode
  }

  private init(_ invocation: Invocation) throws {
    self.invocation = invocation
    days = try invocation.integer("days", 1...4_000) ?? 45
    hours = try invocation.integer("every", 1...24) ?? 4
    now = try invocation.clock().now()
    let today = Zone.sydney.local(now).day
    market = Market(
      seed: UInt64(try invocation.integer("seed", 0...Int.max) ?? 1),
      allStations: try invocation.integer("stations", 20...20_000) ?? 330,
      // The market reaches a month into the future, so that a server can be left running.
      days: (today + -days)...(today + 30))
  }

  /// Refuses the options of other simulations.
  private func refuseWhatHasNoEffect() throws {
    for (option, simulations) in [
      ("fault", ["serve"]), ("port", ["serve"]), ("out", ["record", "archive"]),
      ("every", ["play", "record"]), ("archived", ["play"]),
    ] where invocation.isGiven(option) {
      guard let word = invocation.operands.first, !simulations.contains(word) else { continue }
      throw UsageError.message("--\(option) belongs to \(simulations.joined(separator: " and "))")
    }
  }

  /// Whether a day, counted from the first, is one of the last thirty, which are simulated at the
  /// full cadence. Earlier days are fetched once a day and aggregated every 28 days, so that a year
  /// takes two minutes.
  private func isClose(_ day: Int) -> Bool { day >= lived - 30 }

  /// How many days are simulated.
  private var lived: Int {
    guard invocation.flags.contains("archived") else { return days }
    let today = Zone.sydney.local(now).day
    return min(days, today.sinceEpoch - MarketArchive.end(on: today).firstDay.sinceEpoch + 1)
  }

  /// Returns when each feed is fetched. Western Australia is fetched once after its prices changed
  /// and once after tomorrow's prices were published. The other feeds are fetched every few hours.
  private func schedule() -> [(at: Instant, feed: String)] {
    let begin = now - .seconds(lived * 86_400)
    var runs: [(at: Instant, feed: String)] = []
    for hour in stride(from: 0, to: lived * 24, by: hours)
    where isClose(hour / 24) || hour % 24 < hours {
      let live = SimulatedFeeds.feeds.filter { $0 != "wa-fuelwatch" }
      for (index, feed) in live.enumerated() {
        runs.append((begin + .seconds(hour * 3600 + index * 60), feed))
      }
    }
    let firstDay = Zone.perth.local(begin).day
    for day in 0...lived {
      // 06:10 and 14:45 in Perth.
      for second in [-6_600, 24_300] {
        let at = Instant(seconds: Int64((firstDay + day).sinceEpoch * 86_400 + second))
        if begin < at, at < now { runs.append((at, "wa-fuelwatch")) }
      }
    }
    for feed in SimulatedFeeds.feeds { runs.append((now, feed)) }
    return runs.sorted { ($0.at, $0.feed) < ($1.at, $1.feed) }
  }

  /// Runs the whole pipeline over HTTP, day after day, with a simulated clock.
  private func play() async throws {
    let feeds = SimulatedFeeds(market, at: now)
    let server = try Server { feeds.answer($0) }
    defer { server.stop() }
    // The keys of the real providers may be in files.
    let files = SimulatedFeeds.keys.keys.map { $0 + "_FILE" }
    let environment = invocation.environment.filter { !files.contains($0.key) }
      .merging(SimulatedFeeds.settings(port: server.port)) { _, new in new }
    let settings = try invocation.settings()
    let folder = try invocation.configurationFolder()
    let sources = try Catalogue.sources(in: folder, environment: environment)
    if let source = sources.first(where: {
      SimulatedFeeds.feeds.contains($0.feed) && !$0.settings.enabled
    }) {
      throw source.settings.wrong("enabled", expected: "true, because play plays every feed")
    }
    let store = try invocation.store(settings)
    try refuseRealPrices(in: store)
    let log = invocation.logger(settings)
    let client = Client.session(
      Limits(timeoutSeconds: 30, maxBodyBytes: 64 << 20, allowLoopback: true))
    let regions = try regions(file: folder + "/regions.json5")
    let brands = try brands(file: folder + "/brands.json5")
    let events = try marketEvents(file: folder + "/events.json5")
    // Foundation has a class of this name too.
    let progress = Console.Progress(what: "simulated runs")
    let runs = schedule()
    var aggregatedOn: Day?
    for (position, run) in runs.enumerated() {
      guard let source = sources.first(where: { $0.feed == run.feed }) else { continue }
      feeds.set(run.at)
      let fetch = Fetch(
        source, client: client,
        retry: Retry(attempts: 4, deadline: .now + .seconds(60)),
        secrets: .init(environment: environment), contact: "")
      _ = try await Ingest(source, store: store, clock: .fixed(run.at), log: log).live(fetch)
      let day = Zone.perth.local(run.at).day
      let isClose = isClose(day.sinceEpoch - Zone.perth.local(runs[0].at).day.sinceEpoch)
      let isDue = aggregatedOn.map { $0 + (isClose ? 1 : 28) <= day } ?? true
      if isDue || position == runs.count - 1 {
        aggregatedOn = day
        _ = try Aggregate(
          store: store, regions: regions, brands: brands, events: events, clock: .fixed(run.at),
          log: log
        ).run()
      }
      progress.show(position + 1, of: runs.count, ", at \(day)")
    }
    progress.end()
  }

  /// Refuses a database in which nobody could tell the simulated prices from the others afterwards.
  private func refuseRealPrices(in store: Store) throws {
    guard try store.ledger.hasAnswersOfProviders() else { return }
    throw Failure(
      description: "the database has answers of real providers, with which the simulated prices "
        + "would mix: give them a database of their own, which --db or PGDATABASE names",
      code: .configuration)
  }

  private func serve() throws {
    let fault = try invocation.options["fault"].map { name in
      guard let fault = Fault.named(name) else {
        throw UsageError.unknown(
          "fault", name, among: Fault.all.map(\.name),
          hint: "bowser simulate --fault list lists them")
      }
      return fault
    }
    let feeds = SimulatedFeeds(market)
    let server = try Server(port: try invocation.integer("port", 0...65_535) ?? 8_077) { request in
      let answer = feeds.answer(request)
      // Tokens stay correct, so that the fault occurs in the answers of the feed.
      guard let fault, !request.path.hasSuffix("token"),
        case .text(let status, let body, let type, _) = answer
      else { return answer }
      var random = Random(seed: UInt64(Instant.now.microseconds), "fault")
      return fault.spoil((status, Array(body.utf8), type), &random)
    }
    for (name, value) in SimulatedFeeds.settings(port: server.port).sorted(by: { $0.key < $1.key })
    {
      write("export \(name)='\(value)'\n")
    }
    writeError("serving a simulated market at http://127.0.0.1:\(server.port), until stopped")
    while true { sleep(3_600) }
  }

  private func archive() throws {
    guard let folder = invocation.options["out"] else {
      throw UsageError.message("archive needs --out DIR")
    }
    let months: Int
    do {
      months = try MarketArchive(market).write(
        before: MarketArchive.end(on: Zone.sydney.local(now).day), into: folder)
    } catch let error as CocoaError {
      let cause = error.underlying as? POSIXError
      throw Failure(
        description: "\(folder) cannot be written"
          + (cause.map { ": " + String(cString: strerror($0.code.rawValue)) } ?? ""),
        code: .inputOutput)
    }
    guard months > 0 else {
      throw UsageError.message("the market has no whole month that is over: give more --days")
    }
  }

  private func record() throws {
    guard let folder = invocation.options["out"] else {
      throw UsageError.message("record needs --out DIR")
    }
    let feeds = SimulatedFeeds(market, at: now)
    let recording = Recording(folder: folder)
    for run in schedule() {
      try recording.keep(feeds.documents(of: run.feed, at: run.at), of: run.feed)
    }
  }
}
