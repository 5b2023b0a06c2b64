import FuelModel
import Store

extension Report {
  /// One region: for each fuel its thirty days, verdict, cycles, and the ends of its market.
  func regionPage(_ region: MarketReport.Region) -> HTML {
    let fuels = market.fuels.filter { market.averages[.init(region.code, $0.code)] != nil }
    let name = Words.title(region.name)
    return page(
      name, depth: 1,
      """
      <h1>Fuel prices in \(region.name)</h1>
      <p class="lead">As of \(Words.time(now, zone(of: region))) \(clockName(of: region)).</p>
      <ul class="chips">
      \(fuels.map { "<li><a href=\"#\($0.code)\">\(Words.title($0.name))</a></li>\n" as HTML })</ul>
      \(fuels.map { section(region, $0) })
      \(map(offers(in: region), depth: 1, region.name))<p class="note"><a href="../feed/\(Self.slug(region.code)).atom">\
      What turns here, as an Atom feed</a></p>

      """)
  }

  /// Of the nation there are too many for one map.
  private func offers(in region: MarketReport.Region) -> [Offer] {
    switch region.kind {
    case "nation": []
    case "state": market.offers.filter { $0.state == region.code }
    default:
      market.offers.filter { market.standings[.init($0.station, $0.fuel)]?.region == region.code }
    }
  }

  /// What the market was doing on each of the days, in a line of marks.
  private func states(_ key: MarketReport.Key, _ days: [MarketReport.Day]) -> HTML {
    guard let states = market.states[key], days.contains(where: { states[$0.day] != nil }) else {
      return ""
    }
    return """
      <ol class="states" aria-label="What the market was doing, day by day">
      \(days.map { day in
        let state = states[day.day] ?? ""
        let words = state.isEmpty ? "not known" : state.replacing("_", with: " ")
        return "<li class=\"\(state)\" title=\"\(Words.date(day.day)): \(words)\"><span>\(words)</span></li>\n"
      } as [HTML])</ol>
      <p class="note">The market day by day, oldest left: quiet, falling, near its low, rising, near its high, or a shock.</p>

      """
  }

  private func section(
    _ region: MarketReport.Region, _ fuel: (code: String, name: String)
  ) -> HTML {
    let key = MarketReport.Key(region.code, fuel.code)
    guard let average = market.averages[key] else { return "" }
    let days = market.days[key] ?? []
    let late: HTML =
      average.delayHours > 0
      ? "<p class=\"note\">Prices of a day ago: this state publishes them late.</p>\n" : ""
    let range: HTML =
      average.lowest.map { low in
        ", from \(Words.cents(low)) to \(Words.cents(average.highest)) at \(average.stations) stations"
          as HTML
      } ?? ""
    return """
      <section aria-labelledby="\(fuel.code)">
      <h2 id="\(fuel.code)">\(Words.title(fuel.name)) <span class="unit">\(fuel.code)</span></h2>
      <div class="panel">
      <p class="price"><b>\(Words.cents(average.average))</b> <span class="unit">c/L\(range)</span></p>
      <p class="price">\(change(average.change24h, over: "in 24 hours")) &#160; \(change(average.change7d, over: "in 7 days"))</p>
      \(late)\(verdict(key))<h3>The last thirty days</h3>
      \(charts(days))\(states(key, days))\(trendNote(key))\(dayTable(days))\(tomorrow(region, key))\(cycleTable(key))\(ends(region, key))</div>
      </section>

      """
  }

  private func charts(_ days: [MarketReport.Day]) -> HTML {
    guard days.contains(where: { $0.average != nil }) else {
      return
        "<p class=\"empty\">No day of the last thirty has enough stations for an average.</p>\n"
    }
    return """
      <div class="wide">\(Chart(days: days, width: 840, height: 270).full())</div>
      <div class="narrow">\(Chart(days: days, width: 350, height: 230).full())</div>
      <ul class="legend">
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="line" x1="1" x2="25" y1="5" y2="5"/></svg>daily average</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="moving" x1="1" x2="25" y1="5" y2="5"/></svg>of seven days</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><rect class="band" width="26" height="10"/></svg>cheapest to dearest station</li>
      </ul>

      """
  }

  private func trendNote(_ key: MarketReport.Key) -> HTML {
    guard let trend = market.trends[key], let direction = trend.direction else { return "" }
    var words = "Prices are \(direction)"
    if let position = trend.position {
      words += ", at \(position) % of the way from the month's low to its high"
    }
    if let day = trend.cycleDay {
      words += "; day \(day) of the present cycle"
      if let typical = trend.typicalCycleDays { words += ", which lately lasted \(typical) days" }
    }
    return "<p class=\"note\">\(words).</p>\n"
  }

  /// The numbers of the chart, for whoever cannot see it or wants them.
  private func dayTable(_ days: [MarketReport.Day]) -> HTML {
    guard days.contains(where: { $0.average != nil }) else { return "" }
    return """
      <details><summary>The same in numbers</summary>
      \(table(
        "Daily averages",
        [("Day", false), ("Average", true), ("Of 7 days", true), ("Cheapest", true), ("Dearest", true)],
        days.reversed().map { day in
          """
          <tr><th scope="row">\(Words.date(day.day))</th><td class="number">\(Words.cents(day.average))</td>\
          <td class="number">\(Words.cents(day.movingAverage))</td><td class="number">\(Words.cents(day.lowest))</td>\
          <td class="number">\(Words.cents(day.highest))</td></tr>

          """
        }))</details>

      """
  }

  private func tomorrow(_ region: MarketReport.Region, _ key: MarketReport.Key) -> HTML {
    guard let tomorrow = market.tomorrow[key] else { return "" }
    return """
      <h3>Prices that are known ahead</h3>
      <p>From \(Words.time(tomorrow.effectiveAt, zone(of: region))) on the average is \
      <b>\(Words.cents(tomorrow.tomorrow))</b> instead of \(Words.cents(tomorrow.today)) c/L: \
      \(tomorrow.dearer) stations get dearer, \(tomorrow.cheaper) cheaper, \(tomorrow.same) stay.</p>

      """
  }

  private func cycleTable(_ key: MarketReport.Key) -> HTML {
    guard let cycles = market.cycles[key], !cycles.isEmpty else { return "" }
    return """
      <h3>The last price cycles</h3>
      \(table(
        "Price cycles",
        [
          ("Low", false), ("c/L", true), ("High", false), ("c/L", true), ("Days", true),
          ("Height", true),
        ],
        cycles.map { cycle in
          """
          <tr><th scope="row">\(Words.dateWithYear(cycle.troughOn))</th><td class="number">\(Words.cents(cycle.trough))</td>\
          <td>\(cycle.peakOn.map(Words.date) ?? "not yet")</td><td class="number">\(Words.cents(cycle.peak))</td>\
          <td class="number">\(cycle.days.map(String.init) ?? "·")</td><td class="number">\(Words.cents(cycle.amplitude))</td></tr>

          """
        }))
      """
  }

  private func ends(_ region: MarketReport.Region, _ key: MarketReport.Key) -> HTML {
    guard let stations = market.stations[key], !stations.isEmpty else { return "" }
    // Where there are fewer than ten, none is listed as both cheap and dear.
    let half = min(5, (stations.count + 1) / 2)
    func list(_ title: String, _ stations: [MarketReport.StationPrice]) -> HTML {
      """
      <div>
      <h3>\(title)</h3>
      \(table(
        title, [("Station", false), ("c/L", true), ("Since", false)],
        stations.map { station in
          """
          <tr><th scope="row">\(station.name)<br><span class="unit">\(place(station))</span></th>\
          <td class="number">\(Words.cents(station.price))</td>\
          <td>\(Words.time(station.since, zone(of: region)))</td></tr>

          """
        }))</div>

      """
    }
    return """
      <div class="columns">
      \(list("Cheapest now", Array(stations.prefix(half))))\
      \(list("Dearest now", stations.suffix(min(5, stations.count - half)).reversed()))</div>

      """
  }

  private func place(_ station: MarketReport.StationPrice) -> String {
    [station.brand, station.suburb].compactMap { $0 }.joined(separator: ", ")
  }
}
