import FuelModel

/// Which instant a stamp means.
extension Engine {
  /// Returns the second in UTC that a stamp means, and its local day; `nil` where the clocks skipped
  /// that hour.
  @inline(__always) mutating func times(
    of clock: WallClock.Reading
  ) -> (utc: Int64, localDay: Int32)? {
    let midnight = Int64(clock.day) * 86_400
    switch format.stamp {
    case .utc:
      let utc = midnight + Int64(clock.secondOfDay)
      return (utc, Int32((utc + Int64(offset(ofUTC: utc))) / 86_400))
    case .wallClock:
      // A stated offset decides which of two hours is meant.
      let stated = clock.offset
      guard let offset = stated ?? offset(of: clock.day, second: clock.secondOfDay) else {
        return nil
      }
      return (midnight + Int64(clock.secondOfDay) - Int64(offset), clock.day)
    case .day(_, let hour):
      guard let offset = offset(of: clock.day, second: Int32(hour * 3600)) else { return nil }
      return (midnight + Int64(hour * 3600) - Int64(offset), clock.day)
    }
  }

  /// Whether the offset that a stamp states, if any, is that of its column's clock at that time.
  mutating func agrees(_ clock: WallClock.Reading) -> Bool {
    guard let stated = clock.offset else { return true }
    if case .utc = format.stamp { return stated == 0 }
    let utc = Int64(clock.day) * 86_400 + Int64(clock.secondOfDay) - Int64(stated)
    return offset(ofUTC: utc) == stated
  }

  var horizon: Int64 {
    if case .day = format.stamp { return 86_400 }
    return 600
  }

  /// Returns the seconds east of Greenwich in a local hour; `nil` where the clocks skipped the
  /// hour. Where the clocks show an hour twice, the first one counts.
  @inline(__always) private mutating func offset(of day: Int32, second: Int32) -> Int32? {
    let hour = day * 24 + second / 3600
    if hour == lastHour { return lastOffset }
    let found: Int32?
    if let known = clockOffsets[hour] {
      found = known
    } else {
      let first: Instant?
      do {
        first = try format.zone.instant(Day(sinceEpoch: Int(day)), hour: Int(second / 3600))
      } catch .twice(let instant, _) {
        first = instant
      } catch {
        first = nil
      }
      found = first.map { Int32(Int64(hour) * 3600 - $0.seconds) }
      clockOffsets[hour] = .some(found)
    }
    guard let found else { return nil }
    lastHour = hour
    lastOffset = found
    return found
  }

  /// Returns the seconds east of Greenwich at an instant in UTC.
  private mutating func offset(ofUTC utc: Int64) -> Int32 {
    let hour = Int32(utc / 3600)
    if let known = zoneOffsets[hour] { return known }
    let offset = Int32(format.zone.offset(at: Instant(seconds: Int64(hour) * 3600)))
    zoneOffsets[hour] = offset
    return offset
  }
}
