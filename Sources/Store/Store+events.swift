package import FuelModel
import Postgres

/// An event that affected the market as a whole.
package struct MarketEvent: Sendable, Equatable {
  package var day: Day
  /// A state's code; `nil` for the nation.
  package var state: String?
  /// A fuel's code; `nil` for all fuels.
  package var fuel: String?
  package var what: String
  /// By how much the event changed the cost of a litre, in cents; `nil` where that is not stated.
  package var cents: Double?

  package init(day: Day, state: String?, fuel: String?, what: String, cents: Double?) {
    self.day = day
    self.state = state
    self.fuel = fuel
    self.what = what
    self.cents = cents
  }
}

extension Store {
  /// Replaces the market events in the database by those of the configuration.
  package func refreshEvents(_ events: [MarketEvent]) throws {
    try connection.transaction {
      try connection.query(
        """
        CREATE TEMPORARY TABLE wanted_event ON COMMIT DROP AS
        SELECT * FROM unnest(
          \(events.map(\.day.description))::date[], \(events.map(\.state))::text[], \(events.map(\.fuel))::text[],
          \(events.map(\.what))::text[], \(events.map(\.cents))::numeric(6, 2)[]
        ) AS wanted (day, state, fuel, what, cpl)
        """)
      try connection.execute(
        """
        DELETE FROM fuel.market_event
        WHERE NOT EXISTS (
          SELECT FROM pg_temp.wanted_event AS wanted WHERE wanted IS NOT DISTINCT FROM market_event);
        INSERT INTO fuel.market_event (day, state, fuel, what, cpl)
        SELECT wanted.day, wanted.state, wanted.fuel, wanted.what, wanted.cpl FROM pg_temp.wanted_event AS wanted
        ON CONFLICT DO NOTHING
        """)
    }
  }
}
