import FuelModel
import Views

extension Report {
  /// The market of one fuel on one page: a card for each capital, then a table of all regions.
  func nowPage(_ fuel: (code: String, name: String)?, depth: Int) -> HTML {
    guard let fuel, !market.averages.isEmpty else {
      return page(
        "Now", path: "index.html",
        """
        <h1>Fuel prices now</h1>
        <p class="lead">There are no averages yet: no prices are stored, or they have not been aggregated.</p>

        """)
    }
    let home = String(repeating: "../", count: depth)
    let capitals = market.regions.filter { $0.kind == "capital" && hasAverage($0) }
    let shown = capitals.filter { market.averages[.init($0.code, fuel.code)] != nil }
    // All cards use one scale, so that a flat market looks flat.
    let span = shown.map { self.span(.init($0.code, fuel.code)) }.max() ?? 0
    return page(
      "\(Words.title(fuel.name)) prices now",
      path: depth == 0 ? "index.html" : Self.path(ofFuel: fuel.code),
      depth: depth,
      """
      <h1>Should you fill up?</h1>
      <nav aria-label="Fuels"><ul class="chips">
      \(fuelChips(market.fuels, but: fuel.code) { home + Self.path(ofFuel: $0) })</ul></nav>
      <p class="lead">\(Words.title(fuelName(fuel.code))) in the capital cities, the average of all stations at \
      \(nationTime(now)), the last thirty days and today so far, and whether to fill up.</p>
      \(feedSummary(home))<div class="cards">
      \(shown.map { region in
        card(
          region, fuel.code, title: region.name, home + Self.path(of: region, fuel.code), span: span)
      })</div>
      <h2>Capital cities</h2>
      \(averagesTable(capitals, home))\(delayNote(capitals))<h2 id="states">States and towns</h2>
      \(averagesTable(market.regions.filter { $0.kind != "capital" && hasAverage($0) }, home))\
      \(placesMap(fuel.code, home))

      """)
  }

  /// A map of the regions that have a centre, and links to the list of places of each state.
  private func placesMap(_ fuel: String, _ home: String) -> HTML {
    let dots = market.regions.compactMap { region -> Map.Dot? in
      guard ["capital", "area"].contains(region.kind), let position = region.centre,
        let average = market.averages[.init(region.code, fuel)]
      else { return nil }
      return Map.Dot(
        position: position, mark: .place,
        label: "\(Words.title(region.name)): \(Words.cents(average.average))",
        name: region.kind == "capital"
          ? "\(Words.title(region.name)) \(Words.cents(average.average))" : nil,
        link: home + Self.path(of: region, fuel))
    }
    let states = Set(market.offers.map(\.state)).sorted()
    let lists: [HTML] = states.map {
      "<li><a href=\"\(home)places/\(Self.slug($0)).html\">\($0)</a></li>\n"
    }
    return """
      <h2 id="places">Places</h2>
      <p class="lead">Every suburb with a station, by state:</p>
      <ul class="chips">
      \(lists)</ul>
      \(Map(dots, box: Coastline.box(around: dots.map(\.position)))?.svg("Cities and towns") ?? "")
      <p class="note">For programs: <a href="\(home)api/v1/market.json">the market as JSON</a>, and current prices as GeoJSON in
      <code>api/v1/prices/nsw-u91.geojson</code> for each state and fuel.</p>

      """
  }

  func fuelName(_ code: String) -> String {
    market.fuelNames[code].map { "\($0) (\(code))" } ?? code
  }

  /// The name of a fuel at the beginning of a line. A provider's own code stays as it is.
  func titled(_ fuel: String) -> String {
    market.fuelNames[fuel] == nil ? fuel : Words.title(fuelName(fuel))
  }

  /// Links to the fuels, except the one that is shown.
  func fuelChips(
    _ fuels: [(code: String, name: String)], but shown: String, _ link: (String) -> String
  ) -> [HTML] {
    fuels.map { fuel in
      fuel.code == shown
        ? "<li><b>\(Words.title(fuel.name))</b></li>\n" as HTML
        : "<li><a href=\"\(link(fuel.code))\">\(Words.title(fuel.name))</a></li>\n"
    }
  }

  /// The difference in c/L between the highest and the lowest daily average that the lines show.
  func span(_ key: MarketReport.Key) -> Double {
    let known = market.days[key]?.compactMap(\.average) ?? []
    return (known.max() ?? 0) - (known.min() ?? 0)
  }

  /// The current average, the last thirty days, and the verdict.
  ///
  /// - Parameters:
  ///   - id: the target for links to this card, or `nil` for none.
  ///   - span: how many cents the height of the line covers.
  func card(
    _ region: MarketReport.Region, _ fuel: String, title: String, _ link: String,
    id: String? = nil, span: Double
  ) -> HTML {
    let key = MarketReport.Key(region.code, fuel)
    guard let average = market.averages[key] else { return "" }
    let name: HTML = id.map { " id=\"\($0)\"" } ?? ""
    return """
      <article class="card"\(name)>
      <h2><a href="\(link)">\(Words.title(title))</a></h2>
      <p class="price"><b>\(Words.cents(average.average))</b> <span class="unit">c/L</span> \(change(average.change24h, over: "in 24 h"))</p>
      \(Chart(days: market.days[key] ?? [], width: 260, height: 56).sparkline(span: span))\(lateNote(average))\(verdict(key))</article>

      """
  }

  func lateNote(_ average: AverageNow) -> HTML { lateNote(isLate: average.delayHours > 0) }

  /// The note beside prices of a state that publishes them late.
  func lateNote(ofState state: String) -> HTML {
    lateNote(isLate: market.averages.contains { $0.key.region == state && $0.value.delayHours > 0 })
  }

  private func lateNote(isLate: Bool) -> HTML {
    isLate ? "<p class=\"note\">Prices are a day old: this state publishes them late.</p>\n" : ""
  }

  /// The verdict, its reason, and how good such advice was.
  func verdict(_ key: MarketReport.Key) -> HTML {
    guard let verdict = market.verdicts[key] else { return "" }
    let (word, mark) = Words.verdict(verdict.verdict, verdict.basis)
    return """
      <p class="verdict"><b class="\(mark)">\(word)</b></p>
      <p class="reason">\(verdict.reason).</p>
      \(today(verdict))<p class="score">\(scoreLine(key))</p>

      """
  }

  /// What the market is doing today, and a price worth stopping for.
  private func today(_ verdict: MarketReport.Verdict) -> HTML {
    guard let state = verdict.state.flatMap(Words.state), verdict.verdict != "no_difference" else {
      return ""
    }
    var parts = [state]
    if let raised = verdict.raised, raised > 0 {
      parts.append("\(Words.percent(raised)) of stations have raised their prices")
    }
    if let aim = verdict.aim { parts.append("a good price: \(Words.cents(aim)) or less") }
    return "<p class=\"note\">\(parts.joined(separator: " · "))</p>\n"
  }

  func scoreLine(_ key: MarketReport.Key) -> String {
    // The result of a few weeks is chance.
    guard let score = market.scores[key], score.windows >= 60 else {
      return "Not scored yet: too little history."
    }
    guard let capture = score.capture, let saving = score.saving, (score.perfect ?? 0) >= 0.5 else {
      return "Even perfect timing would have saved only \(Words.cents(score.perfect)) c/L since "
        + "\(Words.dateWithYear(score.from))."
    }
    return "Such advice would have saved \(Words.cents(saving)) c/L since "
      + "\(Words.dateWithYear(score.from)), \(Words.percent(capture)) of the saving of perfect timing."
  }

  private func averagesTable(_ regions: [MarketReport.Region], _ home: String) -> HTML {
    table(
      "Averages now", [("Region", false)] + market.fuels.map { ($0.code, true) },
      regions.map { region in
        let isLate = market.fuels.contains {
          (market.averages[.init(region.code, $0.code)]?.delayHours ?? 0) > 0
        }
        let cells = market.fuels.map { fuel -> HTML in
          guard let average = market.averages[.init(region.code, fuel.code)] else {
            return
              "<td class=\"number\"><span class=\"same\" title=\"too few stations\">·</span></td>"
          }
          return
            "<td class=\"number\"><a href=\"\(home)\(Self.path(of: region, fuel.code))\">\(Words.cents(average.average))</a><br>\(change(average.change24h))</td>"
        }
        return """
          <tr><th scope="row"><a href="\(home)\(Self.path(of: region))">\(Words.title(region.name))</a>\(isLate ? "*" : "")</th>\(cells)</tr>

          """
      })
  }

  private func delayNote(_ regions: [MarketReport.Region]) -> HTML {
    let names = market.fuels.map { "\($0.code): \($0.name)" }.joined(separator: ", ")
    let isLate = market.averages.values.contains { $0.delayHours > 0 }
    return """
      <p class="note">Below each average: its change over 24 hours, over the stations with a price at both ends. \(names).\
      \(isLate
        ? " * Published a day late: prices of yesterday. The national average now leaves them out; the national daily averages include them."
        : "")</p>

      """
  }

  private func feedSummary(_ home: String) -> HTML {
    let bad = market.feeds.filter { $0.status != "ok" && $0.status != "off" }
    guard !bad.isEmpty else {
      return
        "<p class=\"note\">All feeds are up to date: <a href=\"\(home)feeds.html\">feed health</a>.</p>\n"
    }
    let names = bad.map { "\($0.feed) is \($0.status)" }.joined(separator: ", ")
    return "<p class=\"note\">\(names): <a href=\"\(home)feeds.html\">feed health</a>.</p>\n"
  }
}
