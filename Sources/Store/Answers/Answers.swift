package import FuelModel
import Postgres
package import Timeline
import Views

/// A kept answer, as the ledger describes it now.
package struct KeptAnswer: Sendable {
  package var run: RunID
  package var takenAt: Instant
  /// When its documents were fetched.
  package var learntAt: Instant
  package var kind: Answer.Kind
  /// Whether what it states counts.
  package var counts: Bool
  /// Whether it stands for all that the feed had stated before answers were kept.
  package var isAdopted: Bool

  package init(
    run: RunID, takenAt: Instant, learntAt: Instant, kind: Answer.Kind, counts: Bool,
    isAdopted: Bool = false
  ) {
    self.run = run
    self.takenAt = takenAt
    self.learntAt = learntAt
    self.kind = kind
    self.counts = counts
    self.isAdopted = isAdopted
  }
}

/// How the facts of a feed change.
package struct FactChanges: Sendable {
  package var new: [Fact]
  package var gone: [Fact]
  /// The answers among which they change.
  package var answers: [KeptAnswer]

  package init(new: [Fact], gone: [Fact] = [], answers: [KeptAnswer]) {
    self.new = new
    self.gone = gone
    self.answers = answers
  }

  package var isEmpty: Bool { new.isEmpty && gone.isEmpty }

  /// Returns how many prices of a run no run had stated under the same stamp.
  package func news(of run: RunID) -> Int {
    func line(_ fact: Fact) -> Answer.Line {
      Answer.Line(pair: fact.pair, stamp: fact.at, tenths: fact.tenths)
    }
    let known = Set(gone.lazy.filter { $0.kind == .price }.map(line))
    return new.count {
      $0.kind == .price && $0.run == run.number && !known.contains(line($0))
    }
  }

  /// The answer of each fact, by the number of its run.
  var answersByRun: [Int: KeptAnswer] {
    Dictionary(answers.map { ($0.run.number, $0) }) { first, _ in first }
  }

  /// The station records and fuels whose spans change, and from when on.
  var windows: [Window] {
    let answers = answersByRun
    return new.map { Window(pair: $0.pair, from: $0.at) }
      + gone.map { Window(pair: $0.pair, from: min($0.at, answers[$0.run]?.takenAt ?? $0.at)) }
  }
}

/// The answers of feeds, kept whole, and the facts that follow from them.
package struct Answers {
  let store: Store
  var connection: Connection { store.connection }
}

/// The kept answers of feeds: `fuel.answer`.
extension Answers {
  // A full answer is stored after so many differences, so that few rows are read for any answer.
  private static let mostDifferences = 24

  /// Keeps what an answer states, as the difference from the newest answer with the same documents.
  ///
  /// - Parameter known: lines of answers that have been read already.
  package func keep(
    _ lines: [Answer.Line], of run: RunID, source: SourceID, documents: [String],
    known: inout [RunID: [Answer.Line]]
  ) throws {
    let base = try connection.query(
      """
      SELECT answer.run_id, answer.depth
      FROM fuel.run
      JOIN fuel.answer USING (run_id)
      WHERE run.source_id = \(source) AND run.documents = \(documents)::text[] AND run.run_id < \(run)
      ORDER BY run.run_id DESC
      LIMIT 1
      """
    ).first.map { (run: RunID(number: try $0.integer("run_id")), depth: try $0.integer("depth")) }
    var (stored, depth, named) = (lines, 0, Int?.none)
    if let base, base.depth < Self.mostDifferences {
      if known[base.run] == nil { known[base.run] = try self.lines(of: [base.run])[base.run] }
      let difference = lines.difference(from: known[base.run] ?? [])
      if difference.count < lines.count {
        (stored, depth, named) = (difference, base.depth + 1, base.run.number)
      }
    }
    try connection.query(
      """
      INSERT INTO fuel.answer (run_id, base_run_id, depth, station_ids, fuel_ids, stamps, tenths)
      VALUES (
        \(run), \(optional: named), \(depth), \(stored.map(\.pair.stationID))::integer[],
        \(stored.map(\.pair.fuelID))::smallint[], \(stored.map(\.stamp))::timestamptz[],
        \(stored.map(\.tenths))::integer[])
      """)
    known[run] = lines
  }

  /// Reads what answers state.
  package func lines(of runs: some Collection<RunID>) throws -> [RunID: [Answer.Line]] {
    guard !runs.isEmpty else { return [:] }
    var read: [RunID: [Answer.Line]] = [:]
    // A base has a smaller number than the answers that are stored as differences from it.
    try connection.copy(
      from: """
        WITH RECURSIVE chain AS (
          SELECT answer.run_id, answer.base_run_id
          FROM fuel.answer
          WHERE answer.run_id = ANY (\(runs.map(\.number))::integer[])
          UNION
          SELECT base.run_id, base.base_run_id
          FROM chain
          JOIN fuel.answer AS base ON base.run_id = chain.base_run_id
        )
        SELECT
          answer.run_id, coalesce(answer.base_run_id, 0), answer.station_ids, answer.fuel_ids, answer.stamps,
          answer.tenths
        FROM chain
        JOIN fuel.answer USING (run_id)
        ORDER BY answer.run_id
        """
    ) { row in
      let run = RunID(number: Int(try row.int32()))
      let base = RunID(number: Int(try row.int32()))
      var (count, stations) = try row.elements()
      var (fuels, stamps, tenths) = (
        try row.elements().row, try row.elements().row, try row.elements().row
      )
      var lines: [Answer.Line] = []
      lines.reserveCapacity(count)
      while count > 0 {
        lines.append(
          Answer.Line(
            pair: Pair(stationID: try stations.int32(), fuelID: try fuels.int16()),
            stamp: try stamps.instant(), tenths: try tenths.int32()))
        count -= 1
      }
      read[run] = base.number == 0 ? lines : (read[base] ?? []).applying(lines)
    }
    return read
  }

  /// Returns the kept answers of a feed from the newest complete list before `from` to the oldest one
  /// after `until`, in the order in which they are taken. Where there is no such list, they begin
  /// with the first answer, or end with the last.
  package func answers(
    of source: SourceID, from: Instant, until: Instant
  ) throws -> [KeptAnswer] {
    try connection.query(
      """
      SELECT run_id, taken_at, learnt_at, kind, counts, is_adopted
      FROM fuel.kept_answer
      WHERE source_id = \(source)
        AND taken_at >= coalesce((
          SELECT list.taken_at
          FROM fuel.run AS list
          JOIN fuel.answer USING (run_id)
          WHERE list.source_id = \(source) AND list.is_complete AND list.taken_at < \(from)
          ORDER BY list.taken_at DESC
          LIMIT 1
        ), '-infinity')
        AND taken_at <= coalesce((
          SELECT list.taken_at
          FROM fuel.run AS list
          JOIN fuel.answer USING (run_id)
          WHERE list.source_id = \(source) AND list.is_complete AND list.taken_at > \(until)
          ORDER BY list.taken_at
          LIMIT 1
        ), 'infinity')
      ORDER BY taken_at, run_id
      """
    ).map(answer)
  }

  /// Returns kept answers of a feed that were taken at an instant or later: `count` of them if there
  /// are so many, and all of the instant of the last.
  ///
  /// - Returns: also the instant from which on the next ones are; `nil` where none is left.
  package func answers(
    of source: SourceID, after instant: Instant, atMost count: Int
  ) throws -> (answers: [KeptAnswer], next: Instant?) {
    let answers = try connection.query(
      """
      SELECT *
      FROM (
        SELECT run_id, taken_at, learnt_at, kind, counts, is_adopted
        FROM fuel.kept_answer
        WHERE source_id = \(source) AND taken_at >= \(instant)
        ORDER BY taken_at
        FETCH FIRST (\(count)::bigint) ROWS WITH TIES
      ) AS part
      ORDER BY taken_at, run_id
      """
    ).map(answer)
    return (answers, answers.count < count ? nil : answers.last?.takenAt.after(1))
  }

  /// Returns the kept answers of a feed that report any of some price days.
  package func answers(of source: SourceID, about days: [Instant]) throws -> [KeptAnswer] {
    try connection.query(
      """
      SELECT run_id, taken_at, learnt_at, kind, counts, is_adopted
      FROM fuel.kept_answer
      WHERE source_id = \(source) AND told_days && \(days)::timestamptz[]
      ORDER BY taken_at, run_id
      """
    ).map(answer)
  }

  private func answer(_ row: Row) throws -> KeptAnswer {
    guard let kind = Answer.Kind(rawValue: try row.integer("kind")) else {
      throw PostgresError.unexpectedResult("an answer of no known kind")
    }
    return KeptAnswer(
      run: RunID(number: try row.integer("run_id")), takenAt: try row.instant("taken_at"),
      learntAt: try row.instant("learnt_at"), kind: kind, counts: try row.boolean("counts"),
      isAdopted: try row.boolean("is_adopted"))
  }

  /// Returns the price days that runs report, by their beginnings; `nil` where their feed does not
  /// report prices of whole days.
  package func days(toldBy runs: [RunID], of source: SourceID) throws -> [Instant]? {
    let rows = try connection.query(
      """
      SELECT DISTINCT source.tells_whole_days, told.day
      FROM fuel.source
      LEFT JOIN fuel.run
        ON run.source_id = source.source_id AND run.run_id = ANY (\(runs.map(\.number))::integer[])
      LEFT JOIN LATERAL unnest(run.told_days) AS told (day) ON true
      WHERE source.source_id = \(source)
      """)
    guard try rows.first?.boolean("tells_whole_days") ?? false else { return nil }
    return try rows.compactMap { try $0.optionalInstant("day") }
  }
}

/// The facts that follow from answers: `fuel.price` and `fuel.listing`.
extension Answers {
  /// Reads the stored facts of runs.
  package func facts(of runs: [RunID], source: SourceID) throws -> Set<Fact> {
    guard !runs.isEmpty else { return [] }
    var facts: Set<Fact> = []
    try connection.copy(
      from: """
        SELECT 0::smallint, station_id, fuel_id, effective_at, price_tenths, run_id
        FROM fuel.price
        WHERE run_id = ANY (\(runs.map(\.number))::integer[]) AND source_id = \(source)
        UNION ALL
        SELECT
          CASE WHEN is_listed THEN 1 WHEN is_proof THEN 2 ELSE 3 END::smallint, station_id, fuel_id, changed_at, 0, run_id
        FROM fuel.listing
        WHERE run_id = ANY (\(runs.map(\.number))::integer[]) AND source_id = \(source)
        """
    ) { row in
      let kind = Evidence.Kind(rawValue: try row.int16()) ?? .price
      let pair = Pair(stationID: try row.int32(), fuelID: try row.int16())
      let at = try row.instant()
      let tenths = try row.int32()
      facts.insert(
        Fact(kind: kind, pair: pair, at: at, tenths: tenths, run: Int(try row.int32())))
    }
    return facts
  }

  /// Stores the new facts of a feed, and deletes those that are gone.
  package func write(_ changes: FactChanges, of source: SourceID) throws {
    let (facts, gone) = (changes.new, changes.gone)
    let answers = changes.answersByRun
    if !gone.isEmpty {
      try connection.query(
        """
        SELECT fuel.drop_facts(
          \(source), \(gone.map { Int16($0.kind == .price ? 0 : 1) })::smallint[],
          \(gone.map(\.pair.stationID))::integer[], \(gone.map(\.pair.fuelID))::smallint[],
          \(gone.map(\.at))::timestamptz[], \(gone.map(\.tenths))::integer[],
          \(gone.map(\.run))::integer[])
        """)
    }
    let prices = facts.filter { $0.kind == .price }
    if !prices.isEmpty {
      try store.spans.ensure(years: Set(prices.map(\.at.utc.day.year)))
      try connection.copy(
        into:
          "fuel.price (station_id, fuel_id, source_id, effective_at, price_tenths, run_id, learnt_at)",
        columns: 7
      ) { copy in
        for fact in prices {
          try copy.beginRow()
          copy.write(fact.pair.stationID)
          copy.write(fact.pair.fuelID)
          copy.write(source.number)
          copy.write(fact.at.sinceMillennium)
          copy.write(fact.tenths)
          copy.write(Int32(fact.run))
          copy.write((answers[fact.run]?.learntAt ?? fact.at).sinceMillennium)
        }
      }
    }
    guard prices.count < facts.count else { return }
    try connection.copy(
      into:
        "fuel.listing (station_id, fuel_id, source_id, changed_at, is_listed, is_proof, run_id)",
      columns: 7
    ) { copy in
      for fact in facts where fact.kind != .price {
        try copy.beginRow()
        copy.write(fact.pair.stationID)
        copy.write(fact.pair.fuelID)
        copy.write(source.number)
        copy.write(fact.at.sinceMillennium)
        copy.write(fact.kind == .listed)
        copy.write(fact.kind != .unseen)
        copy.write(Int32(fact.run))
      }
    }
  }
}
