/// One price that a feed reported for one station and fuel.
package struct Observation: Hashable, Sendable {
  package var stationCode: String
  package var fuel: Fuel
  /// `nil`: the feed says that the station does not offer this fuel now.
  package var price: Price?
  /// When the price began, by the feed's own stamp; `nil` where the feed stamps nothing: then the
  /// price holds at the instant of the fetch, and began when it was first seen.
  package var effectiveAt: Instant?

  package init(stationCode: String, fuel: Fuel, price: Price?, effectiveAt: Instant?) {
    self.stationCode = stationCode
    self.fuel = fuel
    self.price = price
    self.effectiveAt = effectiveAt
  }
}

/// A record that was turned away, with the reason and what it said.
package struct Reject: Hashable, Sendable {
  package enum Reason: String, CaseIterable, Hashable, Sendable {
    case unknownFuel = "unknown_fuel"
    case unsupportedFuel = "unsupported_fuel"
    case priceUnreadable = "price_unreadable"
    case priceOutOfBand = "price_out_of_band"
    case stampUnreadable = "stamp_unreadable"
    case stampInFuture = "stamp_in_future"
    case stampTooOld = "stamp_too_old"
    /// A local time that clocks jumped over.
    case stampNonexistent = "stamp_nonexistent"
    case stationMissing = "station_missing"
    /// A new code of a feed that has told of too many.
    case stationBeyondLimit = "station_beyond_limit"
    case stateUnknown = "state_unknown"
    case recordUnreadable = "record_unreadable"
    case conflictingPrice = "conflicting_price"

    /// Whether it speaks against the feed's health. Chargers in a petrol list do not.
    package var countsAgainstFeed: Bool { self != .unsupportedFuel }
  }

  package var reason: Reason
  /// The record as it came, or its fields, in one line of at most 2,000 bytes.
  package var raw: String

  package init(_ reason: Reason, raw: String) {
    self.reason = reason
    self.raw = raw.line(ofBytes: InputLimit.rejectBytes.value)
  }
}

/// What one run's documents say, once they were read.
package struct Reading: Sendable {
  package enum Coverage: Sendable {
    /// Everything that the feed has now: what is missing is not offered.
    case complete
    /// Some of it: absence proves nothing.
    case partial
  }

  package var stations: [Station] = []
  package var observations: [Observation] = []
  package var rejects: [Reject] = []
  package var coverage: Coverage
  /// What was odd about the documents, for the run's row and the feed's health.
  package var warnings: [String] = []
  /// Whether tomorrow's prices should have been published by now and were not: the feed stays due.
  package var awaitsTomorrow = false

  package init(coverage: Coverage) { self.coverage = coverage }

  /// Takes an observation if its price is possible for that fuel, else a reject.
  package mutating func take(_ observation: Observation, raw: @autoclosure () -> String) {
    if let price = observation.price, !observation.fuel.band.contains(price.tenths) {
      rejects.append(Reject(.priceOutOfBand, raw: raw()))
    } else {
      observations.append(observation)
    }
  }
}
