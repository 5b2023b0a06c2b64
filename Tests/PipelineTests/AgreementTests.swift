import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import TestDatabase
import Testing

/// F-L05: compares an archive and a feed at the same noons.
struct AgreementTests {
  @Test func noonsAreComparedWhereBothTell() async throws {
    try await TestDatabase.with { target in
      let feed = try Feed(target, name: "nsw-fuelcheck", state: .nsw, sightLapsesHours: 24)
      let end = Instant("2026-04-20T00:00:00Z")
      let names = ["101": "Caltex One", "102": "BP Two", "103": "Shell Three"]
      let stations = names.sorted { $0.key < $1.key }.map {
        Station(
          code: $0.key, state: .nsw, name: $0.value, brand: "B",
          address: "\($0.key) High Street, TESTVILLE NSW 2000", suburb: "Testville",
          postcode: "2000")
      }
      func row(_ code: String, _ time: String, _ price: String) -> String {
        "\(names[code] ?? ""),\"\(code) High Street, Testville NSW 2000\",Testville,2000,B,U91,\(time),\(price)"
      }
      // Noon in Sydney is 02:00 UTC. Station 103 is gone on the third day.
      let since = Instant("2026-04-09T20:00:00Z")
      let changed = Instant("2026-04-11T20:00:00Z")
      for hours in stride(from: 0, through: 72, by: 6) {
        let at = Instant("2026-04-10T00:00:00Z") + .seconds(hours * 3_600)
        try feed.reports(
          [
            .u91("101", 1_800, since),
            .u91("102", at < changed ? 1_810 : 1_850, at < changed ? since : changed),
          ]
            + (hours < 48 ? [.u91("103", 1_900, since)] : []),
          stations: stations, at: at, now: end)
      }
      let text =
        "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
        + [
          row("101", "2026-04-10 06:00:00", "180.0"), row("102", "2026-04-10 06:00:00", "181.0"),
          row("103", "2026-04-10 06:00:00", "190.0"),
        ].joined(separator: "\n") + "\n"
      let archive = try HistoryOrderTests.archive("nsw")
      _ = try await HistoryOrderTests.withFile(text) { path in
        try await Backfill(
          archive, store: feed.store, decisions: [], clock: .fixed(end), log: Logger(.error)
        ).run([path])
      }
      try feed.aggregate(at: end, regions: [.nation])
      let known = try feed.store.knownDays(now: end).filter { !$0.isArchive }.map(\.day)
      // Four days of lists, and the next day, on which the last list is still believed.
      #expect(known.count == 5)
      let noons = try Agreement(archive, store: feed.store)
        .noons(of: (10...12).compactMap { Day("2026-04-\($0)") })
      let rows = try noons.map { noon in
        let name = try feed.store.name(of: noon.pair)
        return "\(noon.day) \(name.station) \(name.fuel) \(noon.archive) \(noon.feed)"
      }
      #expect(
        rows.sorted() == [
          "2026-04-10 BP Two U91 1810 1810", "2026-04-10 Caltex One U91 1800 1800",
          "2026-04-10 Shell Three U91 1900 1900", "2026-04-11 BP Two U91 1810 1810",
          "2026-04-11 Caltex One U91 1800 1800", "2026-04-11 Shell Three U91 1900 1900",
          "2026-04-12 BP Two U91 1810 1850", "2026-04-12 Caltex One U91 1800 1800",
          "2026-04-12 Shell Three U91 1900 0",
        ])
    }
  }
}
