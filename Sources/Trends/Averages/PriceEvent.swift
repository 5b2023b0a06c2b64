package import FuelModel

/// Something that begins or ends a price of a place and fuel: a stamp, or what a complete list says by
/// leaving it out. What the history is made of, whoever told it.
package struct PriceEvent: Sendable, Equatable {
  /// The record that speaks for the place.
  package var placeID: Int32
  package var fuelID: Int16
  /// Who told it, and of which of the place's records.
  package var sourceID: Int16
  package var stationID: Int32
  package var effectiveAt: Instant
  /// Tenths of a cent per litre; 0: not offered.
  package var price: Int32
  /// The stamp that the price carries.
  package var stampedAt: Instant
  package var learntAt: Instant

  package init(
    placeID: Int32, fuelID: Int16, sourceID: Int16, stationID: Int32, effectiveAt: Instant,
    price: Int32, stampedAt: Instant, learntAt: Instant
  ) {
    self.placeID = placeID
    self.fuelID = fuelID
    self.sourceID = sourceID
    self.stationID = stationID
    self.effectiveAt = effectiveAt
    self.price = price
    self.stampedAt = stampedAt
    self.learntAt = learntAt
  }
}

/// What a source is believed for.
package struct SourceRules: Sendable {
  /// A price is not believed for longer than this after its stamp, in microseconds.
  package var priceLapsesAfter: Int64
  /// Nor for longer than this after it was last seen listed.
  package var sightLapsesAfter: Int64
  /// Before its first run a feed's unchanged prices are known and its changed ones are not.
  package var speaksFrom: Instant
  /// A doubtful price that still holds a day later is believed.
  package var holdingConfirms: Bool

  package init(
    priceLapsesAfter: Int64, sightLapsesAfter: Int64, speaksFrom: Instant, holdingConfirms: Bool
  ) {
    self.priceLapsesAfter = priceLapsesAfter
    self.sightLapsesAfter = sightLapsesAfter
    self.speaksFrom = speaksFrom
    self.holdingConfirms = holdingConfirms
  }
}

extension Instant {
  package static let distantPast = Instant(microseconds: .min / 4)
  package static let distantFuture = Instant(microseconds: .max / 4)
}
