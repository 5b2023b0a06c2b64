package import FuelModel
import Postgres

/// What a feed shows now, and what it showed: `fuel.current_price`.
extension Store {
  /// Reads what the lists of a feed show now.
  package func shown(by source: SourceID) throws -> [ShownPrice] {
    var shown: [ShownPrice] = []
    try connection.copy(
      from: """
        SELECT
          station_id, fuel_id, stamped_at, stamped_tenths, next_effective_at, next_tenths,
          -- Nearly all are listed, offered and shown with their newest price. NULL for these costs least.
          CASE
            WHEN is_listed AND price_tenths > 0 AND NOT shows_older THEN NULL
            ELSE (is_listed IS TRUE)::integer + 2 * (price_tenths > 0)::integer + 4 * shows_older::integer
          END
        FROM fuel.current_price
        WHERE source_id = \(source)
        """
    ) { row in
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      var price = ShownPrice(
        pair: pair, stampedAt: try row.instant(), stampedTenths: try row.int32())
      if try row.isNull() {
        _ = try row.isNull()
      } else {
        price.next = (try row.instant(), try row.int32())
      }
      let flags = try row.isNull() ? 3 : row.int32()
      price.isListed = flags & 1 > 0
      price.isOffered = flags & 2 > 0
      price.showsOlder = flags & 4 > 0
      shown.append(price)
    }
    return shown
  }

  /// Reads the newest price of each station and fuel of a feed that had taken effect by an instant.
  package func heldPrices(of source: SourceID, at instant: Instant) throws -> [ReportedPrice] {
    var held: [ReportedPrice] = []
    try connection.copy(
      from: """
        SELECT station_id, fuel_id, effective_at, price_tenths
        FROM fuel.held_prices(\(source), \(instant))
        """
    ) { row in
      held.append(
        ReportedPrice(
          pair: Pair(stationID: try row.int32(), fuelID: try row.int16()),
          effectiveAt: try row.instant(), tenths: try row.int32()))
    }
    return held
  }
}
