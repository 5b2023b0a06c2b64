import FuelModel
import Postgres
import Timeline

extension BinaryRow {
  /// Reads a `timestamptz` that is never NULL.
  mutating func instant() throws -> Instant {
    let value = try int64()
    if value == .max { return .distantFuture }
    if value == .min { return .distantPast }
    return Instant(microseconds: value + Instant.millennium)
  }
}

extension Instant {
  fileprivate static let millennium: Int64 = 946_684_800_000_000

  /// The instant as PostgreSQL counts it: microseconds since 2000-01-01 UTC.
  var sinceMillennium: Int64 {
    if self >= .distantFuture { return .max }
    if self <= .distantPast { return .min }
    return microseconds - Self.millennium
  }
}
