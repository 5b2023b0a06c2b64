import FuelModel

/// Converts the rows of an archive's files to facts.
struct Engine {
  let format: ArchiveFormat
  let now: Instant

  // MARK: State that lasts from file to file

  private var descriptions = ByteTable()
  private var recordOfDescription: [Int32] = []
  private var recordOfCode: [String: Int32] = [:]
  /// The station code of each record, by the record's number.
  var codes: [String] = []
  private var fuelNumbers = ByteTable()
  /// The offsets of the archive's zone in hours of its clock; `nil` in one that the clocks skipped.
  var clockOffsets: [Int32: Int32?] = [:]
  /// The offsets of the archive's zone in hours of UTC.
  var zoneOffsets: [Int32: Int32] = [:]

  // Values in `fuelNumbers` for names that are not a supported fuel.
  private static let unsupported: Int32 = -1
  private static let unknown: Int32 = -2

  // MARK: State of the current file

  var file = ""
  var rows = 0
  private var position: UInt32 = 0
  private var received = 0
  private var rejectedRows = 0
  private var rejectedBytes = 0
  private var blankRows = 0
  var layout = Layout()
  var encoding = TextEncoding()
  /// The name of the sheet, in a workbook with several.
  var sheet: String?
  /// Whether the days of the sheet are counted from 1904 on.
  private var is1904 = false
  var daysOfMonth: [Int32: UInt32] = [:]
  var isHeaderFound = false
  var seen: [String] = []
  /// What a person should know of the file, for the next batch.
  var warnings: [String] = []

  // MARK: State of the current batch

  private(set) var facts = 0
  /// Facts by local month, and the days on which each description occurs, as bits. The month of the
  /// last row is at the end.
  var months: [(month: Int32, facts: [ArchiveFact], days: [UInt32])] = []
  var newDescriptions: [ArchiveDescription] = []
  var rejects: [Reject] = []
  var receivedInBatch = 0
  var lastHour: Int32 = .min
  var lastOffset: Int32 = 0
  private var scratch: [UInt8] = []
  private var lastMonthDay: (day: Int32, month: Int32, bit: UInt32) = (.min, 0, 0)

  init(format: ArchiveFormat, now: Instant) {
    self.format = format
    self.now = now
  }

  mutating func begin(_ file: String) {
    self.file = file
    position = 0
    received = 0
    rejectedRows = 0
    rejectedBytes = 0
    blankRows = 0
    encoding = TextEncoding()
    warnings = []
    beginSheet(nil, is1904: false)
    clearBatch()
  }

  /// Begins a sheet of the file, which has its own header and its own month.
  mutating func beginSheet(_ name: String?, is1904: Bool) {
    sheet = name
    self.is1904 = is1904
    rows = 0
    layout = Layout()
    daysOfMonth = [:]
    isHeaderFound = false
    seen = []
  }

  mutating func clearBatch() {
    facts = 0
    months = []
    rejects = []
    receivedInBatch = 0
  }

  func refusal(_ reason: String) -> ArchiveRefusal {
    ArchiveRefusal(
      file: file, (sheet.map { "sheet '\($0)': " } ?? "") + reason, received: received)
  }

  // MARK: Rows

  // In most workbooks titles and blank rows precede the header, in some a page of notes.
  static let mostRowsBeforeHeader = 100

  mutating func take(_ record: ArchiveRecord) throws {
    rows += 1
    guard isHeaderFound else {
      if !record.isBlank {
        let names = record.fields.indices.map { Self.folded(record.text($0)) }
        seen.append(names.joined(separator: ", "))
      }
      if try findHeader(record) { return }
      if rows >= Self.mostRowsBeforeHeader { throw unknownLayout() }
      return
    }
    let wasReceived = received
    if record.hasLetters { try readLetters(record) } else { try readJoined(record) }
    if received == wasReceived {
      blankRows += 1
      try check(blankRows, .blankRows)
    }
  }

  /// Refuses a file with more of something than the limit allows.
  private func check(_ count: Int, _ limit: InputLimit) throws {
    guard count <= limit.value else { throw refusal("more than \(limit.value) \(limit.name)") }
  }

  /// Reads a row with letters that are not ASCII.
  private mutating func readLetters(_ record: ArchiveRecord) throws {
    do {
      if let decoded = try encoding.decoded(record) {
        return try decoded.with { try readJoined($0) }
      }
    } catch let fault as TextEncoding.Fault {
      throw refusal("row \(rows): \(fault.words)")
    }
    let isDamaged = layout.read.contains {
      $0 < record.fields.count && TextEncoding.isDamaged(record[$0])
    }
    if isDamaged { try reject(.recordUnreadable, record) } else { try readJoined(record) }
  }

  @inline(__always) private mutating func readJoined(_ record: ArchiveRecord) throws {
    guard !layout.doubles.isEmpty, record.fields.count == layout.fieldCount else {
      return try read(record)
    }
    guard let fields = try joined(record) else { return try turnAway(.recordUnreadable, record) }
    try fields.withUnsafeBufferPointer {
      try read(ArchiveRecord(base: record.base, fields: $0))
    }
  }

  private mutating func read(_ record: ArchiveRecord) throws {
    guard record.fields.count == layout.fieldCount else {
      if record.isBlank { return }
      return try turnAway(.recordUnreadable, record)
    }
    let stamp = record[layout[.stamp]]
    guard stamp.count > 0 else {
      return record.isBlank ? () : try turnAway(.stampUnreadable, record)
    }
    guard layout.fuelColumns.isEmpty else { return try readWide(record, stamp) }
    let fuel = fuelNumber(record[layout[.fuel]])
    guard fuel > 0 else {
      if fuel == Self.unsupported { return try reject(.unsupportedFuel, record) }
      return try turnAway(.unknownFuel, record)
    }
    try store(record, stamp, fuel, record[layout[.price]])
  }

  private mutating func readWide(
    _ record: ArchiveRecord, _ stamp: UnsafeBufferPointer<UInt8>
  ) throws {
    // One reject for the row, and not one for each of its prices.
    if WallClock.read(stamp, is1904: is1904) == nil, try isNoRecord(record) {
      return try reject(.notARecord, record)
    }
    for (column, fuel) in layout.fuelColumns {
      let price = record[column]
      // The cell is empty, or contains a 0 that only fills it.
      if price.isEmpty || format.zeroIsBlank && Self.isZero(price) { continue }
      try store(record, stamp, Int32(fuel.id ?? 0), price)
    }
    if let index = layout.unknown.first(where: { mayBePrice(record[$0]) }) {
      layout.unknown.removeAll { $0 == index }
      warnings.append(
        "column \(index + 1) ('\(layout.names[index])') seems to hold prices of a fuel without a "
          + "known name; they are not read")
    }
  }

  private func mayBePrice(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    WrittenNumber.tenths(text, unit: format.unit).map { Fuel.u91.band.contains(Int32($0)) } ?? false
  }

  static func isZero(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
  }

  mutating func reject(_ reason: Reject.Reason, _ record: ArchiveRecord) throws {
    received += 1
    receivedInBatch += 1
    rejectedRows += 1
    let reject = Reject(reason, raw: record.raw)
    rejectedBytes += reject.raw.utf8.count
    rejects.append(reject)
    try check(rejectedRows, .rejectedRows)
    try check(rejectedBytes, .rejectedBytes)
  }

  private mutating func store(
    _ record: ArchiveRecord, _ stamp: UnsafeBufferPointer<UInt8>, _ fuel: Int32,
    _ priceText: UnsafeBufferPointer<UInt8>
  ) throws {
    guard let clock = WallClock.read(stamp, is1904: is1904), agrees(clock) else {
      return try turnAway(.stampUnreadable, record)
    }
    guard var tenths = WrittenNumber.tenths(priceText, unit: format.unit) else {
      return try turnAway(.priceUnreadable, record)
    }
    if format.notOffered.contains(tenths) {
      tenths = 0
    } else if !bands[Int(fuel)].contains(Int32(tenths)) {
      return try reject(.priceOutOfBand, record)
    }
    guard let (utc, localDay) = times(of: clock) else {
      return try reject(.stampNonexistent, record)
    }
    let seconds = utc - ArchiveFact.epoch
    guard seconds >= 0 else { return try reject(.stampTooOld, record) }
    // A stamp up to ten minutes ahead may come from a fast clock. A price day may begin up to a day
    // ahead. Prices that begin later come from feeds, not from archives.
    guard utc <= now.seconds + horizon else { return try reject(.stampInFuture, record) }
    guard let description = try description(of: record) else {
      return try turnAway(.stationMissing, record)
    }

    received += 1
    receivedInBatch += 1
    position += 1
    facts += 1
    let fact = ArchiveFact(
      record: Int(recordOfDescription[description]), fuel: Int16(fuel), seconds: UInt32(seconds),
      tenths: Int32(tenths), position: position)
    try note(fact, description, localDay: localDay)
  }

  private mutating func note(_ fact: ArchiveFact, _ description: Int, localDay: Int32) throws {
    if localDay != lastMonthDay.day {
      let day = Day(sinceEpoch: Int(localDay))
      lastMonthDay = (localDay, Month(day).number, 1 << UInt32(day.day - 1))
    }
    let (_, month, bit) = lastMonthDay
    if months.last?.month != month {
      if let position = months.firstIndex(where: { $0.month == month }) {
        months.swapAt(position, months.count - 1)
      } else {
        months.append((month, [], []))
        try check(months.count, .months)
        try check(months.count * recordOfDescription.count, .descriptionMonths)
      }
    }
    let last = months.count - 1
    months[last].facts.append(fact)
    while months[last].days.count <= description {
      months[last].days.append(contentsOf: repeatElement(0, count: max(256, description)))
    }
    months[last].days[description] |= bit
  }

  // MARK: Parts of a row

  /// The range of possible prices of each fuel, by its number.
  private let bands: [ClosedRange<Int32>] = {
    var bands = [ClosedRange<Int32>](repeating: 0...0, count: 256)
    for fuel in Fuel.allCases { if let id = fuel.id { bands[Int(id)] = fuel.band } }
    return bands
  }()

  mutating func fuelNumber(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
    if let number = fuelNumbers.value(of: text) { return number }
    let name = String(decoding: text, as: UTF8.self).plain.lowercased()
    let number: Int32 =
      switch format.fuels[name] {
      case .some(.some(let fuel)): Int32(fuel.id ?? 0)
      case .some(.none): Self.unsupported
      case .none: FuelName.fuel(name).map { Int32($0.id ?? 0) } ?? Self.unknown
      }
    fuelNumbers.insert(text, number)
    return number
  }

  // MARK: Stations

  /// Returns the number of the description that a row gives of its station; `nil` where the row
  /// does not identify a station.
  @inline(__always) private mutating func description(of record: ArchiveRecord) throws -> Int? {
    scratch.removeAll(keepingCapacity: true)
    for column in layout.identity {
      scratch.append(contentsOf: record[column])
      // No text in UTF-8 contains this byte.
      scratch.append(0xFF)
    }
    let bytes = scratch
    return try bytes.withUnsafeBufferPointer { try number($0, record) }
  }

  private mutating func number(
    _ bytes: UnsafeBufferPointer<UInt8>, _ record: ArchiveRecord
  ) throws -> Int? {
    if let known = descriptions.value(of: bytes) { return Int(known) }
    guard let station = station(record) else { return nil }
    let number = Int32(recordOfDescription.count)
    let position = recordOfCode[station.code] ?? Int32(recordOfCode.count)
    recordOfCode[station.code] = position
    if Int(position) == codes.count { codes.append(station.code) }
    recordOfDescription.append(position)
    descriptions.insert(bytes, number)
    newDescriptions.append(ArchiveDescription(station: station, record: Int(position)))
    try check(recordOfDescription.count, .descriptions)
    try check(months.count * recordOfDescription.count, .descriptionMonths)
    return Int(number)
  }
}
