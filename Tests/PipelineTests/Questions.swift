import Foundation
import FuelModel
import PlainModel
import Postgres
import Simulator
import TestDatabase

/// Puts the same questions to the product and the model.
struct Questions {
  private let lived: Lived
  private let model: PlainModel
  private var random: Random
  private var found: [String] = []

  init(_ lived: Lived, _ random: inout Random) throws {
    self.lived = lived
    model = PlainModel(try lived.world())
    self.random = random
  }

  mutating func differences() throws -> [String] {
    try clock(lived.end)
    try compareStations()
    guard found.isEmpty else { return found }
    try compareHistory()
    try compareStationDays()
    try compareRegionDays()
    for instant in instants(8) { try compareInstant(instant) }
    for clock in [lived.end] + instants(3) { try comparePresent(clock) }
    return found
  }

  /// Returns some instants within the history, most of them at a stamp, a list, a midnight or a
  /// lapse, or a second before.
  private mutating func instants(_ count: Int) -> [Instant] {
    (0..<count).map { _ in
      let pair = random.pick(pairs)
      let bounds = model.bounds(pair).filter { $0 < Int(lived.end.seconds) }
      var second = random.integer(lived.begin...Int(lived.end.seconds))
      if let bound = bounds.isEmpty ? nil : random.pick(bounds), !random.chance(0.2) {
        second = bound - random.integer(0...1)
      }
      return Instant(seconds: Int64(second))
    }
  }

  private func clock(_ instant: Instant) throws {
    try lived.connection.query("SELECT set_config('bowser.now', \(instant.description), false)")
  }

  private var pairs: [PlainModel.Pair] {
    model.world.stations.flatMap { station in model.fuels.map { .init(station.id, $0) } }
  }

  /// Compares the answers of the product and the model to one question, by a key that both know.
  private mutating func compare(
    _ question: String, _ answers: [String], _ wanted: [String],
    _ pair: (String) -> PlainModel.Pair?
  ) {
    let surplus = Set(answers).subtracting(wanted).sorted()
    let missing = Set(wanted).subtracting(answers).sorted()
    guard !surplus.isEmpty || !missing.isEmpty else { return }
    let first = (surplus + missing).compactMap(pair).first
    let evidence = first.map { model.evidence($0) } ?? []
    found.append(
      "\(question)\nthe product: \(surplus.prefix(6).joined(separator: "\n             "))\n"
        + "the model:   \(missing.prefix(6).joined(separator: "\n             "))\n"
        + "of which \(first.map { "\($0.station) \($0.fuel)" } ?? "nothing") is known:\n"
        + evidence.joined(separator: "\n"))
  }

  private func pair(_ line: String) -> PlainModel.Pair? {
    let words = line.split(separator: "|").map(String.init)
    return words.count > 1 ? .init(words[0], words[1]) : nil
  }

  /// Stations with the names that the model has for them.
  private static let named = """
    (
      SELECT station_id, source || ' ' || CASE
        WHEN source LIKE '%archive' THEN name ELSE source_station_code
      END AS name
      FROM fuel_v1.stations
    ) AS station
    """

  private func ask(_ statement: String) throws -> [String] {
    try lived.connection.lines(SQL(stringLiteral: statement))
  }

  private mutating func compareStations() throws {
    let answers = try ask("SELECT station.name FROM \(Self.named)")
    compare("stations", answers, model.world.stations.map(\.id), { _ in nil })
  }

  private mutating func compareHistory() throws {
    let answers = try ask(
      """
      SELECT station.name, history.fuel, (history.price_cpl * 10)::integer AS price,
        extract(epoch FROM history.valid_from_at)::bigint AS since,
        extract(epoch FROM history.valid_until_at)::bigint AS until, history.source, history.flag_reason
      FROM fuel_v1.price_history AS history JOIN \(Self.named) USING (station_id)
      """)
    let clock = Int(lived.end.seconds)
    let wanted = pairs.flatMap { pair in
      model.priceHistory(pair, clock: clock).map { held in
        "\(pair.station)|\(pair.fuel)|\(held.price)|\(held.from)|"
          + "\(held.until <= clock ? "\(held.until)" : "NULL")|\(held.source)|"
          + "\(model.doubt(pair, held) ?? "NULL")"
      }
    }
    compare("price_history", answers, wanted, pair)
  }

  /// Formats hundredths of a cent, and thousandths, as the product does.
  private func cents(_ hundredths: Int?) -> String {
    guard let hundredths else { return "NULL" }
    let part = "\(hundredths % 100)"
    return "\(hundredths / 100).\(part.count < 2 ? "0" + part : part)"
  }

  private mutating func compareStationDays() throws {
    let answers = try ask(
      """
      SELECT station.name, made.fuel, made.day, made.average_cpl, (made.min_cpl * 10)::integer AS low,
        (made.max_cpl * 10)::integer AS high, (made.last_cpl * 10)::integer AS last,
        (made.coverage * 1000)::integer AS coverage, made.is_complete
      FROM fuel_v1.station_days AS made JOIN \(Self.named) USING (station_id)
      """)
    let wanted = pairs.flatMap { pair in
      model.days(of: pair).compactMap { day -> String? in
        guard let made = model.endedDay(pair, day), made.standing == .known else { return nil }
        return "\(pair.station)|\(pair.fuel)|\(PlainModel.text(day: day))|\(cents(made.average))|"
          + "\(made.low)|\(made.high)|\(made.last)|\(made.coverage)|\(made.coverage >= 750 ? "t" : "f")"
      }
    }
    compare("station_days", answers, wanted, pair)
  }

  private mutating func compareRegionDays() throws {
    let answers = try ask(
      """
      SELECT region, fuel, day, average_cpl, median_cpl, p25_cpl, min_cpl, max_cpl, stations, stations_expected,
        (coverage * 1000)::integer AS coverage, is_complete, excluded_stale, excluded_flagged,
          states_complete || ' of ' || states_expected
      FROM fuel_v1.daily_averages
      """)
    var wanted: [String] = []
    for region in model.world.regions {
      for fuel in model.fuels {
        for day in model.allDays {
          guard let made = model.regionDay(region.code, fuel, day) else { continue }
          wanted.append(
            "\(region.code)|\(fuel)|\(PlainModel.text(day: day))|\(cents(made.average))|"
              + "\(cents(made.median))|\(cents(made.quarter))|\(cents(made.lowest))|"
              + "\(cents(made.highest))|\(made.stations)|\(made.expected)|\(made.coverage)|"
              + "\(made.isComplete ? "t" : "f")|\(made.stale)|\(made.flagged)|\(made.states)")
        }
      }
    }
    compare("daily_averages", answers, wanted) { _ in nil }
  }

  private mutating func compareInstant(_ instant: Instant) throws {
    let asked = (0..<12).map { _ in random.pick(pairs) }
    let names = asked.map { "('\($0.station)', '\($0.fuel)')" }.joined(separator: ", ")
    let prices = try ask(
      """
      SELECT station.name, asked.fuel,
        (fuel_v1.price_at(station.station_id, asked.fuel, '\(instant)') * 10)::integer AS price
      FROM (SELECT DISTINCT * FROM (VALUES \(names)) AS asked (name, fuel)) AS asked
      JOIN \(Self.named) ON station.name = asked.name
      """)
    let second = Int(instant.seconds)
    compare(
      "price_at \(instant)", prices,
      Set(asked).map { pair in
        "\(pair.station)|\(pair.fuel)|\(model.price(pair, at: second).map { "\($0)" } ?? "NULL")"
      }, pair)
    let averages = try ask(
      """
      SELECT region.region, fuel.fuel, fuel_v1.average_at(region.region, fuel.fuel, '\(instant)') AS average
      FROM fuel_v1.regions AS region CROSS JOIN (VALUES ('U91'), ('P98'), ('DL')) AS fuel (fuel)
      """)
    var wanted: [String] = []
    for region in model.world.regions {
      for fuel in RandomHistory.fuels {
        wanted.append(
          "\(region.code)|\(fuel)|\(cents(model.average(region.code, fuel, at: second)))")
      }
    }
    compare("average_at \(instant)", averages, wanted) { _ in nil }
  }

  private mutating func comparePresent(_ instant: Instant) throws {
    try clock(instant)
    let answers = try ask(
      """
      SELECT station.name, price.fuel, (price.price_cpl * 10)::integer AS price,
        extract(epoch FROM price.effective_at)::bigint AS since, price.is_fresh, price.is_flagged,
        price.flag_reason
      FROM fuel_v1.current_prices AS price JOIN \(Self.named) USING (station_id)
      """)
    let second = Int(instant.seconds)
    let wanted = pairs.compactMap { pair -> String? in
      guard let price = model.current(pair, clock: second) else { return nil }
      return
        "\(pair.station)|\(pair.fuel)|\(price.price)|\(price.since)|\(price.isFresh ? "t" : "f")|"
        + "\(price.doubt == nil ? "f" : "t")|\(price.doubt ?? "NULL")"
    }
    compare("current_prices \(instant)", answers, wanted, pair)
    let averages = try ask(
      """
      SELECT region, fuel, average_cpl, median_cpl, p25_cpl, (min_cpl * 10)::integer AS low,
        (max_cpl * 10)::integer AS high, stations, excluded_stale, excluded_flagged
      FROM fuel_v1.averages_now
      """)
    var expected: [String] = []
    for region in model.world.regions {
      for fuel in model.fuels {
        guard let made = model.averageNow(region.code, fuel, clock: second) else { continue }
        expected.append(
          "\(region.code)|\(fuel)|\(cents(made.average))|\(cents(made.median))|\(cents(made.quarter))|"
            + "\(made.lowest.map { "\($0 / 10)" } ?? "NULL")|\(made.highest.map { "\($0 / 10)" } ?? "NULL")|"
            + "\(made.stations)|\(made.stale)|\(made.flagged)")
      }
    }
    compare("averages_now \(instant)", averages, expected) { _ in nil }
    try clock(lived.end)
  }
}
