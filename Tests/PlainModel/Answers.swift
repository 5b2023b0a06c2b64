import Foundation

/// Returns the rounded ratio of two whole numbers; halves are rounded away from zero.
func rounded(_ dividend: Int, by divisor: Int) -> Int { (2 * dividend + divisor) / (2 * divisor) }

/// Present prices and averages. Amounts are in hundredths of a cent, shares in thousandths.
extension PlainModel {
  // MARK: The present

  /// A price as it is shown in a list of present prices. `price` is in tenths of a cent.
  package struct Current: Equatable {
    package var price: Int
    package var since: Second
    package var isFresh: Bool
    package var doubt: String?
    /// Whether averages include the price.
    var isCounted: Bool
  }

  /// Returns the price in effect at a clock. A lapsed price is shown for thirty days; a price that
  /// a report ended is not shown.
  package func current(_ pair: Pair, clock: Second) -> Current? {
    let history = history(pair)
    func next(_ statement: Statement) -> Second {
      history.statements.first { $0.at > statement.at }?.at ?? .max
    }
    // The newest price. A price that was too old when it was first reported is shown only if no
    // other came after it.
    let shown = history.statements.last { statement in
      // Of several statements for one instant the last one counts.
      inForce(history.statements, at: statement.at)?.0.price == statement.price
        && statement.at <= clock && statement.price > 0
        && (statement.at < lapse(of: statement, fuel: pair.fuel) || next(statement) == .max)
    }
    guard let statement = shown else { return nil }
    let next = next(statement)
    // A price that had lapsed by its stamp before a report ended it is also shown for thirty days,
    // although it should not be: see "What is not yet so" in docs/architecture.md.
    if clock >= next, lapse(of: statement, fuel: pair.fuel) >= next { return nil }
    let held = history.held.last { $0.from <= clock }
    if let held, clock < next, isBelieved(statement, next: next, fuel: pair.fuel, at: clock) {
      let doubt = doubt(pair, at: clock)
      return Current(
        price: held.price, since: held.from, isFresh: true, doubt: doubt,
        isCounted: doubt == nil && clock >= countsFrom(held.source)
          && stations[pair.station]?.isPublic ?? false)
    }
    // A price that was too old when it was first reported lapsed at once, unless it goes on with the
    // price before it.
    let isOfHeld =
      held.map {
        statement.at < $0.until || (statement.at == $0.until && statement.price == $0.price)
      } ?? false
    let lapsed = isOfHeld ? held?.until ?? statement.at : statement.at
    guard lapsed > clock - 30 * 86_400 else { return nil }
    return Current(
      price: statement.price, since: isOfHeld ? held?.from ?? statement.at : statement.at,
      isFresh: false, doubt: nil, isCounted: false)
  }

  /// Returns from when on the prices of a source count in averages: those of a feed from its first
  /// run on, those of an archive always.
  func countsFrom(_ source: String) -> Second {
    world.feeds[source] == nil ? .min : firstRun(source) ?? .max
  }

  // MARK: Averages of an instant

  package struct Average: Equatable {
    package var average: Int?
    package var median: Int?
    package var quarter: Int?
    package var lowest: Int?
    package var highest: Int?
    package var stations: Int
    package var stale: Int
    package var flagged: Int
  }

  package func averageNow(_ region: String, _ fuel: String, clock: Second) -> Average? {
    let shown = members(region).compactMap { current(Pair($0, fuel), clock: clock) }
    guard !shown.isEmpty else { return nil }
    let prices = shown.filter(\.isCounted).map(\.price).sorted()
    let isEnough = prices.count >= 3
    return Average(
      average: isEnough ? rounded(prices.reduce(0, +) * 10, by: prices.count) : nil,
      median: isEnough ? rounded(fourTimes(prices, quarters: 2) * 10, by: 4) : nil,
      quarter: isEnough ? rounded(fourTimes(prices, quarters: 1) * 10, by: 4) : nil,
      lowest: prices.first.map { $0 * 10 }, highest: prices.last.map { $0 * 10 },
      stations: prices.count, stale: shown.count { !$0.isFresh },
      flagged: shown.count { $0.isFresh && $0.doubt != nil })
  }

  package func average(_ region: String, _ fuel: String, at instant: Second) -> Int? {
    let prices = members(region).compactMap { station -> Int? in
      let pair = Pair(station, fuel)
      guard stations[station]?.isPublic ?? false, let price = price(pair, at: instant),
        doubt(pair, at: instant) == nil,
        let held = history(pair).held.last(where: { $0.from <= instant }),
        instant >= countsFrom(held.source)
      else { return nil }
      return price
    }
    return prices.count < 3 ? nil : rounded(prices.reduce(0, +) * 10, by: prices.count)
  }

  private func members(_ region: String) -> [String] {
    world.regions.first { $0.code == region }?.stations.sorted() ?? []
  }

  /// Returns four times the value below which the given number of quarters of the sorted values
  /// lie. A value between two others is interpolated.
  private func fourTimes(_ values: [Int], quarters: Int) -> Int {
    let rank = quarters * (values.count - 1)
    let (low, part) = (rank / 4, rank % 4)
    return 4 * values[low] + (part == 0 ? 0 : part * (values[low + 1] - values[low]))
  }

  // MARK: Days of stations

  package enum Standing { case unknown, known, doubtful, stale }

  package struct StationDay: Equatable {
    package var standing: Standing = .unknown
    /// In 65,536ths of a tenth of a cent.
    package var mean = 0
    package var low = 0
    package var high = 0
    package var last = 0
    package var seconds = 0
    /// The length of the day, as far as it has passed, in seconds.
    var length = 1

    package var average: Int { rounded(mean * 100, by: 655_360) }
    package var coverage: Int { min(1_000, rounded(seconds * 1_000, by: length)) }
  }

  /// Returns the day of a station and fuel.
  ///
  /// - Returns: `nil` for a day that had not begun when days were made.
  package func stationDay(_ pair: Pair, _ day: Int) -> StationDay? {
    guard let state = stations[pair.station]?.state else { return nil }
    let begins = begin(of: day, in: state)
    let ends = min(begin(of: day + 1, in: state), world.madeAt)
    guard begins < ends else { return nil }
    let key = DayKey(pair: pair, day: day)
    if let known = days[key] { return known }
    var made = StationDay()
    made.length = ends - begins
    var weighted = 0
    var prices: [Int] = []
    for piece in pieces(pair) {
      let from = max(piece.from, begins, countsFrom(piece.held.source))
      let until = min(piece.until, ends)
      guard from < until else { continue }
      if piece.doubt != nil {
        if made.standing == .unknown { made.standing = .doubtful }
        continue
      }
      weighted += piece.held.price * (until - from)
      made.seconds += until - from
      prices.append(piece.held.price)
    }
    if made.seconds > 0 {
      made.standing = .known
      made.mean = rounded(weighted * 65_536, by: made.seconds)
      made.low = prices.min() ?? 0
      made.high = prices.max() ?? 0
      made.last = prices.last ?? 0
    } else if made.standing == .unknown, isStale(pair, from: begins, until: ends) {
      made.standing = .stale
    }
    days[key] = made
    return made
  }

  /// Returns the same for a day that had ended when days were made; `nil`: it had not ended.
  package func endedDay(_ pair: Pair, _ day: Int) -> StationDay? {
    guard let state = stations[pair.station]?.state, begin(of: day + 1, in: state) <= world.madeAt
    else { return nil }
    return stationDay(pair, day)
  }

  /// The days on which any price may be believed.
  package func days(of pair: Pair) -> ClosedRange<Int> {
    let state = stations[pair.station]?.state ?? ""
    let held = history(pair).held
    let first = day(of: held.first?.from ?? world.madeAt, in: state)
    return first...max(first, day(of: min(held.last?.until ?? 0, world.madeAt), in: state))
  }

  package var allDays: ClosedRange<Int> {
    let days = world.stations.flatMap { station in fuels.map { self.days(of: Pair(station.id, $0)) }
    }
    let first = days.map(\.lowerBound).min() ?? 0
    return first...max(first, days.map(\.upperBound).max() ?? 0)
  }

  struct DayKey: Hashable {
    var pair: Pair
    var day: Int
  }

  /// Returns whether at some instant of a time a price is in force that is not too old by its stamp
  /// but was last seen too long ago to be believed.
  private func isStale(_ pair: Pair, from begins: Second, until ends: Second) -> Bool {
    let history = history(pair)
    return (history.bounds.filter { begins < $0 && $0 < ends } + [begins]).contains { instant in
      guard let (statement, next) = inForce(history.statements, at: instant), statement.price > 0,
        !isBelieved(statement, next: next, fuel: pair.fuel, at: instant),
        instant < lapse(of: statement, fuel: pair.fuel)
      else { return false }
      return instant >= countsFrom(history.held.last { $0.from <= instant }?.source ?? "")
    }
  }

  // MARK: Days of regions

  package struct RegionDay: Equatable {
    package var average: Int?
    package var median: Int?
    package var quarter: Int?
    package var lowest: Int?
    package var highest: Int?
    package var stations = 0
    package var expected = 0
    package var coverage = 0
    package var isComplete = false
    package var stale = 0
    package var flagged = 0
    package var states = ""
  }

  /// Returns the day of a region and fuel.
  ///
  /// - Returns: `nil` if no station has a price, or if the day has not begun in every state.
  package func regionDay(_ code: String, _ fuel: String, _ day: Int) -> RegionDay? {
    guard let region = world.regions.first(where: { $0.code == code }) else { return nil }
    let sellers = region.stations.sorted().filter { stations[$0]?.isPublic ?? false }
    // Without the states whose day has not begun, the mean would be of other stations.
    if region.state == nil,
      Set(world.stations.map(\.state)).contains(where: { begin(of: day, in: $0) >= world.madeAt })
    {
      return nil
    }
    let all = sellers.compactMap { stationDay(Pair($0, fuel), day) }
    let known = all.filter { $0.standing == .known }
    guard !known.isEmpty else { return nil }
    let means = known.map(\.mean).sorted()
    var made = RegionDay()
    made.stations = known.count
    if known.count >= 3 {
      func cents(fourTimes value: Int) -> Int { rounded(value * 10, by: 4 * 65_536) }
      made.average = rounded(means.reduce(0, +) * 10, by: means.count * 65_536)
      made.median = cents(fourTimes: fourTimes(means, quarters: 2))
      made.quarter = cents(fourTimes: fourTimes(means, quarters: 1))
      made.lowest = cents(fourTimes: 4 * means[0])
      made.highest = cents(fourTimes: 4 * means[means.count - 1])
    }
    made.expected = max(known.count, expected(region, fuel, day).count)
    // The same holds of a nation where states with a fifth of its stations are not known at all.
    if region.state == nil {
      let expected = expected(region, fuel, day)
      let present = Set(
        sellers.filter { stationDay(Pair($0, fuel), day)?.standing == .known }
          .compactMap { stations[$0]?.state })
      let missing = expected.count { stations[$0].map { !present.contains($0.state) } ?? true }
      if missing * 10 > expected.count * 2 { return nil }
    }
    let shares = known.map { rounded(min($0.seconds, $0.length) * 65_536, by: $0.length) }
    made.coverage = min(1_000, rounded(shares.reduce(0, +) * 1_000, by: 65_536 * known.count))
    made.stale = all.count { $0.standing == .stale }
    made.flagged = all.count { $0.standing == .doubtful }
    let isGood =
      made.stations >= 3 && made.coverage >= 750
      && made.stations * made.coverage >= made.expected * 800
    if let state = region.state {
      made.isComplete =
        isGood && begin(of: day + 1, in: state) <= world.madeAt && isSettled(state, fuel, on: day)
      made.states = made.isComplete ? "1 of 1" : "0 of 1"
    } else {
      let complete = world.states.keys.filter { isComplete(state: $0, fuel, day) }
      made.states = "\(complete.count) of \(world.states.count)"
      made.isComplete = isGood && complete.count == world.states.count
    }
    return made
  }

  /// Returns whether a state has a complete day: it is settled, and it is complete if the fuel
  /// is sold there.
  private func isComplete(state: String, _ fuel: String, _ day: Int) -> Bool {
    guard isSettled(state, fuel, on: day) else { return false }
    guard let region = world.regions.first(where: { $0.code == state }) else { return true }
    if let own = regionDay(state, fuel, day) { return own.isComplete }
    return expected(region, fuel, day).isEmpty
  }

  /// The stations with a price on an ended day of this month or on a day of the month before.
  private func expected(_ region: Region, _ fuel: String, _ day: Int) -> [String] {
    let month = Self.month(of: day)
    let first = Self.month(of: month.first - 1).first
    return region.stations.filter { id in
      guard let station = stations[id], station.isPublic else { return false }
      return isKnown(Pair(id, fuel), from: first, to: month.last, station.state)
    }
  }

  private func isKnown(_ pair: Pair, from first: Int, to last: Int, _ state: String) -> Bool {
    let key = DayKey(pair: pair, day: first)
    if let answer = expectedKept[key] { return answer }
    let answer = (first...last).contains { day in
      begin(of: day + 1, in: state) <= world.madeAt && stationDay(pair, day)?.standing == .known
    }
    expectedKept[key] = answer
    return answer
  }
}
