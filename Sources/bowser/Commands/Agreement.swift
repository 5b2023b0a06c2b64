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
    Compared is every station and fuel at noon of every day on which the feed was read and both tell
    something.
    """
) { invocation in
  let archives = try Archive.all(
    in: try invocation.configurationFolder(), environment: invocation.environment)
  for name in invocation.operands where !archives.contains(where: { $0.id == name }) {
    throw UsageError.unknown("archive", name, among: archives.map(\.id))
  }
  let store = try invocation.store(try invocation.settings())
  let known = try store.knownDays()
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
      let found = try store.agreement(of: archive.source, with: archive.feed, in: month)
      guard found.compared > 0 else { continue }
      isAnything = true
      let share = Double(found.agreed * 10_000 / found.compared) / 100
      write(
        padded(archive.id, 18) + "\(month)  \(share) %  \(found.agreed) of \(found.compared) agree"
          + ", \(found.stations) stations\n")
      guard invocation.flags.contains("differences") else { continue }
      for one in try store.disagreements(of: archive.source, in: month, most: 20) {
        write(
          "  \(one.day) \(one.fuel) archive \(one.archive), feed \(one.feed): \(one.name) "
            + "(station \(one.station))\n")
      }
    }
  }
  if !isAnything { write("No archive and feed tell of the same days yet.\n") }
  return .done
}
