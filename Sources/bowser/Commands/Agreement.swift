import Archives
import FuelModel
import Pipeline
import Store

let agreementCommand = Command(
  name: "agreement",
  summary: "Compare archives with our own capture of the same days.",
  operands: "[ARCHIVE...]",
  examples: [
    ("bowser agreement", "one line a month: how often both say the same at noon"),
    ("bowser agreement wa-fuelwatch --differences", "with the largest differences"),
  ],
  options: [
    .init(name: "differences", value: nil, about: "the twenty largest of each month")
  ],
  notes: """
    Compared is every station and fuel at noon of every day that both cover and of which both tell
    something.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let archives = try Archive.all(
    in: try invocation.configurationFolder(), environment: invocation.environment)
  for name in invocation.operands where !archives.contains(where: { $0.id == name }) {
    throw UsageError.unknown("archive", name, among: archives.map(\.id))
  }
  let store = try invocation.store(try invocation.settings())
  let known = try store.knownDays(now: try invocation.clock().now())
  var isAnything = false
  for archive in archives {
    guard invocation.operands.isEmpty || invocation.operands.contains(archive.id) else { continue }
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
      isAnything = true
      let agreed = noons.count { $0.archive == $0.feed }
      let share = Double(agreed * 10_000 / noons.count) / 100
      write(
        padded(archive.id, 18) + "\(month)  \(share) %  \(agreed) of \(noons.count) agree"
          + ", \(Set(noons.map(\.pair.stationID)).count) stations\n")
      guard invocation.flags.contains("differences") else { continue }
      let different = noons.filter { $0.archive != $0.feed }.sorted {
        (abs($1.archive - $1.feed), $0.day, $0.pair) < (abs($0.archive - $0.feed), $1.day, $1.pair)
      }
      for noon in different.prefix(20) {
        let name = try store.name(of: noon.pair)
        write(
          "  \(noon.day) \(name.fuel) archive \(written(noon.archive)), feed \(written(noon.feed)): "
            + "\(name.station) (station \(noon.pair.stationID))\n")
      }
    }
  }
  if !isAnything { write("No archive and feed tell of the same days yet.\n") }
  return .done
}

private func written(_ tenths: Int32) -> String {
  Price(tenths: Int(tenths))?.centsPerLitre ?? "not offered"
}
