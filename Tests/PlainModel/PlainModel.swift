import Foundation

/// Computes what the product must answer, by the simplest possible method: for each instant that is
/// asked about, it looks at everything that was reported and decides what is believed.
///
/// It shares no code with the product: the target has no dependencies. It is slow, and meant for
/// small worlds.
package final class PlainModel {
  package let world: World
  let lists: [String: Lists]
  let stations: [String: Station]
  /// Results that are asked for again and again, so that each is computed once.
  var kept: [Pair: History] = [:]
  var archived: [String: [ClosedRange<Int>]] = [:]
  var reach: [String: [(from: Second, until: Second)]] = [:]
  var zones: [String: TimeZone] = [:]
  var begins: [String: [Int: Second]] = [:]
  var everyFuel: [String] = []
  var far: [FarKey: Second?] = [:]
  var placeholders: [FarKey: Range<Second>?] = [:]
  var cut: [Pair: [Piece]] = [:]
  var days: [DayKey: StationDay] = [:]
  var expectedKept: [DayKey: Bool] = [:]

  package struct Pair: Hashable {
    package var station: String
    package var fuel: String

    package init(_ station: String, _ fuel: String) {
      self.station = station
      self.fuel = fuel
    }
  }

  package init(_ world: World) {
    self.world = world
    lists = world.feeds.reduce(into: [:]) { found, feed in
      found[feed.key] = Lists(of: world.runs.filter { $0.feed == feed.key }, feed: feed.value)
    }
    stations = Dictionary(uniqueKeysWithValues: world.stations.map { ($0.id, $0) })
  }

  /// Returns whether a run that counts names a station of a feed.
  package func isKnown(_ feed: String, _ code: String) -> Bool {
    lists[feed]?.counted.contains { run in run.lines.contains { $0.code == code } } ?? false
  }

  // MARK: Statements

  /// A statement that from an instant on a station sells a fuel at a price, or does not sell it.
  struct Statement {
    var record: Record
    var at: Second
    /// In tenths of a cent; 0: the fuel is not sold.
    var price: Int
    /// The stamp of the price. It is older than `at` where a list shows a price again that an
    /// earlier list left out.
    var stampedAt: Second
    /// The instant of the first report that showed the price, without the delay of the feed.
    /// `reported` is when its last unbroken series of reports began; for prices the delay is added.
    var firstReported: Second
    var reported: Second
  }

  /// Returns the statements of all records of a station about a fuel, in order. Of several for one
  /// instant the last one counts: of equal times of reporting that of a feed, not that of an archive.
  func statements(_ pair: Pair) -> [Statement] {
    var found: [Statement] = []
    var reports: [Statement] = []
    for record in stations[pair.station]?.records ?? [] {
      if world.archives[record.source] != nil {
        for row in world.rows
        where row.archive == record.source && row.code == record.code && row.fuel == pair.fuel {
          found.append(
            Statement(
              record: record, at: row.at, price: row.tenths, stampedAt: row.at,
              firstReported: row.at, reported: row.at))
        }
      } else {
        let (prices, gaps) = reported(record, pair.fuel)
        reports += prices
        found += prices + gaps
      }
    }
    func order(_ statement: Statement) -> (Second, Second, Int, Int) {
      let isFeed = world.feeds[statement.record.source] != nil
      return (statement.at, statement.reported, isFeed ? 1 : 0, statement.price)
    }
    found.sort { order($0) < order($1) }
    let lived = Set(found.map(\.at)).flatMap { at -> [Statement] in
      guard let (statement, next) = inForce(found, at: at),
        world.archives[statement.record.source] != nil
      else { return [] }
      return shown(pair, beside: statement, before: next, reports)
    }
    return (found + lived).sorted { order($0) < order($1) }
  }

  /// Returns what the complete lists after a statement of an archive say against it: that another
  /// price is charged, or none any more, which holds from such a list on. Where lists show the
  /// archive's price, the feed says so itself once the archive is no longer believed.
  ///
  /// - Parameter reports: the prices with their stamps that feeds report of the station and fuel.
  private func shown(
    _ pair: Pair, beside archived: Statement, before next: Second, _ reports: [Statement]
  ) -> [Statement] {
    let end = lapse(of: archived, fuel: pair.fuel)
    // Complete lists, and others that show what was left out before.
    let times =
      lists.values.flatMap { lists in lists.confirming.filter(lists.isComplete).map(\.takenAt) }
      + (stations[pair.station]?.records ?? []).flatMap { record -> [Second] in
        let said = lists[record.source]?.said(record.code, pair.fuel) ?? []
        return zip(said, said.dropFirst()).filter {
          !names($0, record.code, pair.fuel) && names($1, record.code, pair.fuel)
        }.map(\.1.takenAt)
      } + [end]
    var found: [Statement] = []
    for at in Set(times).sorted() where at >= archived.at && at < next {
      // The newest complete list of each feed that is not older than the archive's price.
      let newest = lists.compactMapValues { lists in
        lists.confirming.last { lists.isComplete($0) && $0.takenAt <= at }
          .flatMap { $0.takenAt < archived.at ? nil : $0 }
      }
      let prices = reports.filter { report in
        report.at <= at && newest[report.record.source] != nil
          && lists[report.record.source]?.said(report.record.code, pair.fuel)
            .last { $0.takenAt <= at }.map { names($0, report.record.code, pair.fuel) } ?? false
      }
      let price = prices.max { ($0.at, $0.reported, $0.price) < ($1.at, $1.reported, $1.price) }
      guard var shown = price ?? ended(pair, by: newest, at: at, reports) else { continue }
      if found.last.map({ ($0.price, $0.stampedAt) == (shown.price, shown.stampedAt) }) ?? false {
        continue
      }
      let isSame = found.isEmpty && shown.price == archived.price
      if isSame, at < end || at >= lapse(of: shown, fuel: pair.fuel) { continue }
      shown.at = at
      let last = newest[shown.record.source]?.takenAt ?? at
      shown.firstReported = max(shown.firstReported, last)
      shown.reported = at
      found.append(shown)
    }
    return found
  }

  /// Returns that a station no longer sells a fuel where a list leaves out what its feed reported
  /// before, and no feed shows it.
  private func ended(
    _ pair: Pair, by newest: [String: Run], at: Second, _ reports: [Statement]
  ) -> Statement? {
    let known = reports.first { report in
      newest[report.record.source].map { report.firstReported <= $0.takenAt } ?? false
    }
    let isOffered = reports.map(\.record).contains { record in
      lists[record.source]?.said(record.code, pair.fuel).last { $0.takenAt <= at }
        .map { names($0, record.code, pair.fuel) } ?? false
    }
    guard !isOffered, let known else { return nil }
    return Statement(
      record: known.record, at: at, price: 0, stampedAt: at, firstReported: at, reported: at)
  }

  /// Returns the statements of a feed's runs: prices with their stamps, and prices that complete
  /// lists leave out or show again.
  private func reported(
    _ record: Record, _ fuel: String
  ) -> (prices: [Statement], gaps: [Statement]) {
    guard let feed = world.feeds[record.source], let lists = lists[record.source] else {
      return ([], [])
    }
    func lines(_ run: Run) -> [Run.Line] {
      run.lines.filter { $0.code == record.code && $0.fuel == fuel }
    }
    var prices: [Statement] = []
    var last: (stamp: Second, price: Int)?
    for run in lists.counted {
      for line in lines(run) {
        // An unstamped price began with the first run that reported it, and holds until a run
        // reports a different price.
        let stamp = line.stamp ?? (line.tenths == last?.price ? last!.stamp : run.takenAt)
        let isNew = last?.stamp != stamp || last?.price != line.tenths
        last = (stamp, line.tenths)
        if let index = prices.firstIndex(where: { $0.at == stamp && $0.price == line.tenths }) {
          if isNew { prices[index].reported = run.takenAt + feed.delay }
        } else {
          prices.append(
            Statement(
              record: record, at: stamp, price: line.tenths, stampedAt: stamp,
              firstReported: run.takenAt,
              reported: run.takenAt + feed.delay))
        }
      }
    }
    var gaps: [Statement] = []
    var wasNamed = false
    var isEnded = false
    var before = Int.min
    for list in lists.said(record.code, fuel) {
      let isNamed = !lines(list).isEmpty
      func state(_ price: Int, stampedAt: Second) {
        gaps.append(
          Statement(
            record: record, at: list.takenAt, price: price, stampedAt: stampedAt,
            firstReported: list.takenAt, reported: list.takenAt))
      }
      if !isNamed {
        // A gap ends the price that the list before showed, and prices first reported since that
        // list.
        if wasNamed
          || prices.contains(where: {
            $0.firstReported > before && $0.firstReported <= list.takenAt
          })
        {
          state(0, stampedAt: list.takenAt)
          isEnded = true
        }
      } else if isEnded {
        // The fuel is offered again, at the newest reported price.
        isEnded = false
        let newest = prices.filter { $0.at <= list.takenAt }
          .max { ($0.at, $0.reported, $0.price) < ($1.at, $1.reported, $1.price) }
        if let newest { state(newest.price, stampedAt: newest.at) }
      }
      wasNamed = isNamed
      before = list.takenAt
    }
    return (prices, gaps)
  }

  // MARK: Belief

  /// Returns the statement in force at an instant, and when the next one begins.
  func inForce(_ statements: [Statement], at instant: Second) -> (Statement, next: Second)? {
    guard let newest = statements.last(where: { $0.at <= instant }) else { return nil }
    return (newest, statements.first { $0.at > instant }?.at ?? .max)
  }

  /// Returns whether a statement in force is believed: its stamp is not too old, it was seen
  /// recently enough, and a statement of an archive is not carried past the time that the scheme
  /// covers.
  func isBelieved(
    _ statement: Statement, next: Second, fuel: String, at instant: Second
  ) -> Bool {
    guard statement.price > 0, instant < lapse(of: statement, fuel: fuel) else { return false }
    guard let feed = world.feeds[statement.record.source] else { return true }
    // The price was seen after the instant under the same statement, or shortly enough before it.
    if instant < max(statement.stampedAt, statement.firstReported) + feed.sightLapse { return true }
    guard let lists = lists[statement.record.source] else { return false }
    // A list that is not complete says nothing about what it does not name.
    let seen = lists.said(statement.record.code, fuel).filter { $0.takenAt < next }
    guard let last = seen.last, names(last, statement.record.code, fuel),
      let before = lists.confirming.last(where: { $0.takenAt <= last.takenAt })
    else { return false }
    // Between lists that confirm and are near enough to each other, the others do too.
    let after = lists.confirming.first { $0.takenAt > last.takenAt }
    let isBetween = after.map { $0.takenAt - before.takenAt <= feed.sightLapse } ?? false
    return instant < (isBetween ? last : before).takenAt + feed.sightLapse
  }

  /// Returns when a statement lapses: by its stamp, or where the time covered by the scheme ends.
  func lapse(of statement: Statement, fuel: String) -> Second {
    if let feed = world.feeds[statement.record.source] {
      return statement.stampedAt + (feed.priceLapseByFuel[fuel] ?? feed.priceLapse)
    }
    guard let archive = world.archives[statement.record.source] else { return .min }
    return min(
      statement.stampedAt + (archive.priceLapseByFuel[fuel] ?? archive.priceLapse),
      coveredUntil(archive, from: statement.at))
  }

  private func names(_ list: Run, _ code: String, _ fuel: String) -> Bool {
    list.lines.contains { $0.code == code && $0.fuel == fuel }
  }

  /// Returns the price in effect at an instant, in tenths of a cent.
  package func price(_ pair: Pair, at instant: Second) -> Int? {
    guard let (statement, next) = inForce(history(pair).statements, at: instant),
      isBelieved(statement, next: next, fuel: pair.fuel, at: instant)
    else { return nil }
    return statement.price
  }

  // MARK: History

  /// A time during which one price is believed.
  package struct Held: Equatable {
    package var from: Second
    package var until: Second
    package var price: Int
    /// The source that reported the beginning of the price.
    package var source: String
    /// The source that reported the price last.
    var latest: String
  }

  struct History {
    var statements: [Statement]
    /// Every instant at which a price may begin or end.
    var bounds: [Second]
    var held: [Held]
  }

  func history(_ pair: Pair) -> History {
    if let known = kept[pair] { return known }
    let statements = statements(pair)
    var bounds: Set<Second> = []
    for statement in statements {
      bounds.formUnion([statement.at, lapse(of: statement, fuel: pair.fuel)])
      if let feed = world.feeds[statement.record.source] {
        bounds.insert(max(statement.stampedAt, statement.firstReported) + feed.sightLapse)
      }
    }
    for source in Set(statements.map(\.record.source)) {
      for list in lists[source]?.seen ?? [] {
        bounds.formUnion([list.takenAt, list.takenAt + (world.feeds[source]?.sightLapse ?? 0)])
      }
    }
    var history = History(statements: statements, bounds: bounds.sorted(), held: [])
    for (bound, end) in zip(history.bounds, history.bounds.dropFirst() + [.max]) {
      guard let (statement, next) = inForce(statements, at: bound),
        isBelieved(statement, next: next, fuel: pair.fuel, at: bound)
      else { continue }
      let source = statement.record.source
      if let last = history.held.last, last.until == bound, last.price == statement.price {
        history.held[history.held.count - 1].until = end
        history.held[history.held.count - 1].latest = source
      } else {
        history.held.append(
          Held(from: bound, until: end, price: statement.price, source: source, latest: source))
      }
    }
    kept[pair] = history
    return history
  }

  /// Returns the believed prices that had begun by a clock.
  package func priceHistory(_ pair: Pair, clock: Second) -> [Held] {
    history(pair).held.filter { $0.from <= clock }
  }

  /// Returns every instant at which a price may begin or end.
  package func bounds(_ pair: Pair) -> [Second] {
    history(pair).bounds.filter { $0 > 0 && $0 < .max }
  }

  /// Returns everything that was stated about a station and fuel as text, for a person to judge.
  package func evidence(_ pair: Pair) -> [String] {
    let history = history(pair)
    var lines: [String] = []
    for statement in history.statements {
      let times =
        "first reported \(Self.text(statement.firstReported)), "
        + "reported \(Self.text(statement.reported))"
      let when = "from \(Self.text(statement.at)), stamped \(Self.text(statement.stampedAt))"
      lines.append("\(statement.record.source): \(statement.price) \(when), \(times)")
    }
    for held in history.held {
      lines.append(
        "held \(held.price) \(Self.text(held.from)) to \(Self.text(held.until)) by \(held.source)")
    }
    for record in stations[pair.station]?.records ?? [] {
      let lists = lists[record.source]
      for run in world.runs.sorted(by: { $0.takenAt < $1.takenAt }) where run.feed == record.source
      {
        func isAmong(_ runs: [Run]) -> Bool { runs.contains { $0.takenAt == run.takenAt } }
        let kind =
          run.isWithdrawn
          ? "withdrawn"
          : !isAmong(lists?.counted ?? [])
            ? "refused"
            : isAmong(lists?.complete ?? []) ? "complete" : run.isList ? "short" : "update"
        let named = run.lines.filter { $0.code == record.code && $0.fuel == pair.fuel }
        let prices = named.map { line -> String in
          guard let stamp = line.stamp else { return "\(line.tenths)" }
          return "\(line.tenths) stamped \(Self.text(stamp))"
        }
        lines.append(
          "\(run.feed) \(Self.text(run.takenAt)) \(kind): \(prices.joined(separator: ", "))")
      }
    }
    return lines
  }

  package static func text(_ instant: Second) -> String {
    if instant == .max || instant == .min { return "never" }
    return Date(timeIntervalSince1970: Double(instant)).formatted(.iso8601)
  }
}
