package import FuelModel
import Postgres

extension Store {
  /// The digests of the files of an archive, or of the recordings of a feed, that were loaded to the
  /// end.
  package func loadedDigests(of source: String) throws -> Set<String> {
    let rows = try connection.query(
      """
      SELECT DISTINCT encode(run.content_digest, 'hex') AS digest
      FROM fuel.run
      JOIN fuel.source USING (source_id)
      WHERE source.source = \(source)
        AND run.content_digest IS NOT NULL
        AND run.outcome IN ('stored', 'unchanged')
      """)
    return Set(try rows.map { try $0.text("digest") })
  }

  /// Writes down that a file was turned away as a whole.
  package func refuseFile(
    _ file: String, digest: String, of source: SourceID, received: Int, reason: String,
    at now: Instant
  ) throws {
    try connection.query(
      """
      INSERT INTO fuel.run (
        source_id, started_at, finished_at, outcome, is_complete, describes_stations, documents,
        payload_bytes, requests, received, stored, unchanged, duplicate, rejected,
        rejected_by_reason, flagged, kind, content_digest, error)
      VALUES (
        \(source), \(now), \(now), 'refused', false, false, \([file]), 0, 0, \(received), 0, 0, 0,
        \(received), jsonb_build_object('file_refused', \(received)::integer), 0, 'backfill',
        decode(\(digest), 'hex'), \(String(reason.prefix(1_000))))
      """)
  }
}

/// Loads the pieces of an archive's files. A file, its entry in the list of runs, its stations and its
/// facts are one transaction, so that a file is loaded to the end or not at all.
package final class ArchiveLoader {
  /// What became of a file's records.
  package struct Loaded: Sendable {
    package var run: RunID
    package var counts: Counts
    package var first: Instant?
    package var last: Instant?
  }

  private let store: Store
  private let source: SourceID
  private let now: Instant
  private let maxRejectShare: Double

  /// The station number of each record and the digest of each wording, by the reader's numbers.
  private var stationIDs: [Int32] = []
  private var codes: [String] = []
  private var wordings: [(told: ArchiveWording, station: Int32, md5: String)] = []

  /// What the file under way has come to.
  private var open: Open?

  private struct Open {
    var run: RunID
    var counts = Counts()
    var facts = 0
    var first = UInt32.max
    var last: UInt32 = 0
    var fuels: Set<Int16> = []
    var payloadBytes = 0
    var rejects: [Reject] = []
    /// Wordings that were made known with it.
    var learnt: [Int] = []
  }

  package init(_ store: Store, source: SourceID, now: Instant, maxRejectShare: Double) {
    self.store = store
    self.source = source
    self.now = now
    self.maxRejectShare = maxRejectShare
  }

  /// Loads a piece; the last one of a file commits it.
  ///
  /// - Returns: what became of the file, once it is whole.
  /// - Throws: `Refusal` where too many of its rows are bad; nothing of the file is kept then.
  package func load(_ piece: ArchivePiece, digest: String) throws -> Loaded? {
    do {
      if piece.isFirst { try begin(piece, digest: digest) }
      try add(piece)
      return piece.isLast ? try finish() : nil
    } catch {
      abandon()
      throw error
    }
  }

  /// Takes back what a file has come to.
  package func abandon() {
    guard let open else { return }
    store.connection.rollBack()
    // Stations that went with the transaction are made again when a later file names them.
    for number in open.learnt { wordings[number].md5 = "" }
    self.open = nil
  }

  private func begin(_ piece: ArchivePiece, digest: String) throws {
    let connection = store.connection
    try connection.begin()
    let row = try connection.query(
      """
      INSERT INTO fuel.run (
        source_id, started_at, outcome, is_complete, describes_stations, documents, payload_bytes,
        requests, received, stored, unchanged, duplicate, rejected, rejected_by_reason, flagged,
        kind, content_digest)
      VALUES (
        \(source), \(now), 'running', false, false, \([piece.file]), 0, 0, 0, 0, 0, 0, 0, '{}', 0,
        'backfill', decode(\(digest), 'hex'))
      RETURNING run_id
      """
    ).only()
    open = Open(run: RunID(number: try row.integer("run_id")))
    try connection.execute(
      """
      CREATE TEMPORARY TABLE staged_sighting (
        station_id  integer NOT NULL,
        wording_md5 uuid    NOT NULL,
        month       date    NOT NULL,
        days        integer NOT NULL
      ) ON COMMIT DROP
      """)
  }

  private func add(_ piece: ArchivePiece) throws {
    guard var open else { preconditionFailure("a piece without a beginning") }
    open.payloadBytes += piece.bytes
    for reject in piece.rejects {
      open.counts.rejectedByReason[reject.reason.rawValue, default: 0] += 1
    }
    open.rejects += piece.rejects
    open.facts += piece.received - piece.rejects.count
    self.open = open
    try learn(piece)
    for (month, facts) in piece.months.sorted(by: { $0.key < $1.key }) {
      try store(facts, of: month, isWhole: piece.isFirst && piece.isLast)
    }
    try keep(piece.sightings)
  }

  // MARK: Stations

  /// Makes the stations and wordings of a piece known, those that came to something.
  private func learn(_ piece: ArchivePiece) throws {
    for wording in piece.newWordings {
      wordings.append((wording, 0, ""))
      while stationIDs.count <= wording.record {
        stationIDs.append(0)
        codes.append("")
      }
      codes[wording.record] = wording.station.code
    }
    let new = Set(piece.sightings.map(\.wording)).filter { wordings[$0].md5.isEmpty }.sorted()
    guard !new.isEmpty, let run = open?.run else { return }
    open?.learnt += new
    func column(_ value: (Station) -> String?) -> [String?] {
      new.map { value(wordings[$0].told.station) }
    }
    let rows = try store.connection.query(
      """
      WITH told AS MATERIALIZED (
        SELECT told.*
        FROM unnest(
          \(column(\.code))::text[], \(column(\.state.rawValue))::text[],
          \(column(\.timeZone.rawValue))::text[], \(column(\.name))::text[],
          \(column(\.brand))::text[], \(column(\.address))::text[], \(column(\.suburb))::text[],
          \(column(\.postcode))::text[],
          \(column { $0.position.map { String($0.latitude) } })::numeric(9, 6)[],
          \(column { $0.position.map { String($0.longitude) } })::numeric(9, 6)[],
          \(column { $0.isPublic.sqlText })::boolean[]
        ) WITH ORDINALITY AS told (
          station_code, state, time_zone, name, brand, address, suburb, postcode, latitude,
          longitude, is_public, place)
      ),
      added AS (
        INSERT INTO fuel.station (
          source_id, station_code, state, time_zone, name, brand, address, suburb, postcode,
          latitude, longitude, is_public, first_seen_at)
        SELECT DISTINCT ON (told.station_code)
          \(source)::smallint, told.station_code, told.state, told.time_zone, told.name,
          told.brand, told.address, told.suburb, told.postcode, told.latitude, told.longitude,
          told.is_public, \(now)::timestamptz
        FROM told
        WHERE NOT EXISTS (
          SELECT
          FROM fuel.station
          WHERE station.source_id = \(source) AND station.station_code = told.station_code)
        ORDER BY told.station_code, told.place
        RETURNING station_id, station_code
      ),
      record AS (
        SELECT added.station_id, added.station_code FROM added
        UNION ALL
        SELECT station.station_id, station.station_code
        FROM fuel.station
        WHERE station.source_id = \(source)
          AND station.station_code IN (SELECT told.station_code FROM told)
      ),
      worded AS MATERIALIZED (
        SELECT
          told.*,
          record.station_id,
          md5(ROW(
            told.state, told.time_zone, told.name, told.brand, told.address, told.suburb,
            told.postcode, told.latitude, told.longitude, told.is_public)::text)::uuid
            AS wording_md5
        FROM told
        JOIN record USING (station_code)
      ),
      described AS (
        INSERT INTO fuel.station_description (
          station_id, wording_md5, state, time_zone, name, brand, address, suburb, postcode,
          latitude, longitude, is_public, run_id, first_seen_at, last_seen_at)
        SELECT DISTINCT ON (worded.station_id, worded.wording_md5)
          worded.station_id, worded.wording_md5, worded.state, worded.time_zone, worded.name,
          worded.brand, worded.address, worded.suburb, worded.postcode, worded.latitude,
          worded.longitude, worded.is_public, \(run)::integer, \(now)::timestamptz,
          \(now)::timestamptz
        FROM worded
        ON CONFLICT DO NOTHING
      )
      SELECT worded.place, worded.station_id, worded.wording_md5
      FROM worded
      ORDER BY worded.place
      """)
    for row in rows {
      let number = new[try row.integer("place") - 1]
      let station = Int32(try row.integer("station_id"))
      stationIDs[wordings[number].told.record] = station
      wordings[number].station = station
      wordings[number].md5 = try row.text("wording_md5")
    }
  }

  private func keep(_ sightings: [ArchivePiece.Sighting]) throws {
    try store.connection.query(
      """
      INSERT INTO pg_temp.staged_sighting (station_id, wording_md5, month, days)
      SELECT seen.station_id, seen.wording_md5, seen.month, bit_or(seen.days)
      FROM unnest(
        \(sightings.map { Optional(String(wordings[$0.wording].station)) })::integer[],
        \(sightings.map { Optional(wordings[$0.wording].md5) })::uuid[],
        \(sightings.map { Optional($0.month.firstDay) })::date[],
        \(sightings.map { Optional(String($0.days)) })::integer[]
      ) AS seen (station_id, wording_md5, month, days)
      GROUP BY seen.station_id, seen.wording_md5, seen.month
      """)
  }

  // MARK: Facts

  /// Stores the facts of one month: into a table of its own where it is new and whole, else beside
  /// what is there.
  private func store(_ facts: [ArchiveFact], of month: Month, isWhole: Bool) throws {
    let sorted = settled(facts)
    let connection = store.connection
    let first = month.firstDay
    let name = try connection.query(
      """
      SELECT
        fuel.archive_month_name(\(source), \(first)) AS name,
        fuel.has_archive_month(\(source), \(first)) AS is_there
      """
    ).only()
    let isThere = try name.boolean("is_there")
    if !isThere { try connection.query("SELECT fuel.begin_archive_month(\(source), \(first))") }
    if isWhole && !isThere {
      let stored = try connection.copy(intoNew: try name.text("name"), columns: 6) { copy in
        try write(sorted, to: &copy)
      }
      open?.counts.stored += stored
      try connection.query("SELECT fuel.attach_archive_month(\(source), \(first))")
      return
    }
    if !isThere { try connection.query("SELECT fuel.attach_archive_month(\(source), \(first))") }
    try connection.execute(
      "CREATE TEMPORARY TABLE staged_archive_price (LIKE fuel.archive_price) ON COMMIT DROP")
    try connection.copy(into: "pg_temp.staged_archive_price", columns: 6) { copy in
      try write(sorted, to: &copy)
    }
    try connection.execute("ANALYZE pg_temp.staged_archive_price")
    let stored = try connection.query(
      "SELECT fuel.merge_archive_prices(\(open?.run ?? RunID(number: 0)), \(source)) AS stored"
    ).only().integer("stored")
    try connection.execute("DROP TABLE pg_temp.staged_archive_price")
    open?.counts.stored += stored
    open?.counts.unchanged += sorted.count - stored
  }

  /// Facts by the order of the table's key, each once. Of several prices of one station and fuel in one
  /// second the last of the file counts, because corrections follow what they correct.
  private func settled(_ facts: [ArchiveFact]) -> [ArchiveFact] {
    var sorted = facts
    stationIDs.withUnsafeBufferPointer { stations in
      for position in sorted.indices {
        let fact = sorted[position]
        sorted[position].key =
          UInt64(UInt32(bitPattern: stations[fact.record])) << 40 | fact.key & 0xFF_FFFF_FFFF
      }
    }
    sorted.sort { ($0.key, $0.place) < ($1.key, $1.place) }
    guard var open else { return sorted }
    var kept = 0
    var begin = 0
    while begin < sorted.count {
      var end = begin + 1
      while end < sorted.count, sorted[end].key == sorted[begin].key { end += 1 }
      let last = sorted[end - 1]
      if end - begin > 1 {
        // Each other price is one that was corrected; what is left repeats one of them.
        let others = Set(sorted[begin..<end].map(\.tenths)).subtracting([last.tenths]).sorted()
        open.counts.duplicate += end - begin - 1 - others.count
        for tenths in others {
          var fact = last
          fact.tenths = tenths
          open.counts.rejectedByReason[Reject.Reason.conflictingPrice.rawValue, default: 0] += 1
          open.rejects.append(Reject(.conflictingPrice, raw: text(fact)))
        }
      }
      sorted[kept] = last
      kept += 1
      begin = end
    }
    sorted.removeLast(sorted.count - kept)
    for fact in sorted {
      open.first = min(open.first, fact.seconds)
      open.last = max(open.last, fact.seconds)
      open.fuels.insert(fact.fuel)
    }
    self.open = open
    return sorted
  }

  /// A fact whose record is a station's number already, as it is kept among rejects.
  private func text(_ fact: ArchiveFact) -> String {
    let record = stationIDs.firstIndex(of: Int32(fact.record)) ?? 0
    let fuel = Fuel.allCases.first { $0.id == fact.fuel }
    return Observation(
      stationCode: codes[record], fuel: fuel ?? .unmapped("?"),
      price: Price(tenths: Int(fact.tenths)), effectiveAt: fact.effectiveAt
    ).asText
  }

  /// The rows of `fuel.archive_price` in the binary form of COPY: every column has a fixed place, so
  /// that one row is a copy of a model with four numbers changed.
  private func write(_ facts: [ArchiveFact], to copy: inout BinaryCopy) throws {
    guard let open else { return }
    var model: [UInt8] = []
    func append(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.bigEndian) { model.append(contentsOf: $0) }
    }
    append(Int16(6))
    append(Int32(4))
    append(Int32(0))  // 6: station_id
    append(Int32(2))
    append(Int16(0))  // 14: fuel_id
    append(Int32(2))
    append(source.number)
    append(Int32(8))
    append(Int64(0))  // 26: effective_at, microseconds since 2000
    append(Int32(4))
    append(Int32(0))  // 38: price_tenths
    append(Int32(4))
    append(Int32(open.run.number))
    try model.withUnsafeMutableBytes { row in
      for fact in facts {
        row.storeBytes(of: Int32(fact.record).bigEndian, toByteOffset: 6, as: Int32.self)
        row.storeBytes(of: fact.fuel.bigEndian, toByteOffset: 14, as: Int16.self)
        row.storeBytes(
          of: (Int64(fact.seconds) * 1_000_000).bigEndian, toByteOffset: 26, as: Int64.self)
        row.storeBytes(of: fact.tenths.bigEndian, toByteOffset: 38, as: Int32.self)
        try copy.writeRow(encoded: UnsafeRawBufferPointer(row))
      }
    }
  }

  // MARK: End

  private func finish() throws -> Loaded {
    guard let open else { preconditionFailure("an end without a beginning") }
    try checkRejects(open)
    let connection = store.connection
    let first = open.last == 0 ? nil : Instant(seconds: ArchiveFact.epoch + Int64(open.first))
    let last = open.last == 0 ? nil : Instant(seconds: ArchiveFact.epoch + Int64(open.last))
    if let first, let last {
      let fuels = open.counts.stored > 0 ? open.fuels.sorted() : []
      try connection.query(
        """
        SELECT fuel.finish_backfill(
          \(source), \(first), \(last), nullif(\(fuels)::smallint[], '{}'), \(now))
        """)
    }
    try store.keep(open.rejects, of: open.run, at: now)
    try connection.query(
      """
      UPDATE fuel.run SET
        finished_at = \(now),
        taken_at = coalesce(\(optional: last)::timestamptz, \(now)::timestamptz),
        outcome = \(open.counts.stored > 0 ? "stored" : "unchanged"),
        describes_stations = \(!open.learnt.isEmpty),
        payload_bytes = \(open.payloadBytes),
        received = \(open.counts.received),
        stored = \(open.counts.stored),
        unchanged = \(open.counts.unchanged),
        duplicate = \(open.counts.duplicate),
        rejected = \(open.counts.rejected),
        rejected_by_reason = \(store.jsonText(open.counts.rejectedByReason))::jsonb
      WHERE run_id = \(open.run)
      """)
    try connection.execute("DROP TABLE pg_temp.staged_sighting")
    try connection.commit()
    self.open = nil
    var counts = open.counts
    counts.takeExamples(open.rejects)
    return Loaded(run: open.run, counts: counts, first: first, last: last)
  }

  private func checkRejects(_ open: Open) throws {
    let bad = open.rejects.count { $0.reason.countsAgainstFeed && $0.reason != .conflictingPrice }
    guard bad > 5, Double(bad) > maxRejectShare * Double(open.counts.received) else { return }
    let reasons = Dictionary(open.rejects.map { ($0.reason.rawValue, 1) }, uniquingKeysWith: +)
    let worst = reasons.max { ($0.value, $1.key) < ($1.value, $0.key) }
    let example = open.rejects.first { $0.reason.rawValue == worst?.key }?.raw ?? ""
    throw Refusal(
      "\(bad) of \(open.counts.received) rows are bad, most of them \(worst?.key ?? "unknown"), "
        + "such as: \(example.prefix(200))")
  }
}
