import FuelModel

extension Zone {
  /// Returns the instant of a local hour. The hour must exist exactly once, as all do on most days:
  /// clocks change at 02:00 and 03:00 only.
  func instant(of hour: Int, on day: Day) -> Instant {
    do {
      return try instant(day, hour: hour)
    } catch {
      preconditionFailure("\(day) \(hour):00 is not one instant in \(rawValue)")
    }
  }
}
