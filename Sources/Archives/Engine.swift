import FuelModel

/// Converts the rows of an archive's files to facts.
struct Engine {
  let format: ArchiveFormat
  let now: Instant
  /// Called with the number of the price column once the header is found.
  var whenHeaderIsFound: (Int) -> Void = { _ in }

  // MARK: State that lasts from file to file

  private var descriptions = ByteTable()
  private var recordOfDescription: [Int32] = []
  private var recordOfCode: [String: Int32] = [:]
  /// The station code of each record, by the record's number.
  var codes: [String] = []
  private var fuelNumbers = ByteTable()
  private var clockOffsets: [Int32: ClockOffset] = [:]

  private enum ClockOffset {
    case seconds(Int32)
    case nonexistent
  }

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
  /// The columns of the file by `ArchiveFormat.Column`; -1 where the file has no such column.
  var columns: [Int] = []
  var fuelColumns: [(column: Int, fuel: Fuel)] = []
  var fieldCount = 0
  var identity: [Int] = []
  var identityIsOneSpan = false
  var daysOfMonth: [Int32: UInt32] = [:]
  var isHeaderFound = false
  var seen: [String] = []

  // MARK: State of the current batch

  private(set) var facts = 0
  /// Facts by local month, and the days on which each description occurs, as bits. The month of the
  /// last row is at the end.
  var months: [(month: Int32, facts: [ArchiveFact], days: [UInt32])] = []
  var newDescriptions: [ArchiveDescription] = []
  var rejects: [Reject] = []
  var receivedInBatch = 0
  private var lastHour: Int32 = .min
  private var lastOffset: Int32 = 0
  private var scratch: [UInt8] = []
  private var lastMonthDay: (day: Int32, month: Int32, bit: UInt32) = (.min, 0, 0)

  init(format: ArchiveFormat, now: Instant) {
    self.format = format
    self.now = now
  }

  mutating func begin(_ file: String) {
    self.file = file
    rows = 0
    position = 0
    received = 0
    rejectedRows = 0
    rejectedBytes = 0
    blankRows = 0
    columns = []
    fuelColumns = []
    daysOfMonth = [:]
    isHeaderFound = false
    seen = []
    clearBatch()
  }

  mutating func clearBatch() {
    facts = 0
    months = []
    rejects = []
    receivedInBatch = 0
  }

  func refusal(_ reason: String) -> ArchiveRefusal {
    ArchiveRefusal(file: file, reason, received: received)
  }

  // MARK: Rows

  // In most workbooks, titles and blank rows precede the header.
  private static let mostRowsBeforeHeader = 20

  mutating func take(_ record: ArchiveRecord) throws {
    rows += 1
    guard isHeaderFound else {
      if try findHeader(record) { return }
      if rows >= Self.mostRowsBeforeHeader { throw unknownLayout() }
      return
    }
    let wasReceived = received
    read(record)
    if received == wasReceived { blankRows += 1 }
    if rejectedRows > mostRejected || rejectedBytes > mostRejectedBytes || blankRows > mostBlank
      || months.count > mostMonths || recordOfDescription.count > mostDescriptions
      || months.count * recordOfDescription.count > mostDescriptionMonths
    {
      throw beyondLimit()
    }
  }

  // Read once, because every row is checked against these limits.
  private let mostRejected = InputLimit.rejectedRows.value
  private let mostRejectedBytes = InputLimit.rejectedBytes.value
  private let mostBlank = InputLimit.blankRows.value
  private let mostMonths = InputLimit.months.value
  private let mostDescriptions = InputLimit.descriptions.value
  private let mostDescriptionMonths = InputLimit.descriptionMonths.value

  private func beyondLimit() -> ArchiveRefusal {
    let counts: [(Int, InputLimit)] = [
      (rejectedRows, .rejectedRows), (rejectedBytes, .rejectedBytes), (blankRows, .blankRows),
      (months.count, .months), (recordOfDescription.count, .descriptions),
      (months.count * recordOfDescription.count, .descriptionMonths),
    ]
    let limit = counts.first { $0.0 > $0.1.value }?.1 ?? .rejectedRows
    return refusal("more than \(limit.value) \(limit.name)")
  }

  private mutating func read(_ record: ArchiveRecord) {
    guard record.fields.count == fieldCount else {
      if record.isBlank { return }
      // Workbooks omit empty cells at the end of a row; text files do not.
      return reject(.recordUnreadable, record)
    }
    let stamp = record[columns[ArchiveFormat.Column.stamp.rawValue]]
    guard stamp.count > 0 else {
      return record.isBlank ? () : reject(.stampUnreadable, record)
    }
    guard fuelColumns.isEmpty else { return readWide(record, stamp) }
    let fuel = fuelNumber(record[columns[ArchiveFormat.Column.fuel.rawValue]])
    guard fuel > 0 else {
      return reject(fuel == Self.unsupported ? .unsupportedFuel : .unknownFuel, record)
    }
    store(record, stamp, fuel, record[columns[ArchiveFormat.Column.price.rawValue]])
  }

  private mutating func readWide(
    _ record: ArchiveRecord, _ stamp: UnsafeBufferPointer<UInt8>
  ) {
    for (column, fuel) in fuelColumns {
      let price = record[column]
      // The cell is empty, or contains a 0 that only fills it.
      if price.isEmpty || format.zeroIsBlank && Self.isZero(price) { continue }
      store(record, stamp, Int32(fuel.id ?? 0), price)
    }
  }

  private static func isZero(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") }
  }

  private mutating func reject(_ reason: Reject.Reason, _ record: ArchiveRecord) {
    received += 1
    receivedInBatch += 1
    rejectedRows += 1
    let reject = Reject(reason, raw: record.raw)
    rejectedBytes += reject.raw.utf8.count
    rejects.append(reject)
  }

  private mutating func store(
    _ record: ArchiveRecord, _ stamp: UnsafeBufferPointer<UInt8>, _ fuel: Int32,
    _ priceText: UnsafeBufferPointer<UInt8>
  ) {
    guard let clock = WallClock.read(stamp) else { return reject(.stampUnreadable, record) }
    guard var tenths = Self.tenths(priceText, unit: format.unit) else {
      return reject(.priceUnreadable, record)
    }
    if format.notOffered.contains(tenths) {
      tenths = 0
    } else if !bands[Int(fuel)].contains(Int32(tenths)) {
      return reject(.priceOutOfBand, record)
    }
    guard let (utc, localDay) = times(of: clock) else { return reject(.stampNonexistent, record) }
    let seconds = utc - ArchiveFact.epoch
    guard seconds >= 0 else { return reject(.stampTooOld, record) }
    // A stamp up to ten minutes ahead may come from a fast clock. A price day may begin up to a day
    // ahead. Prices that begin later come from feeds, not from archives.
    guard utc <= now.seconds + horizon else { return reject(.stampInFuture, record) }
    guard let description = description(of: record) else { return reject(.stationMissing, record) }

    received += 1
    receivedInBatch += 1
    position += 1
    facts += 1
    let fact = ArchiveFact(
      record: Int(recordOfDescription[description]), fuel: Int16(fuel), seconds: UInt32(seconds),
      tenths: Int32(tenths), position: position)
    note(fact, description, localDay: localDay)
  }

  /// Returns the second in UTC that a stamp means, and its local day; `nil` where the clocks skipped
  /// that hour.
  @inline(__always) private mutating func times(
    of clock: WallClock.Reading
  ) -> (utc: Int64, localDay: Int32)? {
    let midnight = Int64(clock.day) * 86_400
    switch format.stamp {
    case .utc:
      let utc = midnight + Int64(clock.secondOfDay)
      return (utc, Int32((utc + Int64(offset(ofUTC: utc))) / 86_400))
    case .wallClock:
      guard let offset = offset(of: clock.day, second: clock.secondOfDay) else { return nil }
      return (midnight + Int64(clock.secondOfDay) - Int64(offset), clock.day)
    case .day(_, let hour):
      guard let offset = offset(of: clock.day, second: Int32(hour * 3600)) else { return nil }
      return (midnight + Int64(hour * 3600) - Int64(offset), clock.day)
    }
  }

  private var horizon: Int64 {
    if case .day = format.stamp { return 86_400 }
    return 600
  }

  private mutating func note(_ fact: ArchiveFact, _ description: Int, localDay: Int32) {
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

  private mutating func fuelNumber(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
    if let number = fuelNumbers.value(of: text) { return number }
    let name = String(decoding: text, as: UTF8.self).plain.lowercased()
    let number: Int32 =
      switch format.fuels[name] {
      case .some(.some(let fuel)): Int32(fuel.id ?? 0)
      case .some(.none): Self.unsupported
      case .none: Self.unknown
      }
    fuelNumbers.insert(text, number)
    return number
  }

  /// Reads a price in tenths of a cent. A further decimal other than zero makes it unreadable,
  /// unless it is a rounding error of Excel.
  private static func tenths(
    _ text: UnsafeBufferPointer<UInt8>, unit: ArchiveFormat.Unit
  ) -> Int? {
    var value = 0
    var position = 0
    while position < text.count, position < 7, (0x30...0x39).contains(text[position]) {
      value = value * 10 + Int(text[position] - 0x30)
      position += 1
    }
    guard position > 0 else { return nil }
    var decimals = 0
    var rest: UInt64 = 0
    if position < text.count {
      guard text[position] == UInt8(ascii: ".") else { return nil }
      position += 1
      while position < text.count {
        guard (0x30...0x39).contains(text[position]), decimals < 18 else { return nil }
        rest = rest * 10 + UInt64(text[position] - 0x30)
        decimals += 1
        position += 1
      }
      guard decimals > 0 else { return nil }
    }
    let wanted = unit == .cents ? 1 : 0
    if unit == .cents { value *= 10 }
    guard decimals > 0 else { return value }
    var scale: UInt64 = 1
    for _ in wanted..<max(decimals, wanted) { scale *= 10 }
    if decimals < wanted { return value }
    let whole = rest / scale
    let remainder = rest % scale
    if remainder == 0 { return value + Int(whole) }
    // Excel writes 162.7 as 162.69999999999999. With eight decimals or more, a value within a
    // millionth of a step (a tenth of a cent) is taken for that step.
    guard decimals >= 8 else { return nil }
    if remainder < scale / 1_000_000 { return value + Int(whole) }
    if scale - remainder < scale / 1_000_000 { return value + Int(whole) + 1 }
    return nil
  }

  /// Returns the seconds east of Greenwich in a local hour; `nil` where the clocks skipped the
  /// hour. Where the clocks show an hour twice, the first one counts.
  @inline(__always) private mutating func offset(of day: Int32, second: Int32) -> Int32? {
    let hour = day * 24 + second / 3600
    if hour == lastHour { return lastOffset }
    let found: ClockOffset
    if let known = clockOffsets[hour] {
      found = known
    } else {
      do {
        let instant = try format.zone.instant(Day(sinceEpoch: Int(day)), hour: Int(second / 3600))
        found = .seconds(Int32(Int64(hour) * 3600 - instant.seconds))
      } catch {
        switch error {
        case .nonexistent: found = .nonexistent
        case .twice(let first, _): found = .seconds(Int32(Int64(hour) * 3600 - first.seconds))
        }
      }
      clockOffsets[hour] = found
    }
    guard case .seconds(let seconds) = found else { return nil }
    lastHour = hour
    lastOffset = seconds
    return seconds
  }

  /// Returns the seconds east of Greenwich at an instant in UTC.
  private mutating func offset(ofUTC utc: Int64) -> Int32 {
    let hour = Int32(utc / 3600)
    if case .seconds(let known)? = clockOffsets[hour] { return known }
    let offset = Int32(format.zone.offset(at: Instant(seconds: Int64(hour) * 3600)))
    clockOffsets[hour] = .seconds(offset)
    return offset
  }

  // MARK: Stations

  /// Returns the number of the description that a row gives of its station; `nil` where the row
  /// does not identify a station.
  @inline(__always) private mutating func description(of record: ArchiveRecord) -> Int? {
    if identityIsOneSpan, let first = identity.min(), let last = identity.max() {
      let start = Int(record.fields[first].start)
      let end = Int(record.fields[last].start + record.fields[last].count)
      // Cells that were filled from the row above lie elsewhere in the row's bytes.
      if end > start, end - start < 2_000 {
        return number(UnsafeBufferPointer(start: record.base + start, count: end - start), record)
      }
    }
    scratch.removeAll(keepingCapacity: true)
    for column in identity {
      scratch.append(contentsOf: record[column])
      scratch.append(0)
    }
    let bytes = scratch
    return bytes.withUnsafeBufferPointer { number($0, record) }
  }

  private mutating func number(
    _ bytes: UnsafeBufferPointer<UInt8>, _ record: ArchiveRecord
  ) -> Int? {
    if let known = descriptions.value(of: bytes) { return Int(known) }
    guard let station = station(record) else { return nil }
    let number = Int32(recordOfDescription.count)
    let position = recordOfCode[station.code] ?? Int32(recordOfCode.count)
    recordOfCode[station.code] = position
    if Int(position) == codes.count { codes.append(station.code) }
    recordOfDescription.append(position)
    descriptions.insert(bytes, number)
    newDescriptions.append(ArchiveDescription(station: station, record: Int(position)))
    return Int(number)
  }
}
