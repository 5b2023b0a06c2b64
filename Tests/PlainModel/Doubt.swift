import Foundation

/// Which believed prices are doubtful, and why.
extension PlainModel {
  private static let day = 86_400

  /// Returns why the price in effect at an instant is doubtful; `nil`: it is not, or there is none.
  package func doubt(_ pair: Pair, at instant: Second) -> String? {
    guard
      let index = history(pair).held.firstIndex(where: { $0.from <= instant && instant < $0.until })
    else { return nil }
    // A price that is a placeholder for part of its time is doubtful from the first to the last
    // instant of that part. If it is also far from the station's other prices, it is doubtful from
    // its beginning until the later of the two ends, whatever neighbours charge.
    let held = history(pair).held
    if var placeholder = placeholder(pair, held[index]) {
      if isFar(held, index) {
        placeholder = held[index].from..<max(placeholder.upperBound, farEnd(held[index]))
      }
      return placeholder.contains(instant) ? "placeholder" : nil
    }
    guard let until = farUntil(pair, index), instant < until else { return nil }
    return "far"
  }

  /// Returns why a held price is doubtful at some time; `nil`: it never is. "placeholder" takes
  /// precedence over "far".
  package func doubt(_ pair: Pair, _ held: Held) -> String? {
    pieces(pair).filter { held.from <= $0.from && $0.from < held.until }.compactMap(\.doubt).max()
  }

  /// Returns until when a held price is doubtful because it is far from the station's other prices;
  /// `nil`: it is not.
  func farUntil(_ pair: Pair, _ index: Int) -> Second? {
    let key = FarKey(pair: pair, at: index)
    if let known = far[key] { return known }
    let held = history(pair).held
    let own = held[index]
    var until: Second?
    if isFar(held, index), !hasCompany(pair, own) {
      until = farEnd(own)
    }
    far[key] = .some(until)
    return until
  }

  private func farEnd(_ held: Held) -> Second {
    (world.feeds[held.latest]?.holdingConfirms ?? true) ? held.from + Self.day : .max
  }

  struct FarKey: Hashable {
    var pair: Pair
    var at: Int
  }

  /// Returns whether a held price differs by more than a third from each of the two prices before
  /// it and the two after it. Prices more than sixty days away are ignored. If no price before it
  /// is left, there must be two after it.
  private func isFar(_ held: [Held], _ index: Int) -> Bool {
    let own = held[index]
    let before = held[..<index].suffix(2).filter { $0.until + 60 * Self.day >= own.from }
    let after = held[(index + 1)...].prefix(2).filter { $0.from <= own.until + 60 * Self.day }
    if before.isEmpty && after.count < 2 { return false }
    return (before + after).allSatisfy { abs($0.price - own.price) * 3 > $0.price }
  }

  /// Returns whether, on the first day of a price, a neighbour charges the same to within a tenth.
  /// The neighbour's newest price counts even if the newest list showing it is too old by then,
  /// because later lists may show it again.
  private func hasCompany(_ pair: Pair, _ own: Held) -> Bool {
    let end = min(own.until, own.from + Self.day)
    return neighbours(of: pair.station).contains { neighbour in
      let other = Pair(neighbour, pair.fuel)
      let history = history(other)
      return history.held.contains { held in
        let until = held == history.held.last ? max(held.until, mayReach(other)) : held.until
        return held.from < end && until > own.from && abs(held.price - own.price) * 10 <= own.price
      }
    }
  }

  /// Returns until when later lists may confirm the newest price, if the newest list shows it.
  private func mayReach(_ pair: Pair) -> Second {
    guard let newest = history(pair).statements.last, newest.price > 0,
      let list = lists[newest.record.source]?.seen.last,
      list.lines.contains(where: { $0.code == newest.record.code && $0.fuel == pair.fuel })
    else { return .min }
    return lapse(of: newest, fuel: pair.fuel)
  }

  /// Returns the stations of the same state within forty kilometres, or the nearest five if those
  /// are fewer than five.
  func neighbours(of id: String) -> [String] {
    guard let here = stations[id], let position = here.position, here.isPublic else { return [] }
    let others = world.stations.compactMap { other -> (id: String, kilometres: Double)? in
      guard other.id != id, other.state == here.state, other.isPublic, let there = other.position
      else { return nil }
      return (other.id, Self.kilometres(position, there))
    }.sorted { $0.kilometres < $1.kilometres }
    let near = others.filter { $0.kilometres <= 40 }
    return (near.count >= 5 ? near : Array(others.prefix(5))).map(\.id)
  }

  /// Computed on a sphere with a radius of 6,371 kilometres.
  private static func kilometres(
    _ one: (latitude: Double, longitude: Double), _ other: (latitude: Double, longitude: Double)
  ) -> Double {
    func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    let cosine =
      sin(radians(one.latitude)) * sin(radians(other.latitude))
      + cos(radians(one.latitude)) * cos(radians(other.latitude))
      * cos(radians(one.longitude - other.longitude))
    return 6_371 * acos(max(-1, min(1, cosine)))
  }

  /// Returns whether a fuel's price is a placeholder. That is so if all petrol of the station has
  /// one price, a regular and a premium grade among it, and at least three fuels, this one among
  /// them, have that price.
  func isPlaceholder(_ pair: Pair, at instant: Second) -> Bool {
    let regular: Set = ["U91", "E10", "LAF"]
    let premium: Set = ["P95", "P98", "E5"]
    var prices: [String: Int] = [:]
    for fuel in fuels { prices[fuel] = mayHold(Pair(pair.station, fuel), at: instant) }
    let petrol = prices.filter { regular.contains($0.key) || premium.contains($0.key) }
    guard let price = petrol.values.first, petrol.values.allSatisfy({ $0 == price }) else {
      return false
    }
    return petrol.keys.contains(where: regular.contains)
      && petrol.keys.contains(where: premium.contains)
      && prices.values.count { $0 == price } >= 3 && prices[pair.fuel] == price
  }

  /// Returns the price at an instant. The newest price also counts where the newest list showing it
  /// is too old by then, because nothing has ended it.
  private func mayHold(_ pair: Pair, at instant: Second) -> Int? {
    if let price = price(pair, at: instant) { return price }
    guard let newest = history(pair).held.last, newest.until <= instant, instant < mayReach(pair),
      // A list that shows the price again after one that did not states nothing about the time
      // between.
      let statement = history(pair).statements.last, statement.at <= instant
    else { return nil }
    return newest.price
  }

  /// Returns the time from the first to the last instant at which a held price is a placeholder;
  /// `nil`: it never is. The newest price holds until it lapses, even if the newest list showing it
  /// is too old before.
  private func placeholder(_ pair: Pair, _ held: Held) -> Range<Second>? {
    let key = FarKey(pair: pair, at: held.from)
    if let known = placeholders[key] { return known }
    let end = held == history(pair).held.last ? max(held.until, mayReach(pair)) : held.until
    let bounds = fuels.flatMap { fuel in
      let other = Pair(pair.station, fuel)
      return history(other).bounds + [mayReach(other)]
    }
    .filter { held.from <= $0 && $0 < end }.sorted()
    var found: Range<Second>?
    for (from, until) in zip(bounds, bounds.dropFirst() + [end])
    where isPlaceholder(pair, at: from) {
      found = (found?.lowerBound ?? from)..<until
    }
    placeholders[key] = .some(found)
    return found
  }

  /// Every fuel that any source reports.
  package var fuels: [String] {
    if everyFuel.isEmpty {
      everyFuel = Set(world.runs.flatMap { $0.lines.map(\.fuel) } + world.rows.map(\.fuel)).sorted()
    }
    return everyFuel
  }

  /// A time during which neither the price nor the doubt about it changes.
  struct Piece {
    var from: Second
    var until: Second
    var held: Held
    var doubt: String?
  }

  /// Returns the believed prices of a station and fuel as consecutive pieces.
  func pieces(_ pair: Pair) -> [Piece] {
    if let known = cut[pair] { return known }
    let history = history(pair)
    var bounds = Set(fuels.flatMap { self.history(Pair(pair.station, $0)).bounds })
    bounds.formUnion(fuels.map { mayReach(Pair(pair.station, $0)) })
    bounds.formUnion(history.held.flatMap { [$0.from, $0.from + Self.day] })
    let sorted = bounds.sorted()
    let pieces = history.held.flatMap { held -> [Piece] in
      let within = sorted.filter { held.from <= $0 && $0 < held.until } + [held.until]
      return zip(within, within.dropFirst()).map { from, until in
        Piece(from: from, until: until, held: held, doubt: doubt(pair, at: from))
      }
    }
    cut[pair] = pieces
    return pieces
  }
}
