import Foundation
import FuelModel
package import Postgres
package import Timeline
package import Views

/// The fuel-specific SQL of the program that writes, run through one connection. Each subject has a
/// room of its own, which alone writes the tables of that subject.
package struct Store {
  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// The published views, read through the same connection.
  package var views: Views { Views(connection) }

  package var ledger: Ledger { Ledger(store: self) }
  package var answers: Answers { Answers(store: self) }
  package var stations: Stations { Stations(store: self) }
  package var spans: Spans { Spans(store: self) }
  package var due: Due { Due(store: self) }
  package var days: Days { Days(store: self) }
  package var verdicts: Verdicts { Verdicts(store: self) }
  package var outbox: Outbox { Outbox(store: self) }
  package var members: Members { Members(connection) }

  /// Runs the body inside one transaction, which is committed when the body returns and rolled back
  /// when it throws.
  @discardableResult
  package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
    try connection.transaction(body)
  }

  /// Does something short in a session of its own, where this one may be lost.
  package func inAnotherSession<Value>(_ body: (Store) throws -> Value) throws -> Value {
    let other = Store(try connection.another(Deadline(seconds: 10)))
    try other.becomeWriter()
    return try body(other)
  }

  /// Tries to take a lock for the session. Where another session holds it, silent sessions of this
  /// program are ended and the attempt is repeated once.
  ///
  /// - Parameter attempt: a statement whose column `taken` states whether the lock was free.
  /// - Returns: whether this session has the lock.
  /// - Throws: also where the database is a subscriber, on which nothing may be written.
  func tryLock(_ attempt: SQL) throws -> Bool {
    try refuseSubscriber()
    if try connection.query(attempt).only().boolean("taken") { return true }
    connection.endSilentSessions()
    return try connection.query(attempt).only().boolean("taken")
  }

  /// Throws where the rows of this database come from another server. Rows of jobs would stand in
  /// the way of those that it sends.
  func refuseSubscriber() throws {
    guard let name = try subscription() else { return }
    throw PostgresError.unfit(
      "this database takes its rows from another server by the subscription \(name): run jobs on that server"
    )
  }

  /// Takes the role that has the rights of ingest and aggregate and no more.
  package func becomeWriter() throws {
    try connection.become("fuel_writer")
  }
}

/// The number of a feed or an archive in this database.
package struct SourceID: Hashable, Sendable {
  package let number: Int16
}

/// The number of a run in this database.
package struct RunID: Hashable, Sendable, CustomStringConvertible {
  package let number: Int
  package var description: String { String(number) }
}

extension SourceID: Bindable { package var parameter: String? { number.parameter } }
extension RunID: Bindable { package var parameter: String? { number.parameter } }

extension Store {
  /// Opens one transaction around everything that follows, for a dry run. Transactions inside it
  /// become parts of it.
  package func beginRehearsal() throws {
    try connection.beginRehearsal()
  }

  /// Rolls back everything since `beginRehearsal`.
  package func endRehearsal() throws {
    try connection.endRehearsal()
  }
}

extension BinaryCopy {
  /// A `date`, which PostgreSQL counts from 2000-01-01.
  mutating func write(_ day: Day) { write(Int32(day.sinceEpoch - 10_957)) }
}

extension Row {
  /// Reads the station and fuel from a row with `station_id` and `fuel_id`.
  func pair() throws -> Pair {
    Pair(stationID: Int32(try integer("station_id")), fuelID: Int16(try integer("fuel_id")))
  }

  /// Reads a neighbour from a row with `station_id`, `state`, `latitude` and `longitude`.
  func neighbour() throws -> Neighbourhood.Station? {
    try Position(latitude: try double("latitude"), longitude: try double("longitude")).map {
      Neighbourhood.Station(
        id: Int32(try integer("station_id")), state: try text("state"), position: $0)
    }
  }
}

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

/// The documents as a whole contradict what is known so much that nothing from them is stored.
package struct Refusal: Error, Equatable, CustomStringConvertible {
  package let description: String
  /// The composition of the refused list; `nil` where something else was refused.
  package let list: ListSummary?

  package init(_ description: String, list: ListSummary? = nil) {
    self.description = description
    self.list = list
  }

  package static func == (left: Refusal, right: Refusal) -> Bool {
    left.description == right.description
  }
}
