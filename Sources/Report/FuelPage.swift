import Foundation
import FuelModel
import Views

extension Report {
  /// One fuel in one region: the verdict, the daily averages, the price cycles, the cheapest and
  /// dearest stations, and a map of the stations.
  func fuelPage(_ region: MarketReport.Region, _ fuel: (code: String, name: String)) -> HTML {
    let key = MarketReport.Key(region.code, fuel.code)
    guard let average = market.averages[key] else { return "" }
    let others = market.fuels.filter { market.averages[.init(region.code, $0.code)] != nil }
    let range: HTML =
      average.lowest.map { low in
        "<p class=\"note\">From \(Words.cents(low)) to \(Words.cents(average.highest)) c/L at \(average.stations) stations.</p>\n"
          as HTML
      } ?? ""
    let verdictWord = market.verdicts[key].map {
      ": \(Words.verdict($0.verdict, $0.basis).word.lowercased())"
    }
    return page(
      "\(Words.title(fuel.name)) in \(region.name)",
      about: "\(Words.cents(average.average)) c/L on average\(verdictWord ?? "")",
      path: Self.path(of: region, fuel.code), depth: 1,
      """
      <h1>\(Words.title(fuel.name)) in \(region.name)</h1>
      <p class="lead">As of \(Words.time(now, zone(of: region))) \(clockName(of: region)).</p>
      <nav aria-label="Fuels"><ul class="chips">
      \(fuelChips(others, but: fuel.code) { "../" + Self.path(of: region, $0) })<li><a href="../\(Self.path(of: region))">All fuels</a></li>
      </ul></nav>
      <div class="panel">
      <h2>Now <span class="unit">\(fuel.code)</span></h2>
      <p class="price"><b>\(Words.cents(average.average))</b> <span class="unit">c/L</span> &#160; \
      \(change(average.change24h, over: "in 24 hours")) &#160; \(change(average.change7d, over: "in 7 days"))</p>
      \(range)\(lateNote(average))\(region.kind == "nation" ? nationNote : "")\(verdict(key))<h3>Daily averages <span class="unit">and today so far</span></h3>
      \(charts(key))\(trendNote(key))\(dayTable(market.days[key] ?? []))\
      \(tomorrow(region, key))\(cycleTable(key))\(ends(region, key))</div>
      \(map(offers[key] ?? [], depth: 1, region.name))

      """)
  }

  private var nationNote: HTML {
    guard market.averages.values.contains(where: { $0.delayHours > 0 }) else { return "" }
    return """
      <p class="note">The average now leaves out states that publish their prices late; the daily averages below \
      include them, so the two differ.</p>

      """
  }

  /// Charts of the last thirty days, the last ninety days and the year, each with today so far, and
  /// of all months. The reader selects one with a radio button. No script is needed. Below the
  /// shorter two a band shows what the market was doing.
  private func charts(_ key: MarketReport.Key) -> HTML {
    let month = market.days[key] ?? []
    guard let today = month.last?.day, month.contains(where: { $0.average != nil }) else {
      return
        "<p class=\"empty\">No day of the last thirty has enough stations for an average.</p>\n"
    }
    let stored = market.year[key] ?? []
    let year = unbroken(
      stored, from: max(today + -365, stored.first?.day ?? today), until: today)
    let offered = chartRanges(
      month: month, year: year, months: unbrokenMonths(market.months[key] ?? []))
    let states = market.states[key] ?? [:]
    let buttons = offered.enumerated().map { index, range -> HTML in
      """
      <input type="radio" name="range" id="\(range.id)"\(index == 0 ? " checked" as HTML : "")>\
      <label for="\(range.id)">\(range.name)</label>

      """
    }
    let drawn = offered.map { range -> HTML in
      "<div class=\"range \(range.id)\">\n\(drawing(of: range, states))</div>\n"
    }
    return """
      \(offered.count > 1
        ? "<fieldset class=\"ranges\"><legend>Period</legend>\n\(buttons)\(drawn)</fieldset>\n" as HTML
        : drawing(of: offered[0], states))<ul class="legend">
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="line" x1="1" x2="25" y1="5" y2="5"/></svg>average</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="moving" x1="1" x2="25" y1="5" y2="5"/></svg>seven-day average</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><rect class="band" width="26" height="10"/></svg>cheapest to dearest station</li>
      </ul>
      \(StateBand(days: (year.suffix(90) + month).map(\.day), states: states).legend())
      """
  }

  private typealias ChartRange = (
    id: String, name: String, days: [MarketReport.Day], step: Chart.Step
  )

  /// Returns the ranges that a chart is offered for, the shortest first. A longer range is offered
  /// only if it shows more than the shorter one.
  private func chartRanges(
    month: [MarketReport.Day], year: [MarketReport.Day], months: [MarketReport.Day]
  ) -> [ChartRange] {
    var ranges: [ChartRange] = [("range-30", "30 days", month, .day)]
    // Today so far comes on top of ninety days.
    let most = 91
    if year.count > month.count {
      ranges.append(("range-90", "90 days", Array(year.suffix(most)), .day))
    }
    if year.count > most { ranges.append(("range-365", "A year", year, .day)) }
    if months.count > 12 { ranges.append(("range-all", "All", months, .month)) }
    return ranges
  }

  /// A chart for wide screens and one for narrow ones.
  private func drawing(of range: ChartRange, _ states: [Day: String]) -> HTML {
    let (days, step) = (range.days, range.step)
    let isShort = step == .day && days.count <= 92
    let band = StateBand(days: days.map(\.day), states: isShort ? states : [:])
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

  private func unbrokenMonths(_ months: [MarketReport.Day]) -> [MarketReport.Day] {
    guard let first = months.first?.day, let last = months.last?.day else { return [] }
    return unbroken(months, from: first, until: last).filter { $0.day.day == 1 }
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

  private func tomorrow(_ region: MarketReport.Region, _ key: MarketReport.Key) -> HTML {
    guard let tomorrow = market.tomorrow[key] else { return "" }
    return """
      <h3>Prices announced in advance</h3>
      <p>From \(Words.time(tomorrow.effectiveAt, zone(of: region))) the average is \
      <b>\(Words.cents(tomorrow.tomorrow))</b> instead of \(Words.cents(tomorrow.today)) c/L: \
      \(tomorrow.dearer) stations get dearer, \(tomorrow.cheaper) get cheaper, \(tomorrow.same) stay the same.</p>

      """
  }

  private func cycleTable(_ key: MarketReport.Key) -> HTML {
    guard let cycles = market.cycles[key], !cycles.isEmpty else { return "" }
    return """
      <h3>Recent price cycles</h3>
      \(table(
        "Price cycles",
        [
          ("Low", false), ("c/L", true), ("High", false), ("c/L", true), ("Days", true),
          ("Rise, c/L", true),
        ],
        cycles.map { cycle in
          """
          <tr><th scope="row">\(Words.dateWithYear(cycle.troughOn))</th><td class="number">\(Words.cents(cycle.trough))</td>\
          <td>\(cycle.peakOn.map(Words.date) ?? "not yet")</td><td class="number">\(Words.cents(cycle.peak))</td>\
          <td class="number">\(cycle.days.map(String.init) ?? "·")</td><td class="number">\(rise(cycle))</td></tr>

          """
        }))
      """
  }

  /// The difference of the two prices as they are shown.
  private func rise(_ cycle: MarketReport.Cycle) -> String {
    cycle.peak.map { Words.cents(Double(Cents.tenths($0) - Cents.tenths(cycle.trough)) / 10) }
      ?? "·"
  }

  private func ends(_ region: MarketReport.Region, _ key: MarketReport.Key) -> HTML {
    guard let stations = market.stations[key], !stations.isEmpty else { return "" }
    // With fewer than ten stations, the lists are shorter, so that no station is listed as both
    // cheap and dear.
    let half = min(5, (stations.count + 1) / 2)
    func list(_ title: String, _ stations: [Offer], isAhead: Bool = false) -> HTML {
      """
      <div>
      <h3>\(title)</h3>
      \(table(
        title, [("Station", false), ("c/L", true), (isAhead ? "From" : "Since", false)],
        stations.map { station in
          """
          <tr><th scope="row"><a href="../\(Self.path(ofStation: station.station))">\(station.name)</a>\
          <br><span class="unit">\(place(station))</span></th>\
          <td class="number">\(Words.cents(isAhead ? station.next : station.price))</td>\
          <td>\(Words.time((isAhead ? station.nextAt : nil) ?? station.since, zone(of: region)))</td></tr>

          """
        }))</div>

      """
    }
    let ahead = market.cheapestAhead[key] ?? []
    return """
      \(ahead.isEmpty ? "" : list("Cheapest of the announced prices", ahead, isAhead: true))<div class="columns">
      \(list("Cheapest now", Array(stations.prefix(half))))\
      \(list("Dearest now", stations.suffix(min(5, stations.count - half)).reversed()))</div>

      """
  }

  /// The brand and the suburb of a station.
  func place(_ station: Offer) -> String {
    [station.brand, station.suburb?.asPlaceName].compactMap { $0 }.joined(separator: ", ")
  }
}
