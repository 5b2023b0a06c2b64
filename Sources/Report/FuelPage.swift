import Foundation
import FuelModel
import Views

extension Report {
  /// One fuel in one region: the verdict, the cheapest stations now and next beside a map, the daily
  /// averages, and the other fuels there.
  ///
  /// - Parameter path: where the page is, below the report's folder.
  func fuelPage(
    _ region: MarketReport.Region, _ fuel: (code: String, name: String), path: String
  ) -> HTML {
    let key = MarketReport.Key(region.code, fuel.code)
    let average = market.averages[key]
    let others = market.fuels.filter { isKnown(.init(region.code, $0.code)) }
    let range: HTML =
      average?.lowest.map { low in
        "<p class=\"note\">From \(Words.cents(low)) to \(Words.cents(average?.highest)) c/L at \(average?.stations ?? 0) stations. \(change(average?.change7d, over: "in 7 days"))</p>\n"
          as HTML
      } ?? ""
    let word = advice(region, key).map { ": \($0.word.lowercased())" } ?? ""
    return page(
      "\(Words.title(fuel.name)) in \(Words.place(region.name))",
      about: average.map { "\(Words.cents($0.average)) c/L on average\(word)" } ?? "No price now",
      path: path, depth: 1, state: region.state ?? "",
      """
      <h1>\(Words.title(fuel.name)) in \(Words.place(region.name))</h1>
      \(fuelChips(others, but: fuel.code) { "../" + Self.path(of: region, $0) })\
      <div class="panel" data-place="\(Self.path(of: region, fuel.code))" data-region="\(region.code)" data-name="\(Words.title(region.name)) \(fuel.code)">
      \(verdict(region, key))\(range)\(why(key))</div>
      \(cheapest(region, key))\
      \(announced(region, key, home: "../").map { "<h2>Next prices</h2>\n<div class=\"panel\">\n\($0)</div>\n" as HTML } ?? "")\
      <h2>Daily averages <span class="unit">and today so far</span></h2>
      <div class="panel">
      \(charts(key))\(trendNote(key))\(dayTable(market.days[key] ?? []))</div>
      <h2>All fuels in \(Words.place(region.name))</h2>
      <div class="panel">
      \(fuelTable(region, others))</div>
      <p class="note"><a href="../feed/\(Self.slug(region.code)).atom">Changes of the advice here, as an Atom feed</a> · \
      <a href="../api/v1/region/\(Self.slug(region.code)).json">for programs, as JSON</a></p>

      """)
  }

  /// The ten cheapest stations, beside a map of all.
  private func cheapest(_ region: MarketReport.Region, _ key: MarketReport.Key) -> HTML {
    let ranked = (market.ranking[key] ?? []).lazy.map { market.offers[$0] }
    guard !ranked.isEmpty else { return "" }
    let map =
      region.kind == "nation"
      ? regionMap(market.regions, key.fuel, "../")
      : stationMap(ranked, Words.place(region.name), "../")
    return """
      <h2 id="cheapest">Cheapest now</h2>
      <div class="beside">
      <div class="panel">
      \(stationTable("Cheapest stations", Array(ranked.prefix(10)), "../"))<p class="note">“To average” compares the price with the \
      average of the smallest region around the station; the rank links to that region. Times are local to the station.</p>
      </div>
      \(map)</div>

      """
  }

  private func fuelTable(
    _ region: MarketReport.Region, _ fuels: [(code: String, name: String)]
  ) -> HTML {
    table(
      "All fuels", [("Fuel", false), ("c/L", true), ("24 hours", true), ("Advice", false)],
      fuels.map { fuel in
        let key = MarketReport.Key(region.code, fuel.code)
        return """
          <tr><th scope="row"><a href="../\(Self.path(of: region, fuel.code))">\(Words.title(fuel.name))</a></th>\
          <td class="number">\(Words.cents(market.averages[key]?.average))</td>\
          <td class="number">\(change(market.averages[key]?.change24h))</td><td>\(advice(region, key)?.word ?? "")</td></tr>

          """
      })
  }

  /// Charts of the last thirty days, with a band that shows what the market was doing, and, behind
  /// them, of the last year and of all months where these show more.
  private func charts(_ key: MarketReport.Key) -> HTML {
    let month = market.days[key] ?? []
    guard let today = month.last?.day, month.contains(where: { $0.average != nil }) else {
      return
        "<p class=\"empty\">No day of the last thirty has enough stations for an average.</p>\n"
    }
    let stored = market.year[key] ?? []
    let year = unbroken(
      stored, from: max(today + -365, stored.first?.day ?? today), until: today)
    let known = market.months[key] ?? []
    let months = unbroken(known, from: known.first?.day ?? today, until: known.last?.day ?? today)
      .filter { $0.day.day == 1 }
    let states = market.states[key] ?? [:]
    return """
      \(drawing(month, .day, states))<ul class="legend">
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="line" x1="1" x2="25" y1="5" y2="5"/></svg>average</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="moving" x1="1" x2="25" y1="5" y2="5"/></svg>seven-day average</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><rect class="band" width="26" height="10"/></svg>cheapest to dearest station</li>
      </ul>
      \(StateBand(days: month.map(\.day), states: states).legend())\
      \(year.count > month.count ? longer("Show the last year", year, .day) : "")\
      \(months.count > 12 ? longer("Show all months", months, .month) : "")
      """
  }

  private func longer(_ name: String, _ days: [MarketReport.Day], _ step: Chart.Step) -> HTML {
    "<details><summary>\(name)</summary>\n\(drawing(days, step))</details>\n"
  }

  /// A chart for wide screens and one for narrow ones.
  private func drawing(
    _ days: [MarketReport.Day], _ step: Chart.Step, _ states: [Day: String] = [:]
  ) -> HTML {
    let band = StateBand(days: days.map(\.day), states: states)
    return """
      <div class="wide">\(Chart(days: days, width: 840, height: 270, step: step).full())\(band.drawing(width: 840))</div>
      <div class="narrow">\(Chart(days: days, width: 350, height: 230, step: step).full())\(band.drawing(width: 350))</div>

      """
  }

  /// Returns all days from one to another. A day that is not stored gets an entry without values.
  private func unbroken(
    _ days: [MarketReport.Day], from first: Day, until last: Day
  ) -> [MarketReport.Day] {
    guard first <= last else { return [] }
    let known = Dictionary(days.map { ($0.day, $0) }, uniquingKeysWith: { first, _ in first })
    return (first.sinceEpoch...last.sinceEpoch).map { number in
      let day = Day(sinceEpoch: number)
      return known[day] ?? MarketReport.Day(day: day)
    }
  }

  private func trendNote(_ key: MarketReport.Key) -> HTML {
    guard let trend = market.trends[key], let direction = trend.direction else { return "" }
    // A direction is that of two days. Yesterday may have gone the other way.
    let comparison =
      ["rising": "higher than", "falling": "lower than"][direction] ?? "about as high as"
    var words = "The average is \(comparison) two days before"
    if let position = trend.position {
      words += ", \(position) % of the way from the month's low to its high"
    }
    if let day = trend.cycleDay {
      words += "; day \(day) of the current cycle"
      if let typical = trend.typicalCycleDays { words += "; recent cycles lasted \(typical) days" }
    }
    return "<p class=\"note\">\(words).</p>\n"
  }

  /// The numbers of the chart, for readers who cannot see it or who want the numbers.
  private func dayTable(_ days: [MarketReport.Day]) -> HTML {
    guard days.contains(where: { $0.average != nil }) else { return "" }
    return """
      <details><summary>Show as a table</summary>
      \(table(
        "Daily averages",
        [("Day", false), ("Average", true), ("7-day average", true), ("Cheapest", true), ("Dearest", true)],
        days.reversed().map { day in
          """
          <tr><th scope="row">\(Words.date(day.day))\(day.day == days.last?.day ? " so far" : "")</th><td class="number">\(Words.cents(day.average))</td>\
          <td class="number">\(Words.cents(day.movingAverage))</td><td class="number">\(Words.cents(day.lowest))</td>\
          <td class="number">\(Words.cents(day.highest))</td></tr>

          """
        }))</details>

      """
  }

  /// The prices published ahead: their average, and the stations that will be the cheapest.
  func announced(
    _ region: MarketReport.Region, _ key: MarketReport.Key, home: HTML
  ) -> HTML? {
    guard let next = market.tomorrow[key] else { return nil }
    let begin = Words.title(Words.begin(next.effectiveAt, zone(of: region), now: now))
    let cheapest = (market.ranking[key] ?? []).map { market.offers[$0] }
      .filter { ($0.next ?? 0) > 0 }
      .sorted { ($0.next ?? 0, $0.station) < ($1.next ?? 0, $1.station) }
    return """
      <p>\(begin) <b>\(Words.cents(next.tomorrow))</b> on average, now \(Words.cents(next.today)): \(Words.stations(next)).</p>
      \(stationTable("Cheapest of the next prices", Array(cheapest.prefix(5)), home))
      """
  }
}
