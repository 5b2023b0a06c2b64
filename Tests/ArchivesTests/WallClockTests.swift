import FuelModel
import Testing

@testable import Archives

/// F-T08: the forms in which archives write times.
struct WallClockTests {
  private func read(_ text: String) -> String? {
    Array(text.utf8).withUnsafeBufferPointer { WallClock.read($0) }.map { reading in
      "\(Day(sinceEpoch: Int(reading.day))) \(reading.secondOfDay)"
    }
  }

  @Test(arguments: [
    ("2026-04-01 07:49:06", "2026-04-01 28146"),
    ("2026-04-01T07:49:06", "2026-04-01 28146"),
    ("2026-04-01 07:49", "2026-04-01 28140"),
    ("01/04/2020 07:49", "2020-04-01 28140"),
    ("1/04/2020 7:49:06 AM", "2020-04-01 28146"),
    ("31/12/2019 11:55:52 PM", "2019-12-31 86152"),
    // One minute past midnight, and one minute past noon.
    ("1/03/2019 12:01:11 AM", "2019-03-01 71"),
    ("1/03/2019 12:01:11 PM", "2019-03-01 43271"),
    ("05/04/2026", "2026-04-05 0"),
    ("1/07/2023 12:00:00 AM", "2023-07-01 0"),
    // Serial numbers of Excel: days since 1899-12-30, at 00:16:01 and 01:07:32.
    ("45717.011122685188", "2025-03-01 961"),
    ("45717.046898148146", "2025-03-01 4052"),
    ("43282", "2018-07-01 0"),
    // A serial number that rounds up to midnight.
    ("43282.999999999", "2018-07-02 0"),
    ("13/02/2023 06:26", "2023-02-13 23160"),
  ])
  func readsEveryForm(text: String, expected: String) {
    #expect(read(text) == expected)
  }

  @Test(arguments: [
    "", "2026-02-31 00:00:00", "31/02/2026", "2026-13-01", "04/13/2020 10:00", "1/4/20 7:00",
    "2026-04-01 24:00:00", "2026-04-01 12:60", "2026-04-01 12:00:60", "1/04/2020 13:00:00 PM",
    "1/04/2020 0:10:00 AM", "yesterday", "20260401", "2026-04-01 12:00:00Z", "12:00", "99999",
    "45717.", "2026-04-01 12", "1/04/2020 7:49:06 XM", "2026-04-01x",
  ])
  func refusesAnythingElse(text: String) {
    #expect(read(text) == nil)
  }
}
