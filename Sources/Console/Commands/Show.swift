import Feeds
import FuelModel
import Report
import Views

let showCommand = Command(
  name: "show",
  summary: "Show the market, or the cheapest stations of a place, in the terminal.",
  operands: "[PLACE]",
  examples: [
    ("bowser show", "averages, 30 days, tomorrow's prices and verdicts on one screen"),
    ("bowser show perth", "a region; nsw and newcastle are others"),
    ("bowser show 3000 --fuel DL", "a postcode, a suburb or part of a station's name"),
    ("bowser show -27.47,153.03 --near 3", "within three kilometres of a point"),
    ("bowser show perth --json", "the same for programs"),
  ],
  options: [
    .init(name: "fuel", value: "CODE", about: "such as U91 (default), E10, P95, P98, DL, LPG"),
    .init(
      name: "near", value: "KM",
      about: "stations within so many kilometres of the centre of the place"),
    .init(
      name: "days", value: "N", about: "how many days of daily averages before today (default 30)"),
    .init(name: "json", about: "one JSON object"),
  ],
  notes: """
    A place is a region, a suburb, a postcode, a station or LAT,LON. The beginning of a name is enough if
    it is unambiguous. The last of the daily averages is that of today so far, as in the view trend_30d.
    The JSON object of the market has version (1), averages, verdicts and trends, whose members are
    columns of the views averages_now, fill_up and trend_summary. The JSON object of a place has version
    (1), place, fuel, region, averages, verdict, days and stations. As long as the version stays the
    same, members are only added.

    With --now before the newest run, prices of tomorrow and changes over 24 hours are left out: only
    those of the present are kept.
    """
) { invocation in
  let kilometres = try invocation.options["near"].map { text in
    guard let value = Double(text), (0.1...500).contains(value) else {
      throw UsageError.message("--near must be a number of kilometres from 0.1 to 500")
    }
    return value
  }
  let days = try invocation.integer("days", 2...3_660) ?? 30
  let fuel = try fuelCode(invocation.options["fuel"] ?? "U91")
  let views = try invocation.views(try invocation.settings())
  let now = try invocation.clock().now()
  let given = try invocation.instant("now")
  let isPast = try given.map { try views.isPast($0) } ?? false
  let style = Style(invocation.environment)
  let search = try PlaceSearch(views)
  let regions = search.regions
  // A name of several words needs no quotes in the shell.
  let word = invocation.operands.joined(separator: " ")
  guard !invocation.operands.isEmpty else {
    guard kilometres == nil else { throw UsageError.message("--near needs a place") }
    if invocation.flags.contains("json") {
      write(try views.marketJSON() + "\n")
    } else {
      write(
        try Screen(
          views: views, given: given, now: now, isPast: isPast, style: style, regions: regions,
          ahead: try invocation.sources().filter { $0.publishesTomorrowAt != nil }
        ).text())
    }
    return .done
  }
  let place = try search.place(word)
  guard kilometres == nil || place.position != nil else {
    throw UsageError.message("--near needs a place with a position, and \(place.name) has none")
  }
  let page = try PlacePage(
    place, fuel: fuel, within: kilometres, days: days, now: now, isPast: isPast, views: views,
    regions: regions)
  if invocation.flags.contains("json") {
    write(page.asJSON + "\n")
  } else {
    write(page.text(style))
  }
  return .done
}

/// Returns the code of a fuel for a user's word, such as `DL` for `diesel`.
func fuelCode(_ word: String) throws -> String {
  let codes = Fuel.allCases.map(\.rawValue)
  let names = [
    "DIESEL": "DL", "UNLEADED": "U91", "ULP": "U91", "91": "U91", "PREMIUM": "P98", "PULP": "P95",
    "95": "P95",
    "98": "P98", "ETHANOL": "E10", "94": "E10", "AUTOGAS": "LPG", "GAS": "LPG",
  ]
  let wanted = names[word.uppercased()] ?? word.uppercased()
  guard let code = codes.first(where: { $0 == wanted }) else {
    throw UsageError.unknown("fuel", word, among: codes)
  }
  return code
}

/// What is left out for a past instant, and why.
func leftOut(_ averages: [AverageNow]) -> String {
  let what = areChangesKnown(averages) ? "Prices" : "Changes over 24 hours and prices"
  return "\(what) of tomorrow are left out: only those of the present are kept."
}

func areChangesKnown(_ averages: [AverageNow]) -> Bool {
  averages.contains { $0.change24h != nil }
}

/// What the last of the daily averages is.
func newestDay(_ isPast: Bool) -> String {
  isPast ? "that day as it is known now" : "today so far"
}

/// The market on one screen.
private struct Screen {
  let views: Views
  /// The instant of `--now`.
  let given: Instant?
  let now: Instant
  /// Whether prices were fetched after that instant.
  let isPast: Bool
  let style: Style

  let regions: [MarketReport.Region]
  /// The feeds that publish the prices of tomorrow.
  let ahead: [Source]

  private var capitals: [String] { regions.filter { $0.kind == "capital" }.map(\.code) }
  private var nation: String { regions.first { $0.kind == "nation" }?.code ?? "" }
  private let fuels = ["U91", "E10", "P95", "P98", "DL"]
  /// The fuels of the columns that fit, in order of importance: unleaded, diesel, P98, E10, P95.
  private var columns: [String] {
    let count = min(fuels.count, max(1, (style.width - 2 - left + 8) / 16))
    return fuels.filter { ["U91", "DL", "P98", "E10", "P95"].prefix(count).contains($0) }
  }
  /// The width of the column of names: that of the longest name, but at most a quarter of a line,
  /// and never less than eleven columns.
  private var left: Int {
    let longest = (capitals + [nation]).map { title($0).columns }.max() ?? 0
    return max(11, min(longest + 2, style.width / 4))
  }

  func text() throws -> String {
    let averages = try views.averagesNow()
    guard !averages.isEmpty else {
      let advice =
        "run bowser ingest --all && bowser aggregate; bowser setup lists what is missing.\n"
      return given.map { "No averages at \($0): give another --now, or \(advice)" }
        ?? "No averages yet: \(advice)"
    }
    var text = "\n"
    let change = areChangesKnown(averages) ? ", change over 24 hours" : ""
    text += heading("Average now", "cents per litre\(change)")
    text += averagesTable(averages)
    if isPast { text += "  " + style.dim(style.wrapped(leftOut(averages), after: "  ")) + "\n\n" }
    text += heading("The last 30 days", "and \(newestDay(isPast)): daily averages, oldest first")
    text += sparklines(try views.lastDays(), try views.trends())
    if !isPast { text += try tomorrow() }
    text += heading("Should you fill up?", "")
    text += verdicts(try views.verdicts(), averages)
    return text + "\n"
  }

  private func heading(_ title: String, _ note: String) -> String {
    let fits = title.count + 2 + note.count <= style.width
    return "\(style.bold(title))\(note.isEmpty || !fits ? "" : "  \(style.dim(note))")\n"
  }

  private func averagesTable(_ averages: [AverageNow]) -> String {
    let codes = capitals.filter { region in averages.contains { $0.region == region } } + [nation]
    var text =
      "  " + padded("", left)
      + columns.map { leftPadded($0, 8) + padded("", 8) }.joined().trimmedEnd
      + "\n"
    for region in codes {
      let isLate = averages.contains { $0.region == region && $0.delayHours > 0 }
      var line = "  " + name(region, mark: isLate ? "*" : "")
      for fuel in columns {
        guard let cell = averages.first(where: { $0.region == region && $0.fuel == fuel }),
          let average = cell.average
        else {
          line += leftPadded("·", 8) + padded("", 8)
          continue
        }
        line += leftPadded(Cents.text(average), 8) + priceChange(cell.change24h, style)
      }
      text += line.trimmedEnd + "\n"
    }
    if let stations = averages.first(where: { $0.region == nation && $0.fuel == "U91" }) {
      let mean =
        stations.stations < LeastSample.stations
        ? "fewer than \(LeastSample.stations) stations"
        : "mean of \(stations.stations) stations"
      text += style.dim(
        "  \(Australia.name) U91: \(mean); \(stations.stale) stale left out\n")
    }
    if averages.contains(where: { $0.delayHours > 0 }) {
      let note =
        "published a day late: prices of yesterday, left out of averages over several states"
      text += "  " + style.dim("* " + style.wrapped(note, after: "    ")) + "\n"
    }
    return text + "\n"
  }

  private func sparklines(
    _ days: [MarketReport.Key: [MarketReport.Day]],
    _ trends: [MarketReport.Key: MarketReport.Trend]
  ) -> String {
    var text = ""
    for region in capitals {
      var name = name(region)
      for fuel in fuels {
        let key = MarketReport.Key(region, fuel)
        let averages = (days[key] ?? []).map(\.average)
        let known = averages.compactMap { $0 }
        guard let low = known.min(), let high = known.max(), let newest = known.last else {
          continue
        }
        let direction = trends[key]?.direction ?? ""
        let arrow = ["rising": "↗", "falling": "↘", "steady": "→"][direction] ?? " "
        // The arrow tells the direction of the average that it stands beside.
        let line =
          "  " + name + padded(fuel, 5) + spark(averages) + "  "
          + leftPadded(Cents.text(newest), 5) + " " + arrow
        let range = "\(Cents.text(low)) to \(Cents.text(high))"
        text += style.line(line, notes: [padded(direction, 7), range]).trimmedEnd + "\n"
        name = padded("", left)
      }
    }
    return text + "\n"
  }

  private func tomorrow() throws -> String {
    guard !ahead.isEmpty else { return "" }
    let times = ahead.map { "\($0.state.code) from \($0.publishesTomorrowAt ?? "") local time" }
    var text = heading("Tomorrow, where it is published", times.joined(separator: ", "))
    let states = regions.filter { $0.kind == "state" }.map(\.code)
    let lines = try views.tomorrow().filter { states.contains($0.key.region) }
    if lines.isEmpty { text += "  Tomorrow's prices are not known yet.\n" }
    for (key, line) in lines.sorted(by: {
      $0.key.region == $1.key.region
        ? Fuel.precedes($0.key.fuel, $1.key.fuel) : $0.key.region < $1.key.region
    }) {
      let counts =
        "  " + padded(key.region, 5) + padded(key.fuel, 5) + leftPadded(Cents.text(line.today), 7)
        + " → " + leftPadded(Cents.text(line.tomorrow), 6)
        + "   \(line.dearer) dearer, \(line.cheaper) cheaper"
      let same = ", \(line.same) the same"
      text += counts + ((counts + same).columns > style.width ? "" : same) + "\n"
    }
    return text + "\n"
  }

  private func verdicts(
    _ verdicts: [MarketReport.Key: MarketReport.Verdict], _ averages: [AverageNow]
  ) -> String {
    var text = ""
    for region in regions where region.kind == "capital" {
      guard let verdict = verdicts[.init(region.code, "U91")] else { continue }
      let average = averages.first { $0.region == region.code && $0.fuel == "U91" }
      let advice = Advice(verdict, average, region.zone, now: now)
      let word = padded(advice.word.lowercased(), 14)
      let painted = ["Wait", "Fill up"].contains(advice.word) ? style.bold(word) : style.dim(word)
      let place = "  " + name(region.code) + "U91  "
      text += place + painted + style.wrapped(advice.sentence, after: place + word) + "\n"
    }
    return text
  }

  /// The name of a region, with a mark behind it, as wide as the column of names.
  private func name(_ region: String, mark: String = "") -> String {
    padded(title(region).shortened(to: left - 1 - mark.columns) + mark, left)
  }

  private func title(_ region: String) -> String {
    let name = regions.first { $0.code == region }?.name ?? region
    return Words.title(name)
  }
}
