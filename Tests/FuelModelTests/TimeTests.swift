import Foundation
import FuelModel
import Testing

struct TimeTests {
  /// F-T08: every listed form is read.
  @Test(arguments: [
    ("2022-11-12T07:26:03.49", "2022-11-12T07:26:03.490000Z"),
    ("2022-11-12T07:26:03.5", "2022-11-12T07:26:03.500000Z"),
    ("2022-11-13T22:46:00", "2022-11-13T22:46:00Z"),
    ("2022-11-13T22:46:00Z", "2022-11-13T22:46:00Z"),
    ("2026-03-26T00:00:00+08:00", "2026-03-25T16:00:00Z"),
    ("2026-07-02 23:57:01.498+00", "2026-07-02T23:57:01.498000Z"),
    ("20260702T235701Z", "2026-07-02T23:57:01Z"),
    ("2024-02-29T23:59:59.123456Z", "2024-02-29T23:59:59.123456Z"),
    ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"),
  ])
  func readsISO(text: String, expected: String) {
    #expect(Instant(iso: text, assumingUTC: true)?.description == expected)
  }

  /// F-T07, F-T10: a stamp that is not fully understood is refused, and no date is assumed.
  @Test(arguments: [
    "", "2022-11-12", "2022-13-01T00:00:00", "2022-02-31T00:00:00", "2023-02-29T00:00:00",
    "2022-11-12T24:00:00", "2022-11-12T23:60:00", "2022-11-12T23:59:60", "2022-11-12T07:26:03.",
    "2022-11-12T07:26:03.1234567", "2022-11-12T07:26:03 EST", "2022-11-12T07:26:03AEST",
    "12/11/2022 07:26:03", "2022-11-1207:26:03", "２022-11-12T07:26:03",
  ])
  func refusesOtherStamps(text: String) {
    #expect(Instant(iso: text, assumingUTC: true) == nil)
  }

  /// F-T09: zone data count as missing where Sydney is unknown, and where its clocks never change.
  /// A run then ends with 78. No test takes the data away from a run, because they are a part of
  /// the platform's libraries.
  @Test func missingZoneDataAreNoticed() {
    #expect(!Zone.isComplete(nil))
    #expect(!Zone.isComplete(TimeZone(secondsFromGMT: 36_000)))
    #expect(!Zone.isComplete(TimeZone(secondsFromGMT: 39_600)))
    #expect(Zone.isDataPresent)
  }

  @Test func aStampWithoutZoneIsOnlyUTCWhereTheFeedSaysSo() {
    #expect(Instant(iso: "2022-11-12T07:26:03") == nil)
  }

  @Test func dayComesFirstInFuelCheck() {
    #expect(Instant(dayFirstUTC: "01/07/2026 20:20:27")?.description == "2026-07-01T20:20:27Z")
    for text in [
      "1/07/2026 20:20:27", "31/02/2026 00:00:00", "01/07/2026 20:20", "2026-07-01 20:20:27",
    ] {
      #expect(Instant(dayFirstUTC: text) == nil)
    }
  }

  @Test func midnightIsTwelveInTheMorning() {
    #expect(Instant(iso: "2026-07-02T00:05:00Z")?.twelveHourUTC == "02/07/2026 12:05:00 AM")
    #expect(Instant(iso: "2026-07-02T12:00:00Z")?.twelveHourUTC == "02/07/2026 12:00:00 PM")
    #expect(Instant(iso: "2026-07-02T23:59:09Z")?.twelveHourUTC == "02/07/2026 11:59:09 PM")
  }

  /// The calendar agrees with Foundation's over almost four centuries.
  @Test func daysAgreeWithFoundation() {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    for number in stride(from: -60_000, to: 80_000, by: 37) {
      let day = Day(sinceEpoch: number)
      let parts = calendar.dateComponents(
        [.year, .month, .day, .weekday], from: Date(timeIntervalSince1970: Double(number) * 86_400))
      #expect(day.year == parts.year && day.month == parts.month && day.day == parts.day)
      #expect((day.weekday + 1) % 7 + 1 == parts.weekday)
      #expect(Day(day.description) == day)
    }
  }

  /// F-T04, F-Z11: a local time that clocks skip is refused in each zone. No other code converts
  /// local times to instants.
  @Test(arguments: [
    (Zone.sydney, 2), (.melbourne, 2), (.hobart, 2), (.adelaide, 2), (.brokenHill, 2),
    (.lordHowe, 2),
  ])
  func springGapHasNoInstant(zone: Zone, hour: Int) throws {
    let day = try #require(Day("2026-10-04"))
    #expect(throws: Zone.Ambiguity.nonexistent) { try zone.instant(day, hour: hour, minute: 15) }
    #expect(try zone.instant(day, hour: 3).seconds < zone.instant(day, hour: 4).seconds)
  }

  /// F-T05: a local time that clocks show twice is reported with both instants.
  @Test func autumnOverlapHasTwoInstants() throws {
    let day = try #require(Day("2026-04-05"))
    let first = try #require(Instant(iso: "2026-04-04T15:30:00Z"))
    let second = try #require(Instant(iso: "2026-04-04T16:30:00Z"))
    #expect(throws: Zone.Ambiguity.twice(first: first, second: second)) {
      try Zone.sydney.instant(day, hour: 2, minute: 30)
    }
  }

  /// F-T06: zones without summer time, and zones whose offset is not a whole hour.
  @Test(arguments: [
    (Zone.perth, "2026-01-01T06:00", "2025-12-31T22:00:00Z"),
    (.brisbane, "2026-01-01T00:00", "2025-12-31T14:00:00Z"),
    (.darwin, "2026-01-01T00:00", "2025-12-31T14:30:00Z"),
    (.adelaide, "2026-01-01T00:00", "2025-12-31T13:30:00Z"),
    (.adelaide, "2026-07-01T00:00", "2026-06-30T14:30:00Z"),
    (.lordHowe, "2026-01-01T00:00", "2025-12-31T13:00:00Z"),
  ])
  func localMidnights(zone: Zone, local: String, expected: String) throws {
    let day = try #require(Day(String(local.prefix(10))))
    let hour = try #require(Int(local.dropFirst(11).prefix(2)))
    #expect(try zone.instant(day, hour: hour).description == expected)
    let back = zone.local(try #require(Instant(iso: expected)))
    #expect(back.day == day && back.secondsOfDay == hour * 3600)
  }

  /// F-T06: a postcode of New South Wales that keeps the time of South Australia.
  @Test func brokenHillKeepsAdelaideTime() {
    #expect(State.nsw.timeZone(postcode: "2880") == .brokenHill)
    #expect(State.nsw.timeZone(postcode: "2000") == .sydney)
    #expect(Zone.isDataPresent)
  }

  /// A wait is said as people count it, and never shorter than it is.
  @Test(arguments: [
    (0, "0 s"), (42, "42 s"), (120, "120 s"), (121, "3 min"), (3_600, "60 min"), (7_201, "3 h"),
    (86_400, "24 h"),
  ])
  func waitsAreSaidInWords(seconds: Int, text: String) {
    #expect(waitText(seconds: seconds) == text)
  }
}
