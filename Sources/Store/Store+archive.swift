package import FuelModel
import Postgres
import Synchronization

extension Store {
  /// Returns the digests, in hex, of an archive's files or a feed's recordings that were loaded
  /// completely.
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

  /// Records that a file was refused as a whole.
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

/// The stations that the reader of an archive has numbered, with the database's numbers for those
/// that are stored. Loaders that work side by side share one instance.
package final class ArchiveStations: Sendable {
  struct Wording {
    var told: ArchiveWording
    /// The station's number in the database and the digest of the wording: 0 and empty until a file
    /// with the wording is stored.
    var station: Int32 = 0
    var md5: [UInt8] = []
  }

  struct Known {
    var wordings: [Wording] = []
    /// The station's number in the database, for each record.
    var stationIDs: [Int32] = []

    mutating func learn(_ number: Int, station: Int32, md5: [UInt8]) {
      wordings[number].station = station
      wordings[number].md5 = md5
      stationIDs[wordings[number].told.record] = station
    }
  }

  private let known = Mutex(Known())

  package init() {}

  /// Adds the wordings that are new in a piece. Pieces must come in the reader's order.
  package func number(_ piece: ArchivePiece) {
    known.withLock { known in
      for wording in piece.newWordings {
        known.wordings.append(Wording(told: wording))
        while known.stationIDs.count <= wording.record { known.stationIDs.append(0) }
      }
    }
  }

  var snapshot: Known { known.withLock { $0 } }

  /// Makes what one loader has stored known to all loaders. Call it only after the commit.
  func publish(_ learnt: [(number: Int, station: Int32, md5: [UInt8])]) {
    known.withLock { known in
      for (number, station, md5) in learnt { known.learn(number, station: station, md5: md5) }
    }
  }
}

/// Loads the pieces of an archive's files. A file's row in the ledger of runs, its stations and its
/// facts are stored in one transaction, so a file is loaded completely or not at all.
///
/// A loader is owned by one thread at a time, as its connection is.
package final class ArchiveLoader: @unchecked Sendable {
  /// The outcome of loading a file.
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

  private let stations: ArchiveStations
  /// The stations known to all loaders, together with those that the current file has added.
  private var known = ArchiveStations.Known()

  /// The state of the current file; `nil` between two files.
  private var open: Open?

  private struct Open {
    var run: RunID
    var file: String
    var counts = Counts()
    var first = UInt32.max
    var last: UInt32 = 0
    /// When the last price of each local month began, in seconds since 2000-01-01 UTC.
    var months: [Month: UInt32] = [:]
    var payloadBytes = 0
    /// The number of facts that state another price for an instant than an earlier file.
    var contradicting = 0
    /// The number of rejected rows that count against the file.
    var bad = 0
    /// The wordings that were first stored with this file.
    var learnt: [(number: Int, station: Int32, md5: [UInt8])] = []
  }

  package init(
    _ store: Store, source: SourceID, stations: ArchiveStations, now: Instant,
    maxRejectShare: Double
  ) {
    self.store = store
    self.stations = stations
    self.source = source
    self.now = now
    self.maxRejectShare = maxRejectShare
  }

  /// Loads a piece. The last piece of a file commits the file.
  ///
  /// - Returns: the outcome of the file after its last piece, otherwise `nil`.
  /// - Throws: `Refusal` where too many of the file's rows are bad. Nothing of the file is kept
  ///   then.
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

  /// Rolls back everything that the current file has stored.
  package func abandon() {
    guard open != nil else { return }
    store.connection.rollBack()
    // Stations that are rolled back are stored again when another file names them.
    open = nil
  }

  private func begin(_ piece: ArchivePiece, digest: String) throws {
    try connection.begin()
    open = Open(
      run: try store.openRun(source, at: now, kind: .backfill, digest: digest), file: piece.file)
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
    open.counts.duplicate += piece.duplicates
    self.open = open
    try turnAway(piece.rejects)
    try learn(piece)
    let isWhole = piece.isFirst && piece.isLast
    if !isWhole && piece.isFirst { try stage() }
    for (month, facts) in piece.months.sorted(by: { $0.key < $1.key }) {
      note(facts, of: month)
      if isWhole {
        try store(facts, of: month)
      } else {
        try makeMonth(month)
        // Until the file is settled, `run_id` holds each row's place in the file.
        try connection.copy(into: "pg_temp.staged_archive_price", columns: 6) { copy in
          try write(facts, to: &copy, withPlaces: true)
        }
      }
    }
    if !isWhole && piece.isLast { try settle() }
    try keep(piece.sightings)
  }

  private var connection: Connection { store.connection }

  /// Stores rejected rows at once, so that they occupy no memory until the file ends.
  private func turnAway(_ rejects: [Reject]) throws {
    guard var open else { return }
    for reject in rejects {
      open.counts.rejectedByReason[reject.reason.rawValue, default: 0] += 1
      if reject.reason.countsAgainstFeed, reject.reason != .conflictingPrice { open.bad += 1 }
    }
    open.counts.takeExamples(rejects)
    self.open = open
    for begin in stride(from: 0, to: rejects.count, by: 50_000) {
      try store.keep(
        Array(rejects[begin..<min(begin + 50_000, rejects.count)]), of: open.run, at: now)
    }
  }

  // MARK: Stations

  /// Stores the new stations and wordings of a piece. Wordings without a valid price are left out.
  private func learn(_ piece: ArchivePiece) throws {
    known = stations.snapshot
    for (number, station, md5) in open?.learnt ?? [] {
      known.learn(number, station: station, md5: md5)
    }
    let new = Set(piece.sightings.map(\.wording)).filter { known.wordings[$0].md5.isEmpty }
      .sorted()
    guard !new.isEmpty, let run = open?.run else { return }
    func column(_ value: (Station) -> String?) -> [String?] {
      new.map { value(known.wordings[$0].told.station) }
    }
    // Another loader may be adding the same stations. This statement then waits for it, and the
    // next statement sees them.
    try store.connection.query(
      """
      INSERT INTO fuel.station (
        source_id, station_code, state, time_zone, name, brand, address, suburb, postcode,
        latitude, longitude, is_public, first_seen_at)
      SELECT DISTINCT ON (told.station_code)
        \(source)::smallint, told.*, \(now)::timestamptz
      FROM unnest(
        \(column(\.code))::text[], \(column(\.state.code))::text[],
        \(column(\.timeZone.rawValue))::text[], \(column(\.name))::text[],
        \(column(\.brand))::text[], \(column(\.address))::text[], \(column(\.suburb))::text[],
        \(column(\.postcode))::text[],
        \(column { $0.position.map { String($0.latitude) } })::numeric(9, 6)[],
        \(column { $0.position.map { String($0.longitude) } })::numeric(9, 6)[],
        \(column { String($0.isPublic) })::boolean[]
      ) AS told (
        station_code, state, time_zone, name, brand, address, suburb, postcode, latitude,
        longitude, is_public)
      WHERE NOT EXISTS (
        SELECT
        FROM fuel.station
        WHERE station.source_id = \(source) AND station.station_code = told.station_code)
      ORDER BY told.station_code
      ON CONFLICT ON CONSTRAINT station_code_uq DO NOTHING
      """)
    let rows = try store.connection.query(
      """
      WITH worded AS MATERIALIZED (
        SELECT
          told.*,
          station.station_id,
          md5(ROW(
            told.state, told.time_zone, told.name, told.brand, told.address, told.suburb,
            told.postcode, told.latitude, told.longitude, told.is_public)::text)::uuid
            AS wording_md5
        FROM unnest(
          \(column(\.code))::text[], \(column(\.state.code))::text[],
          \(column(\.timeZone.rawValue))::text[], \(column(\.name))::text[],
          \(column(\.brand))::text[], \(column(\.address))::text[], \(column(\.suburb))::text[],
          \(column(\.postcode))::text[],
          \(column { $0.position.map { String($0.latitude) } })::numeric(9, 6)[],
          \(column { $0.position.map { String($0.longitude) } })::numeric(9, 6)[],
          \(column { String($0.isPublic) })::boolean[]
        ) WITH ORDINALITY AS told (
          station_code, state, time_zone, name, brand, address, suburb, postcode, latitude,
          longitude, is_public, place)
        JOIN fuel.station
          ON station.source_id = \(source) AND station.station_code = told.station_code
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
        ORDER BY worded.station_id, worded.wording_md5
        ON CONFLICT DO NOTHING
      )
      SELECT worded.place, worded.station_id, worded.wording_md5
      FROM worded
      ORDER BY worded.place
      """)
    for row in rows {
      let number = new[try row.integer("place") - 1]
      let station = Int32(try row.integer("station_id"))
      let md5 = bytes(ofUUID: try row.text("wording_md5"))
      known.learn(number, station: station, md5: md5)
      open?.learnt.append((number, station, md5))
    }
  }

  private func keep(_ sightings: [ArchivePiece.Sighting]) throws {
    try store.connection.copy(into: "pg_temp.staged_sighting", columns: 4) { copy in
      for sighting in sightings {
        let wording = known.wordings[sighting.wording]
        try copy.beginRow()
        copy.write(wording.station)
        copy.write(bytes: wording.md5)
        copy.write(sighting.month.firstDay)
        copy.write(Int32(bitPattern: sighting.days))
      }
    }
  }

  /// Returns the sixteen bytes of a UUID such as `0f1e…-…`.
  private func bytes(ofUUID text: String) -> [UInt8] {
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    return stride(from: 0, to: digits.count - 1, by: 2).compactMap { position in
      UInt8(String(decoding: digits[position...position + 1], as: UTF8.self), radix: 16)
    }
  }

  // MARK: Facts

  /// Stores one month's facts of a file that came as one piece. A month that the archive does not
  /// have yet gets a table of its own; otherwise the facts are merged with those that are there.
  private func store(_ facts: [ArchiveFact], of month: Month) throws {
    let name = try connection.query(
      """
      SELECT
        fuel.archive_month_name(\(source), \(month.firstDay)) AS name,
        fuel.has_archive_month(\(source), \(month.firstDay)) AS is_there
      """
    ).only()
    guard try name.boolean("is_there") else {
      try connection.query("SELECT fuel.begin_archive_month(\(source), \(month.firstDay))")
      let stored = try connection.copy(intoNew: try name.text("name"), columns: 6) { copy in
        try write(facts, to: &copy)
      }
      open?.counts.stored += stored
      try connection.query("SELECT fuel.attach_archive_month(\(source), \(month.firstDay))")
      return
    }
    try stage()
    try connection.copy(into: "pg_temp.staged_archive_price", columns: 6) { copy in
      try write(facts, to: &copy)
    }
    try merge()
  }

  private func stage() throws {
    try connection.execute(
      "CREATE TEMPORARY TABLE staged_archive_price (LIKE fuel.archive_price) ON COMMIT DROP")
  }

  private func makeMonth(_ month: Month) throws {
    let isThere = try connection.query(
      "SELECT fuel.has_archive_month(\(source), \(month.firstDay)) AS is_there"
    ).only().boolean("is_there")
    guard !isThere else { return }
    try connection.query("SELECT fuel.begin_archive_month(\(source), \(month.firstDay))")
    try connection.query("SELECT fuel.attach_archive_month(\(source), \(month.firstDay))")
  }

  /// Merges the staged facts into the archive.
  private func merge() throws {
    try connection.execute("ANALYZE pg_temp.staged_archive_price")
    let merged = try connection.query(
      """
      SELECT
        stored, contradicting,
        (SELECT count(*) FROM pg_temp.staged_archive_price) AS staged
      FROM fuel.merge_archive_prices(\(open?.run ?? RunID(number: 0)), \(source))
      """
    ).only()
    let stored = try merged.integer("stored")
    open?.contradicting += try merged.integer("contradicting")
    open?.counts.stored += stored
    open?.counts.unchanged += try merged.integer("staged") - stored
    try connection.execute("DROP TABLE pg_temp.staged_archive_price")
  }

  /// Settles what no single piece can see: which price of a station, fuel and second comes last in
  /// the whole file. That one is kept. Of the others, repetitions count as duplicates and different
  /// prices are rejected.
  private func settle() throws {
    var rejects: [Reject] = []
    for row in try connection.query("SELECT * FROM fuel.settle_archive_prices()") {
      if try row.boolean("is_repeated") {
        open?.counts.duplicate += 1
      } else {
        let told = Observation(
          stationCode: try row.text("station_code"),
          fuel: Fuel(rawValue: try row.text("fuel")) ?? .unmapped("?"),
          price: Price(tenths: try row.integer("price_tenths")),
          effectiveAt: try row.instant("effective_at"))
        rejects.append(Reject(.conflictingPrice, raw: told.asText))
      }
    }
    try turnAway(rejects)
    try merge()
  }

  private func note(_ facts: [ArchiveFact], of month: Month) {
    guard var open else { return }
    var last: UInt32 = 0
    for fact in facts {
      open.first = min(open.first, fact.seconds)
      last = max(last, fact.seconds)
    }
    open.last = max(open.last, last)
    open.months[month] = max(open.months[month] ?? 0, last)
    self.open = open
  }

  /// Returns the range of each record's facts, sorted by the stations' numbers: the order of the
  /// table's key.
  private func runs(of facts: [ArchiveFact]) -> [Range<Int>] {
    var runs: [(station: Int32, range: Range<Int>)] = []
    var begin = 0
    while begin < facts.count {
      let record = facts[begin].record
      var end = begin + 1
      while end < facts.count, facts[end].record == record { end += 1 }
      runs.append((known.stationIDs[record], begin..<end))
      begin = end
    }
    return runs.sorted { $0.station < $1.station }.map(\.range)
  }

  /// Writes rows of `fuel.archive_price` in the binary form of COPY. Every column has a fixed
  /// position, so each row is a copy of one model in which four numbers are changed.
  ///
  /// - Parameter withPlaces: whether a fifth number is changed: `run_id` then holds the row's place
  ///   in the file instead of the run.
  private func write(
    _ facts: [ArchiveFact], to copy: inout BinaryCopy, withPlaces: Bool = false
  ) throws {
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
    append(Int32(open.run.number))  // 46: run_id
    try model.withUnsafeMutableBytes { row in
      for run in runs(of: facts) {
        let station = known.stationIDs[facts[run.lowerBound].record]
        row.storeBytes(of: station.bigEndian, toByteOffset: 6, as: Int32.self)
        for fact in facts[run] {
          row.storeBytes(of: fact.fuel.bigEndian, toByteOffset: 14, as: Int16.self)
          row.storeBytes(
            of: (Int64(fact.seconds) * 1_000_000).bigEndian, toByteOffset: 26, as: Int64.self)
          row.storeBytes(of: fact.tenths.bigEndian, toByteOffset: 38, as: Int32.self)
          if withPlaces {
            row.storeBytes(
              of: Int32(truncatingIfNeeded: fact.place).bigEndian, toByteOffset: 46, as: Int32.self)
          }
          try copy.writeRow(encoded: UnsafeRawBufferPointer(row))
        }
      }
    }
  }

  // MARK: End

  private func finish() throws -> Loaded {
    guard var open else { preconditionFailure("an end without a beginning") }
    try checkRejects(open)
    if open.contradicting > 0 {
      open.counts.oddities.append(
        "\(open.contradicting) prices contradict those of another file; the higher counts")
    }
    let first = open.last == 0 ? nil : Instant(seconds: ArchiveFact.epoch + Int64(open.first))
    let last = open.last == 0 ? nil : Instant(seconds: ArchiveFact.epoch + Int64(open.last))
    if let first, let last {
      let months = open.months.sorted { $0.key < $1.key }
      try connection.query(
        """
        SELECT fuel.finish_backfill(
          \(source), \(first), \(last), \(months.map(\.key.firstDay)),
          \(months.map { Instant(seconds: ArchiveFact.epoch + Int64($0.value)) }),
          \(open.counts.stored > 0))
        """)
    }
    try connection.query(
      """
      UPDATE fuel.run SET
        finished_at = \(now),
        taken_at = coalesce(\(optional: last)::timestamptz, \(now)::timestamptz),
        outcome = \(open.counts.stored > 0 ? "stored" : "unchanged"),
        documents = \([open.file]),
        describes_stations = \(!open.learnt.isEmpty),
        payload_bytes = \(open.payloadBytes),
        received = \(open.counts.received),
        stored = \(open.counts.stored),
        unchanged = \(open.counts.unchanged),
        duplicate = \(open.counts.duplicate),
        rejected = \(open.counts.rejected),
        rejected_by_reason = \(try store.jsonText(open.counts.rejectedByReason))::jsonb,
        warnings = \(open.counts.warnings)
      WHERE run_id = \(open.run)
      """)
    try connection.execute("DROP TABLE pg_temp.staged_sighting")
    try store.numberChange(open.run)
    try connection.commit()
    stations.publish(open.learnt)
    self.open = nil
    return Loaded(run: open.run, counts: open.counts, first: first, last: last)
  }

  private func checkRejects(_ open: Open) throws {
    guard open.counts.received > 0 else { throw Refusal("a header and no rows") }
    guard open.bad > 5, Double(open.bad) > maxRejectShare * Double(open.counts.received) else {
      return
    }
    let conflicts = Reject.Reason.conflictingPrice.rawValue
    let worst = open.counts.rejectedByReason.filter {
      $0.key != conflicts && Reject.Reason(rawValue: $0.key)?.countsAgainstFeed ?? true
    }
    .max { ($0.value, $1.key) < ($1.value, $0.key) }
    let example = worst.flatMap { open.counts.examples[$0.key] } ?? ""
    throw Refusal(
      "\(open.bad) of \(open.counts.received) rows are bad, most of them \(worst?.key ?? "unknown"), "
        + "such as: \(example.prefix(200))")
  }
}
