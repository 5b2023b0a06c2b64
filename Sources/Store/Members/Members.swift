package import FuelModel
package import Postgres
import Views

/// A database with states of its own, which a hub answers for: its name, which is that of its foreign
/// server, whose ranges of numbers it has, and its states.
package typealias Member = (name: String, number: Int, states: [State])

/// The members of a hub: `fuel.member`, and what `Migrations/routines/hub.sql` makes of them.
package struct Members {
  let connection: Connection

  package init(_ connection: Connection) { self.connection = connection }

  /// Whether this database is a hub. Every login may ask this.
  package func isHub() throws -> Bool {
    try connection.query(
      """
      SELECT EXISTS (
        SELECT FROM pg_catalog.pg_views WHERE schemaname = 'hub' AND viewname = 'member_pipeline'
      ) AS is_hub
      """
    ).only().boolean("is_hub")
  }

  /// Throws where this database is a hub: what jobs store belongs to one of its members.
  package func refuseHub() throws {
    guard try isHub() else { return }
    throw PostgresError.unfit(
      "this database is a hub, which answers for other databases: run jobs on its members")
  }

  /// Gives an empty database the ranges of numbers of a member.
  package func number(this number: Int) throws {
    try connection.query("SELECT fuel.number_member(\(number))")
  }

  /// Throws where this database has runs of its own, because a hub answers for others only.
  package func refuseRuns() throws {
    guard try connection.query("SELECT FROM fuel.run LIMIT 1").isEmpty else {
      throw PostgresError.unfit(
        "this database has runs of its own, so it cannot be a hub: name an empty database")
    }
  }

  /// Replaces the members by those of the configuration, as part of the transaction that makes the
  /// hub anew. A member that is out stays so. Where a range or states change, what was copied goes.
  ///
  /// - Throws: where a member that is not out would be forgotten.
  package func replace(by members: [Member]) throws {
    let names = members.map(\.name)
    if let lost = try connection.query(
      "SELECT member FROM fuel.member WHERE NOT is_out AND member <> ALL (\(names)) ORDER BY number"
    ).first?.text("member") {
      throw PostgresError.unfit(
        "hub.json5 does not name \(lost), which is a member of this hub: name it, or take it out first "
          + "by bowser hub leave \(lost)")
    }
    let states = members.map { $0.states.map(\.code).joined(separator: ",") }
    let changed = try connection.query(
      """
      WITH wanted AS (
        SELECT name, number, string_to_array(states, ',') AS states
        FROM unnest(\(names)::text[], \(members.map(\.number))::integer[], \(states)::text[])
          AS given (name, number, states)
      ),
      gone AS (DELETE FROM fuel.member WHERE member <> ALL (\(names)) RETURNING 1),
      kept AS (
        INSERT INTO fuel.member AS known (member, number, states) SELECT * FROM wanted
        ON CONFLICT ON CONSTRAINT member_pk DO UPDATE SET number = excluded.number, states = excluded.states
        WHERE (known.number, known.states) IS DISTINCT FROM (excluded.number, excluded.states)
        RETURNING 1
      )
      SELECT FROM gone UNION ALL SELECT FROM kept
      """)
    guard !changed.isEmpty else { return }
    try connection.execute(
      "TRUNCATE fuel.source, fuel.station, fuel.source_day, fuel.present_span, fuel.counted_place CASCADE"
    )
  }

  /// Takes a member out of the hub, or takes it back, as part of the transaction that makes the hub
  /// anew.
  ///
  /// - Throws: where there is no member of that name, or the last one would go.
  package func set(_ name: String, isOut: Bool) throws {
    let others = try connection.query("SELECT member, is_out FROM fuel.member ORDER BY number")
    guard try others.contains(where: { try $0.text("member") == name }) else {
      let known = try others.map { try $0.text("member") }.joined(separator: ", ")
      throw PostgresError.unfit(
        "no member is called \(name)"
          + (known.isEmpty ? ": this is no hub" : "; the members are \(known)"))
    }
    guard
      try !isOut
        || others.contains(where: { try $0.text("member") != name && !$0.boolean("is_out") })
    else {
      throw PostgresError.unfit("\(name) is the last member that is not out: a hub needs one")
    }
    try connection.query("UPDATE fuel.member SET is_out = \(isOut) WHERE member = \(name)")
  }

  /// Gives the views and functions the texts of a hub.
  ///
  /// - Parameter isPlacing: whether it is looked again which member makes which region, for which
  ///   every member that is not out has to answer.
  package func unite(isPlacing: Bool) throws {
    if isPlacing { try connection.execute("SELECT fuel.place_regions()") }
    try connection.execute("SELECT fuel.unite()")
  }

  /// Takes the statistics of members' small tables, without which the planner takes any for equally
  /// small.
  package func analyze() throws {
    try connection.execute(
      "ANALYZE hub.stations, hub.region_stations, hub.current_prices, hub.price_now")
  }

  /// Looks whether each member answers, and fits. Grades are ok, warn and FAIL.
  package func findings() throws -> [(member: String, grade: String, words: String)] {
    try connection.query("SELECT member, finding, words FROM fuel.check_members()").map {
      (try $0.text("member"), try $0.text("finding"), try $0.text("words"))
    }
  }

  /// Copies from all members what the nation is made of, and lists the days that have to be made.
  ///
  /// - Parameters:
  ///   - isRebuild: whether days are made again that no member has made anew.
  ///   - day: the first of them; `nil`: the beginning.
  /// - Returns: the instant up to which all members have made their days.
  package func take(isRebuild: Bool, from day: Day?) throws -> Instant {
    try connection.query(
      """
      SELECT fuel.take_members(
        CASE WHEN \(isRebuild)::boolean THEN coalesce(\(optional: day)::date, '-infinity') END) AS made_until_at
      """
    ).only().instant("made_until_at")
  }
}
