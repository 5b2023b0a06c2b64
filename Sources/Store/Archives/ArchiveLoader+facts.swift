import FuelModel
import Postgres
import Views

/// The prices of an archive, by local month.
extension ArchiveLoader {
  /// Stores one month's facts of a file that came as one batch. A month that the archive does not
  /// have yet gets a table of its own; otherwise the facts are merged with those that are there.
  func store(_ facts: [ArchiveFact], of month: Month) throws {
    let name = try connection.query(
      "SELECT fuel.begin_archive_month(\(source), \(month.firstDay)) AS name"
    ).only().optional("name")
    if let name {
      let stored = try connection.copy(intoNew: name, columns: 6) { copy in
        try write(facts, to: &copy)
      }
      current?.counts.stored += stored
      try connection.query("SELECT fuel.attach_archive_month(\(source), \(month.firstDay))")
      return
    }
    try stage()
    try connection.copy(into: "pg_temp.staged_archive_price", columns: 6) { copy in
      try write(facts, to: &copy)
    }
    try merge()
  }

  func stage() throws {
    try connection.execute(
      "CREATE TEMPORARY TABLE staged_archive_price (LIKE fuel.archive_price) ON COMMIT DROP")
  }

  func makeMonth(_ month: Month) throws {
    try connection.query(
      """
      SELECT fuel.attach_archive_month(\(source), \(month.firstDay))
      FROM fuel.begin_archive_month(\(source), \(month.firstDay)) AS name
      WHERE name IS NOT NULL
      """)
  }

  /// Merges the staged facts into the archive.
  private func merge() throws {
    try connection.execute("ANALYZE pg_temp.staged_archive_price")
    let merged = try connection.query(
      """
      SELECT
        stored, contradicting,
        (SELECT count(*) FROM pg_temp.staged_archive_price) AS staged
      FROM fuel.merge_archive_prices(\(current?.run ?? RunID(number: 0)), \(source))
      """
    ).only()
    let stored = try merged.integer("stored")
    current?.contradicting += try merged.integer("contradicting")
    current?.counts.stored += stored
    current?.counts.unchanged += try merged.integer("staged") - stored
    try connection.execute("DROP TABLE pg_temp.staged_archive_price")
  }

  /// Decides what no single batch can see: which price of a station, fuel and second comes last in
  /// the whole file. That one is kept. Of the others, repetitions count as duplicates and different
  /// prices are rejected.
  func decide() throws {
    var rejects: [Reject] = []
    for row in try connection.query("SELECT * FROM fuel.decide_archive_prices()") {
      if try row.boolean("is_repeated") {
        current?.counts.duplicate += 1
      } else {
        let observation = Observation(
          stationCode: try row.text("station_code"),
          fuel: Fuel(rawValue: try row.text("fuel")) ?? .unmapped("?"),
          price: Price(tenths: try row.integer("price_tenths")),
          effectiveAt: try row.instant("effective_at"))
        rejects.append(Reject(.conflictingPrice, raw: observation.asText))
      }
    }
    try keepRejects(rejects)
    try merge()
  }

  func note(_ facts: [ArchiveFact], of month: Month) {
    guard var current else { return }
    var last: UInt32 = 0
    for fact in facts {
      current.first = min(current.first, fact.seconds)
      last = max(last, fact.seconds)
    }
    current.last = max(current.last, last)
    current.months[month] = max(current.months[month] ?? 0, last)
    self.current = current
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
  /// - Parameter withPositions: whether a fifth number is changed: `run_id` then holds the row's
  ///   position in the file instead of the run.
  func write(
    _ facts: [ArchiveFact], to copy: inout BinaryCopy, withPositions: Bool = false
  ) throws {
    guard let current else { return }
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
    append(Int32(current.run.number))  // 46: run_id
    try model.withUnsafeMutableBytes { row in
      for run in runs(of: facts) {
        let station = known.stationIDs[facts[run.lowerBound].record]
        row.storeBytes(of: station.bigEndian, toByteOffset: 6, as: Int32.self)
        for fact in facts[run] {
          row.storeBytes(of: fact.fuel.bigEndian, toByteOffset: 14, as: Int16.self)
          row.storeBytes(
            of: (Int64(fact.seconds) * 1_000_000).bigEndian, toByteOffset: 26, as: Int64.self)
          row.storeBytes(of: fact.tenths.bigEndian, toByteOffset: 38, as: Int32.self)
          if withPositions {
            row.storeBytes(
              of: Int32(truncatingIfNeeded: fact.position).bigEndian, toByteOffset: 46,
              as: Int32.self)
          }
          try copy.writeRow(encoded: UnsafeRawBufferPointer(row))
        }
      }
    }
  }
}
