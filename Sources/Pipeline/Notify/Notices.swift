import Foundation
package import FuelModel
package import Store
package import Views

/// Detects what changed since the last look, stores a notice of it, and sends each notice until its
/// receiver has accepted it.
package struct Notices {
  /// How many notices of one rule may wait for a receiver that cannot be reached.
  package static let most = 100
  /// How many notices of one rule are sent in one run.
  private static let perRun = 20

  private let store: Store
  private let now: Instant

  package init(_ store: Store, now: Instant) {
    self.store = store
    self.now = now
  }

  /// The content of a notice, as JSON. As long as its version stays the same, members may be added
  /// but not removed or changed.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  private struct Content: Codable {
    struct Advice: Codable, Equatable {
      var verdict: String
      var market_state: String?
      var reason: String?
    }
    struct Offer: Codable {
      var station_id: Int
      var name: String
      var suburb: String?
      var price_cpl: Decimal
    }
    var kind: String
    var place: String
    var fuel: String
    var text: String
    var was: Advice?
    var now: Advice?
    var below_cpl: Decimal?
    var cheapest: Offer?
  }

  // swift-format-ignore: AlwaysUseLowerCamelCase
  private struct Seen: Codable, Equatable {
    /// Kind, place and fuel of the rule.
    var watched: String?
    var verdict: String?
    var market_state: String?
    var is_below: Bool?
  }

  /// Compares what a rule watches with what it saw last, and stores a notice if they differ.
  ///
  /// - Parameter place: the place that the rule names.
  package func check(_ rule: NoticeRule, at place: NamedPlace) throws {
    let what = rule.kind == .verdict ? "verdict" : "price"
    let watched = "\(what) \(rule.place) \(rule.fuel.rawValue)"
    // A rule that was changed under its name has not seen yet what it watches now.
    let before = try store.outbox.seen(by: rule.name)
      .map { try JSONDecoder().decode(Seen.self, from: Data($0.utf8)) }
      .flatMap { $0.watched == watched ? $0 : nil }
    switch rule.kind {
    case .verdict:
      let key = MarketReport.Key(place.code, rule.fuel.rawValue)
      // A verdict that has lapsed says that no aggregate ran, and nothing of the market.
      guard let advice = try store.views.verdicts(of: key).values.first, advice.validUntil > now
      else { return }
      let seen = Seen(watched: watched, verdict: advice.verdict, market_state: advice.state)
      guard seen != before else { return }
      let words = advice.verdict.replacing("_", with: " ")
      // The first look has nothing to compare with, so it makes no notice.
      let content = before.map { before in
        Content(
          kind: "verdict", place: place.name, fuel: rule.fuel.rawValue,
          text: "\(place.name) \(rule.fuel.rawValue): \(words). \(advice.reason)",
          was: .init(verdict: before.verdict ?? "", market_state: before.market_state),
          now: .init(
            verdict: advice.verdict, market_state: advice.state, reason: advice.reason))
      }
      try keep(seen, content, rule)
    case .price(let limit):
      let cheapest = try store.views.offers(
        at: place, within: rule.kilometres, fuel: rule.fuel.rawValue, limit: 1
      ).first { $0.isFresh && !$0.isFlagged }
      guard let cheapest else { return }
      let isBelow = Cents.tenths(cheapest.price) <= Int(limit.tenths)
      let seen = Seen(watched: watched, is_below: isBelow)
      guard seen != before else { return }
      let whereabouts = [cheapest.name, cheapest.suburb].compactMap { $0 }.joined(separator: ", ")
      let content = Content(
        kind: "price", place: place.name, fuel: rule.fuel.rawValue,
        text: "\(rule.fuel.rawValue) at \(Cents.text(cheapest.price)) c/L: \(whereabouts)",
        below_cpl: Decimal(Int(limit.tenths)) / 10,
        cheapest: .init(
          station_id: cheapest.station, name: cheapest.name, suburb: cheapest.suburb,
          price_cpl: Decimal(Cents.tenths(cheapest.price)) / 10))
      try keep(seen, isBelow ? content : nil, rule)
    }
  }

  private func keep(_ seen: Seen, _ content: Content?, _ rule: NoticeRule) throws {
    let encoder = JSONEncoder()
    func text(_ value: some Encodable) throws -> String {
      String(decoding: try encoder.encode(value), as: UTF8.self)
    }
    try store.outbox.note(
      try text(seen), by: rule.name, making: try content.map(text), most: Self.most, at: now)
  }

  /// Sends the waiting notices of a rule, oldest first. If the receiver does not accept one, the
  /// later ones of that rule wait too.
  ///
  /// - Parameter send: sends a JSON object; throws if the receiver did not accept it.
  /// - Returns: how many notices were sent.
  /// - Throws: the error of `send`.
  package func deliver(
    _ rule: NoticeRule, _ send: (String) async throws -> Void
  ) async throws -> Int {
    var sent = 0
    for notice in try store.outbox.waiting(of: rule.name, limit: Self.perRun) {
      let body = try message(notice)
      // If the program dies after this line, the next run sends the notice again, marked as a
      // repetition.
      try store.outbox.beginSending(notice)
      try await send(body)
      try store.outbox.markSent(notice, at: now)
      sent += 1
    }
    return sent
  }

  private func message(_ notice: Notice) throws -> String {
    guard
      var object = try JSONSerialization.jsonObject(with: Data(notice.content.utf8))
        as? [String: Any]
    else { return notice.content }
    object["version"] = 1
    object["id"] = notice.number
    object["rule"] = notice.rule
    object["at"] = notice.madeAt.description
    object["repeat"] = notice.attempts > 0
    return String(
      decoding: try JSONSerialization.data(
        withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes]), as: UTF8.self)
  }
}

extension NoticeRule {
  /// Says why the rule can send no notice as prices are now: no station lies there, none sells the
  /// fuel, there is no verdict, or the limit is far below every price. Returns `nil` where nothing
  /// stands in the way.
  package func obstacle(at place: NamedPlace, in views: Views) throws -> String? {
    let (name, fuel) = (place.shownName.asTerminalLine, fuel.rawValue)
    let whereabouts =
      kilometres.map { "within \($0 == $0.rounded() ? "\(Int($0))" : "\($0)") km of \(name)" }
      ?? (place.kind == .station ? "at \(name)" : "in \(name)")
    func lowest(of fuel: String?) throws -> Offer? {
      try views.offers(at: place, within: kilometres, fuel: fuel, limit: 1).first
    }
    guard let cheapest = try lowest(of: fuel) else {
      return try lowest(of: nil) == nil
        ? "no station with a price \(whereabouts)" : "no \(fuel) is sold \(whereabouts)"
    }
    switch kind {
    case .verdict:
      guard try views.verdicts(of: .init(place.code, fuel)).isEmpty else { return nil }
      return "\(name) has no verdict on \(fuel): it is a nation, has too few stations, or bowser "
        + "aggregate has not run yet"
    case .price(let limit):
      guard cheapest.isFresh, !cheapest.isFlagged,
        Int(limit.tenths) * 2 < Cents.tenths(cheapest.price)
      else { return nil }
      return "its limit, \(Cents.text(Double(limit.tenths) / 10)), is less than half of the lowest "
        + "\(fuel) \(whereabouts), \(Cents.text(cheapest.price))"
    }
  }
}
