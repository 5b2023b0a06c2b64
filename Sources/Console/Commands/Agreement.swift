import Archives
import Foundation
import FuelModel
import Pipeline
import Store

let agreementCommand = Command(
  name: "agreement",
  summary: "Compare archives with what the feeds reported on the same days.",
  operands: "[ARCHIVE...]",
  examples: [
    ("bowser agreement", "one line per month: how often both report the same price at noon"),
    ("bowser agreement wa-fuelwatch --differences", "also list the largest differences"),
  ],
  options: [
    .init(
      name: "differences", value: nil, about: "list the twenty largest differences of each month"),
    .init(name: "json", value: nil, about: "one JSON object"),
  ],
  notes: """
    The comparison takes every station and fuel at noon of every day that the archive and the feed both
    cover and for which both report something. The JSON object has version (1) and months: archive, month,
    compared, agreed, stations, and differences: day, station_id, name, fuel, archive_cpl and feed_cpl (null:
    the fuel was not offered); without --differences that list is empty. As long as the version stays the
    same, members are only added.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let archives = try invocation.archives(beside: try invocation.sources())
  let names = Names(what: "archive", all: archives.map(\.id))
  let meant = try invocation.operands.map { try names.meant(by: $0) }
  let store = try invocation.store(try invocation.settings())
  let known = try store.knownDays(now: try invocation.clock().now())
  var found: [AgreementJSON.Month] = []
  for archive in archives {
    guard meant.isEmpty || meant.contains(archive.id) else { continue }
    func months(_ isArchive: Bool) -> Set<Month> {
      Set(
        known.filter { $0.scheme == archive.feed && $0.isArchive == isArchive }.map {
          Month($0.day)
        })
    }
    for month in months(true).intersection(months(false)).sorted() {
      let days = Set(
        known.filter { $0.scheme == archive.feed && !$0.isArchive && Month($0.day) == month }
          .map(\.day))
      let noons = try Agreement(archive, store: store).noons(of: days.sorted())
      guard !noons.isEmpty else { continue }
      var line = AgreementJSON.Month(
        archive: archive.id, month: "\(month)", compared: noons.count,
        agreed: noons.count { $0.archive == $0.feed },
        stations: Set(noons.map(\.pair.stationID)).count)
      if invocation.flags.contains("differences") {
        let different = noons.filter { $0.archive != $0.feed }.sorted {
          (abs($1.archive - $1.feed), $0.day, $0.pair)
            < (abs($0.archive - $0.feed), $1.day, $1.pair)
        }
        line.differences = try different.prefix(20).map { noon in
          let name = try store.name(of: noon.pair)
          return .init(
            day: "\(noon.day)", station_id: Int(noon.pair.stationID), name: name.station,
            fuel: name.fuel, archive_cpl: cents(noon.archive), feed_cpl: cents(noon.feed))
        }
      }
      if !invocation.flags.contains("json") { write(line.text) }
      found.append(line)
    }
  }
  if invocation.flags.contains("json") {
    try writeJSON(AgreementJSON(months: found))
  } else if found.isEmpty {
    write("No archive and feed cover the same days yet: bowser gaps lists what can be loaded.\n")
  }
  return .done
}

/// A price in cents, or `nil` if the fuel was not offered.
private func cents(_ tenths: Int32) -> Decimal? {
  Price(tenths: Int(tenths)).map { Decimal($0.tenths) / 10 }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
private struct AgreementJSON: Encodable {
  struct Difference: Encodable {
    var day: String
    var station_id: Int
    var name: String
    var fuel: String
    @OrNull var archive_cpl: Decimal?
    @OrNull var feed_cpl: Decimal?
  }

  struct Month: Encodable {
    var archive: String
    var month: String
    var compared: Int
    var agreed: Int
    var stations: Int
    var differences: [Difference] = []

    var text: String {
      let share = Double(agreed * 10_000 / compared) / 100
      func written(_ cents: Decimal?) -> String {
        cents.map { Cents.text(Double(truncating: $0 as NSNumber)) } ?? "not offered"
      }
      return padded(archive, 18)
        + "\(month)  \(share) %  \(agreed) of \(compared) agree, \(stations) stations\n"
        + differences.map { one in
          "  \(one.day) \(one.fuel) archive \(written(one.archive_cpl)), feed \(written(one.feed_cpl)): "
            + "\(one.name) (station \(one.station_id))\n"
        }.joined()
    }
  }

  var version = 1
  var months: [Month]
}
