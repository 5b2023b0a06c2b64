import FuelModel

extension Zone {
  /// The instant of an hour that always exists once: clocks change at 02:00 and 03:00 only.
  func instant(of hour: Int, on day: Day) -> Instant {
    do {
      return try instant(day, hour: hour)
    } catch {
      preconditionFailure("\(day) \(hour):00 is not one instant in \(rawValue)")
    }
  }
}
