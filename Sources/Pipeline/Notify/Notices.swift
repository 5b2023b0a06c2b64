import Foundation
package import FuelModel
package import Store

/// Sees what turned since it looked last, keeps it, and has it told until its receiver took it.
package struct Notices {
  /// So many notices of one rule wait for a receiver that is away.
  package static let most = 100
  /// So many are told of one rule in one go.
  private static let perRun = 20

  private let store: Store
  private let now: Instant

  package init(_ store: Store, now: Instant) {
    self.store = store
    self.now = now
  }

  /// What is told: an object whose members are only ever added to while its version stays.
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
    var verdict: String?
    var market_state: String?
    var is_below: Bool?
  }

  /// Looks at what a rule is about, and keeps what there is to tell.
  ///
  /// - Parameter place: the rule's own.
  package func look(_ rule: NoticeRule, at place: NamedPlace) throws {
    let before = try store.seen(by: rule.name).map {
      try JSONDecoder().decode(Seen.self, from: Data($0.utf8))
    }
    switch rule.kind {
    case .verdict:
      guard let advice = try store.advice(region: place.code, fuel: rule.fuel.rawValue) else {
        return
      }
      let seen = Seen(verdict: advice.verdict, market_state: advice.state)
      guard seen != before else { return }
      let words = advice.verdict.replacing("_", with: " ")
      // The first look tells nothing: nothing has turned.
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
      let cheapest = try store.offers(
        at: place, within: rule.kilometres, fuel: rule.fuel.rawValue, limit: 1
      ).first { $0.isFresh && !$0.isFlagged }
      guard let cheapest else { return }
      let isBelow = Cents.tenths(cheapest.price) <= Int(limit.tenths)
      let seen = Seen(is_below: isBelow)
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
    try store.note(
      try text(seen), by: rule.name, telling: try content.map(text), most: Self.most, at: now)
  }

  /// Tells what waits, oldest first. Where its receiver does not take one, the rest of that rule waits too.
  ///
  /// - Parameter send: hands over a JSON object; throws where it was not taken.
  /// - Returns: how many were told.
  package func tell(
    _ rule: NoticeRule, _ send: (String) async throws -> Void
  ) async throws -> Int {
    var told = 0
    for notice in try store.waiting(of: rule.name, limit: Self.perRun) {
      let body = try message(notice)
      // Whoever dies behind this line repeats it.
      try store.beginTelling(notice)
      try await send(body)
      try store.told(notice, at: now)
      told += 1
    }
    return told
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
