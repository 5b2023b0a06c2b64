import Simulator
import Testing

@testable import Timeline

/// Days of a station as they are stored.
struct StationDayTests {
  /// Days are read back as they were written, and consecutive equal days are written once.
  @Test(arguments: 0..<40)
  func daysComeBackAsTheyWereWritten(seed: Int) {
    var random = Random(seed: UInt64(seed), "days")
    var days: [StationDay] = []
    var runs = 0
    for _ in 0..<(1 + Int(random.next() % 31)) {
      if let last = days.last, random.chance(0.6) {
        days.append(last)
        continue
      }
      let low = Int32(random.next() % 5_000)
      let day = StationDay(
        standing: random.chance(0.9) ? .known : .stale, mean: (low + 1) * 65_536 - 1, low: low,
        high: low + 4_999, last: low + 7, seconds: random.chance(0.9) ? 86_400 : 90_000)
      if day != days.last { runs += 1 }
      days.append(day)
    }
    let bytes = StationDay.bytes(of: days)
    #expect(bytes.count == 16 * runs)
    #expect(bytes.withUnsafeBytes { StationDay.days(from: $0) } == days)
  }
}
