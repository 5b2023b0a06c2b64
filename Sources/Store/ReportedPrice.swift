package import FuelModel

/// A price that a run reports for a station and fuel.
package struct ReportedPrice: Sendable, Equatable {
  package var pair: Pair
  /// The reported stamp; `nil` where the feed stamps nothing.
  package var effectiveAt: Instant?
  /// Tenths of a cent per litre; 0: not offered.
  package var tenths: Int32
}

/// What the lists of a feed show for a station and fuel.
package struct ShownPrice: Sendable {
  package var pair: Pair
  /// The newest stamp that has taken effect, and the price under that stamp, in tenths of a cent.
  package var stampedAt: Instant
  package var stampedTenths: Int32
  /// The price that takes effect after it; `nil` where none is known.
  package var next: (effectiveAt: Instant, tenths: Int32)?
  /// Whether the newest complete list shows the station and fuel.
  package var isListed = true
  /// Whether the station offers the fuel.
  package var isOffered = true
  /// Whether the list read last showed an older price than a list before it.
  package var showsOlder = false
}

/// A reported price that differs from what its feed showed before, or a station and fuel that is no
/// longer shown.
package struct DifferingPrice: Sendable, Equatable {
  package var pair: Pair
  /// The reported price; `nil` where the run does not show the station and fuel.
  package var price: ReportedPrice?
  /// Whether the newest complete list before the run showed the station and fuel.
  package var wasListed: Bool
  /// Whether the same price may have been reported before. If so, the history has to be checked for
  /// it.
  package var mayBeKnown: Bool
  /// Where the run only goes on with a newer price of what the newest complete list showed, the
  /// stamp of the price before it.
  package var follows: Instant?

  package init(
    pair: Pair, price: ReportedPrice?, wasListed: Bool, mayBeKnown: Bool, follows: Instant? = nil
  ) {
    self.pair = pair
    self.price = price
    self.wasListed = wasListed
    self.mayBeKnown = mayBeKnown
    self.follows = follows
  }
}
