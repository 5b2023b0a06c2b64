package import FuelModel

/// A station's prices for one fuel over one price day.
package struct StationDay: Sendable, Equatable {
  /// Whether the day has a price, or why it has none. Averages count the stations that are left out
  /// by this.
  package enum Standing: Int16, Sendable {
    /// Nothing was reported.
    case unknown = 0
    /// A price is believed for at least part of the day.
    case known = 1
    /// Prices were reported, and every one is doubtful.
    case doubtful = 2
    /// A price was reported, but is too old to believe.
    case stale = 3
  }

  package var standing: Standing
  /// The mean over the time for which a price is believed, in 65,536ths of a tenth of a cent. It is
  /// a whole number, so that sums are the same in any order.
  package var mean: Int32
  /// The lowest, the highest and the last price, in tenths of a cent.
  package var low: Int32
  package var high: Int32
  package var last: Int32
  /// The number of seconds of the day for which a price is believed.
  package var seconds: Int32

  package static let unknown = StationDay(
    standing: .unknown, mean: 0, low: 0, high: 0, last: 0, seconds: 0)
  /// The unit of `mean`: the number of parts into which a tenth of a cent is divided.
  package static let fraction = 65_536.0

  /// Returns the share of a day for which a price is believed, in 65,536ths.
  ///
  /// - Parameter length: the length of the day, in microseconds.
  func share(of length: Int64) -> Int64 {
    Int64((min(1, Double(seconds) / (Double(length) / 1_000_000)) * Self.fraction).rounded())
  }
}

// MARK: As bytes

extension StationDay {
  /// The number of bytes that one sequence of equal days takes in `fuel.station_month`.
  private static let size = 16

  /// Returns days as `fuel.days_of` reads them. For each sequence of equal days: their number, then
  /// standing, mean, low, high, last and seconds. Numbers are big-endian.
  package static func bytes(of days: [StationDay]) -> [UInt8] {
    Array(unsafeUninitializedCapacity: days.count * size) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for (position, day) in days.enumerated() {
        // One byte is enough for the number of days, because a month has at most 31.
        if position > 0, day == days[position - 1] {
          bytes[count - size] += 1
          continue
        }
        bytes[count] = 1
        bytes[count + 1] = UInt8(truncatingIfNeeded: day.standing.rawValue)
        bytes.storeBytes(of: day.mean.bigEndian, toByteOffset: count + 2, as: Int32.self)
        bytes.storeBytes(of: Int16(day.low).bigEndian, toByteOffset: count + 6, as: Int16.self)
        bytes.storeBytes(of: Int16(day.high).bigEndian, toByteOffset: count + 8, as: Int16.self)
        bytes.storeBytes(of: Int16(day.last).bigEndian, toByteOffset: count + 10, as: Int16.self)
        bytes.storeBytes(of: day.seconds.bigEndian, toByteOffset: count + 12, as: Int32.self)
        count += size
      }
    }
  }

  /// Reads days back from the bytes that `bytes(of:)` makes.
  package static func days(from bytes: UnsafeRawBufferPointer) -> [StationDay] {
    var days: [StationDay] = []
    days.reserveCapacity(31)
    for at in stride(from: 0, to: bytes.count - size + 1, by: size) {
      func number<Number: FixedWidthInteger>(_: Number.Type, _ offset: Int) -> Number {
        Number(bigEndian: bytes.loadUnaligned(fromByteOffset: at + offset, as: Number.self))
      }
      let day = StationDay(
        standing: Standing(rawValue: Int16(bytes[at + 1])) ?? .unknown, mean: number(Int32.self, 2),
        low: Int32(number(Int16.self, 6)), high: Int32(number(Int16.self, 8)),
        last: Int32(number(Int16.self, 10)), seconds: number(Int32.self, 12))
      for _ in 0..<bytes[at] { days.append(day) }
    }
    return days
  }
}

/// The sums over the parts of spans that fall into one day: prices times microseconds, and
/// microseconds.
private struct Sum {
  var weighted: Int64 = 0
  var lasting: Int64 = 0
  var low = Int32.max
  var high = Int32.min
  var last: Int32 = 0
  var isDoubted = false
  var isStale = false
}

/// Cuts the validity spans of a station and fuel into price days.
///
/// - Parameters:
///   - spans: in order of time, each ending at its `until` as it is believed now.
///   - days: the price days of the station's state.
///   - countsFrom: the instant from which the prices of a source count.
/// - Returns: one station day for each price day.
package func stationDays(
  of spans: some Sequence<Span>, in days: [PriceCalendar.PriceDay],
  countsFrom: (Int16) -> Instant = { _ in .distantPast }
) -> [StationDay] {
  var sums = Array(repeating: Sum(), count: days.count)
  for span in spans {
    let counts = countsFrom(span.sourceID)
    forEachPart(from: max(span.from, counts), until: span.until, in: days) { day, from, until in
      var lasting = until.microseconds - from.microseconds
      if let doubt = span.doubt {
        let doubted = min(until, doubt.until).microseconds - max(from, doubt.from).microseconds
        if doubted > 0 {
          sums[day].isDoubted = true
          lasting -= doubted
        }
      }
      guard lasting > 0 else { return }
      sums[day].weighted += Int64(span.price) * lasting
      sums[day].lasting += lasting
      sums[day].low = min(sums[day].low, span.price)
      sums[day].high = max(sums[day].high, span.price)
      sums[day].last = span.price
    }
    forEachPart(from: max(span.until, counts), until: span.lapsesAt, in: days) { day, _, _ in
      sums[day].isStale = true
    }
  }
  return sums.map { sum in
    guard sum.lasting > 0 else {
      var day = StationDay.unknown
      day.standing = sum.isDoubted ? .doubtful : sum.isStale ? .stale : .unknown
      return day
    }
    return StationDay(
      standing: .known,
      mean: Int32((Double(sum.weighted) / Double(sum.lasting) * StationDay.fraction).rounded()),
      low: sum.low, high: sum.high, last: sum.last,
      seconds: Int32((Double(sum.lasting) / 1_000_000).rounded()))
  }
}

/// Calls `body` for each part of an interval that falls into a price day, with the position of the
/// day and the beginning and end of the part.
@inline(__always)
private func forEachPart(
  from begin: Instant, until end: Instant, in days: [PriceCalendar.PriceDay],
  _ body: (Int, Instant, Instant) -> Void
) {
  guard begin < end, let first = days.first?.beginsAt, end > first else { return }
  // Days are 23 to 25 hours long, so the estimate by days of 24 hours is at most one day too late.
  let ahead = max(0, begin.microseconds - first.microseconds)
  var day = max(0, min(days.count - 1, Int(ahead / 86_400_000_000)) - 1)
  while day < days.count, days[day].beginsAt < end {
    let from = max(begin, days[day].beginsAt)
    let until = min(end, days[day].endsAt)
    if from < until { body(day, from, until) }
    day += 1
  }
}
