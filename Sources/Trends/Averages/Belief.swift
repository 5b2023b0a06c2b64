package import FuelModel

/// A price of one place and fuel, and for how long it is believed.
struct Belief {
  var placeID: Int32
  var fuelID: Int16
  var sourceID: Int16
  var stationID: Int32
  var price: Int32
  /// When it was told to begin, and when it begins to count.
  var effectiveAt: Instant
  var beginsAt: Instant
  /// Not later than the next event.
  var endsAt: Instant
  /// Until when it would be believed had it been seen all the time.
  var heldUntil: Instant
}

/// When the complete lists of each source were taken, oldest first, around a window: every one inside
/// it, the last one before it and the first one after it.
package struct Sightings: Sendable {
  private let instants: [Int16: [Instant]]

  package init(_ instants: [Int16: [Instant]]) { self.instants = instants }

  /// The last one before an instant.
  func last(of source: Int16, before instant: Instant) -> Instant? {
    guard let taken = instants[source] else { return nil }
    var low = 0
    var high = taken.count
    while low < high {
      let middle = (low + high) / 2
      if taken[middle] < instant { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? nil : taken[low - 1]
  }
}

/// Turns the events of one place and fuel into the prices that are believed.
///
/// The newest event holds, whoever tells it; of two at one instant the one learnt later, then the
/// higher price. A feed speaks from its first run on: what it tells of the time before counts from then,
/// unless others told something newer by then.
///
/// - Parameters:
///   - events: all of them in the window, and the last one before it of each record; in any order.
///   - windowEndsAt: up to when the answer is wanted. Events behind it tell only how long a price held.
func beliefs(
  _ events: inout [PriceEvent], rules: [Int16: SourceRules], sightings: Sightings,
  windowEndsAt: Instant, into beliefs: inout [Belief]
) {
  var allSpeakFrom = Instant.distantPast
  for event in events {
    guard let rule = rules[event.sourceID] else { continue }
    allSpeakFrom = max(allSpeakFrom, rule.speaksFrom)
  }
  // Of those that are believed by then, which every window sees that holds that instant.
  var newestByThen: Instant?
  if allSpeakFrom > .distantPast {
    for event in events where event.effectiveAt <= allSpeakFrom {
      guard let rule = rules[event.sourceID],
        event.effectiveAt.microseconds + rule.priceLapsesAfter > allSpeakFrom.microseconds
      else { continue }
      newestByThen = max(newestByThen ?? event.effectiveAt, event.effectiveAt)
    }
  }
  events.removeAll { event in
    guard let rule = rules[event.sourceID] else { return true }
    guard event.effectiveAt < rule.speaksFrom, let newestByThen else { return false }
    return event.effectiveAt < newestByThen
  }
  func beginsAt(_ event: PriceEvent) -> Instant {
    max(event.effectiveAt, rules[event.sourceID]?.speaksFrom ?? .distantPast)
  }
  if events.count > 1 {
    events.sort { left, right in
      let begins = (beginsAt(left), beginsAt(right))
      if begins.0 != begins.1 { return begins.0 < begins.1 }
      if left.effectiveAt != right.effectiveAt { return left.effectiveAt < right.effectiveAt }
      if left.learntAt != right.learntAt { return left.learntAt < right.learntAt }
      return left.price < right.price
    }
  }
  for (position, event) in events.enumerated() where event.price > 0 {
    guard let rule = rules[event.sourceID] else { continue }
    let begins = beginsAt(event)
    if begins >= windowEndsAt { break }
    let next = position + 1 < events.count ? beginsAt(events[position + 1]) : nil
    let held = min(
      next ?? windowEndsAt,
      Instant(microseconds: event.stampedAt.microseconds + rule.priceLapsesAfter))
    var ends = held
    if (next ?? windowEndsAt).microseconds - event.stampedAt.microseconds > rule.sightLapsesAfter {
      let seen = sightings.last(of: event.sourceID, before: next ?? .distantFuture)
      ends = min(
        ends,
        Instant(
          microseconds: max(event.stampedAt, seen ?? event.stampedAt).microseconds
            + rule.sightLapsesAfter))
    }
    beliefs.append(
      Belief(
        placeID: event.placeID, fuelID: event.fuelID, sourceID: event.sourceID,
        stationID: event.stationID, price: event.price, effectiveAt: event.effectiveAt,
        beginsAt: begins, endsAt: ends, heldUntil: held))
  }
}
