package import FuelModel

/// Why a price is left out of averages, and from when until when.
package struct Doubt: Sendable, Equatable {
  /// Why a price is doubtful.
  package enum Reason: String, Sendable {
    /// The price is far from the station's own prices before and after it, and no neighbour charges
    /// about as much.
    case far
    /// The station has one price for every grade of petrol.
    case placeholder
  }

  package var reason: Reason
  package var from: Instant
  package var until: Instant

  package init(reason: Reason, from: Instant, until: Instant) {
    self.reason = reason
    self.from = from
    self.until = until
  }
}

/// Decides which prices are doubtful. The same rules hold for the present and the past.
package enum Plausibility {
  /// Whether a price lies within a third of one of the station's own prices, and so fits the
  /// station's level.
  static func isNear(_ price: Int32, _ own: Int32) -> Bool { abs(own - price) * 3 <= own }

  /// Prices further back or further ahead than this, in microseconds, are not compared: they belong
  /// to a different market.
  package static let memory: Int64 = 60 * 86_400 * 1_000_000
  // How long a price that is far has to hold before it is believed: one day, in microseconds.
  private static let holds: Int64 = 86_400 * 1_000_000

  /// Marks the spans whose price lies more than a third away from each of the station's last two
  /// prices before it and next two after it.
  ///
  /// A span with no price before it and fewer than two after it has no level to be compared with,
  /// and is not suspect.
  ///
  /// - Parameter before: the last two spans before the first of `spans`, oldest first.
  package static func markSuspects(_ spans: inout [Span], before: [Span] = []) {
    let all = before + spans
    for position in spans.indices {
      let index = before.count + position
      let span = all[index]
      let earlier = all[..<index].suffix(2).filter { $0.latestEnd.after(memory) >= span.from }
      let later = all[(index + 1)...].prefix(2).filter {
        $0.isBelieved && $0.from <= span.until.after(memory)
      }
      spans[position].isSuspect =
        (!earlier.isEmpty || later.count == 2)
        && !(earlier + later).contains { isNear(span.price, $0.price) }
    }
  }

  /// Returns the doubt about one span that is not a placeholder.
  ///
  /// - Parameters:
  ///   - hasCompany: whether a neighbour charges about as much. It matters for suspect spans only.
  ///   - isConfirmed: whether a person found the price to be true.
  ///   - holdingConfirms: whether a price of this source is believed once it has held for a day.
  package static func doubt(
    about span: Span, hasCompany: Bool, isConfirmed: Bool, holdingConfirms: Bool
  ) -> Doubt? {
    guard span.isSuspect, !hasCompany, !isConfirmed else { return nil }
    return Doubt(reason: .far, from: span.from, until: farEnd(of: span, holdingConfirms))
  }

  /// Returns the doubt about one span that is a placeholder for some time.
  ///
  /// A placeholder that is also far from the station's own prices is doubted for that reason too,
  /// whatever neighbours charge: from the start of the span until the later end of the two doubts.
  package static func doubt(
    about span: Span, placeholder: (from: Instant, until: Instant), isConfirmed: Bool,
    holdingConfirms: Bool
  ) -> Doubt? {
    guard !isConfirmed else { return nil }
    guard span.isSuspect else {
      return Doubt(reason: .placeholder, from: placeholder.from, until: placeholder.until)
    }
    return Doubt(
      reason: .placeholder, from: span.from,
      until: max(placeholder.until, farEnd(of: span, holdingConfirms)))
  }

  private static func farEnd(of span: Span, _ holdingConfirms: Bool) -> Instant {
    holdingConfirms ? span.from.after(holds) : .distantFuture
  }

  /// Whether a neighbour charges about as much as a suspect span: within a tenth of its price, at
  /// some time during the span's first day.
  package static func isCompany(_ neighbour: [Span], of span: Span) -> Bool {
    let end = min(span.latestEnd, span.from.after(holds))
    return neighbour.contains { other in
      other.isBelieved && other.from < end && other.latestEnd > span.from
        && abs(other.price - span.price) * 10 <= span.price
    }
  }

  // MARK: Placeholders

  private static let regular = Set([Fuel.u91, .e10, .laf].compactMap(\.id))
  private static let premium = Set([Fuel.p95, .p98, .e5].compactMap(\.id))

  /// Whether a station may have a placeholder now, or had one before. This is a cheap test: few
  /// stations sell a regular and a premium grade at one price, and fewer do so at the same time.
  package static func mayHavePlaceholders(_ spans: [Int16: [Span]]) -> Bool {
    if spans.values.contains(where: { $0.contains { $0.doubt?.reason == .placeholder } }) {
      return true
    }
    var times: [Int32: [(from: Instant, until: Instant)]] = [:]
    for (fuel, list) in spans where regular.contains(fuel) {
      for span in list { times[span.price, default: []].append((span.from, span.latestEnd)) }
    }
    return spans.contains { fuel, list in
      premium.contains(fuel)
        && list.contains { span in
          times[span.price]?.contains { $0.from < span.latestEnd && span.from < $0.until } ?? false
        }
    }
  }

  /// Finds the times at which a station's prices are placeholders and not real prices: every grade
  /// of petrol has one price, a regular and a premium grade are among them, and at least three
  /// fuels have that price.
  ///
  /// - Parameter spans: those of one station, by fuel.
  /// - Returns: by fuel and position of the span, the first and the last instant of that state
  ///   within the span.
  package static func placeholders(
    _ spans: [Int16: [Span]]
  ) -> [Int16: [Int: (from: Instant, until: Instant)]] {
    guard mayHavePlaceholders(spans) else { return [:] }
    var fuels = spans.map { fuel, list in
      (
        id: fuel, spans: list, at: 0, isPresent: false, isRegular: regular.contains(fuel),
        isPremium: premium.contains(fuel)
      )
    }
    var bounds = fuels.flatMap { $0.spans.flatMap { [$0.from, $0.latestEnd] } }
    bounds.sort()
    var found: [Int16: [Int: (from: Instant, until: Instant)]] = [:]
    for (from, until) in zip(bounds, bounds.dropFirst()) where from < until {
      var price: Int32?
      var (isOne, hasRegular, hasPremium) = (true, false, false)
      for number in fuels.indices {
        while fuels[number].at < fuels[number].spans.count,
          fuels[number].spans[fuels[number].at].latestEnd <= from
        { fuels[number].at += 1 }
        let fuel = fuels[number]
        fuels[number].isPresent = fuel.at < fuel.spans.count && fuel.spans[fuel.at].from <= from
        guard fuels[number].isPresent, fuel.isRegular || fuel.isPremium else { continue }
        let own = fuel.spans[fuel.at].price
        isOne = isOne && own == price ?? own
        price = own
        hasRegular = hasRegular || fuel.isRegular
        hasPremium = hasPremium || fuel.isPremium
      }
      guard isOne, hasRegular, hasPremium else { continue }
      let same = fuels.filter { $0.isPresent && $0.spans[$0.at].price == price }
      guard same.count >= 3 else { continue }
      for fuel in same {
        let known = found[fuel.id]?[fuel.at]
        found[fuel.id, default: [:]][fuel.at] = (known?.from ?? from, until)
      }
    }
    return found
  }
}
