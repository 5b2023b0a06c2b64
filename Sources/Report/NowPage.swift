import FuelModel
import Views

extension Report {
  /// The market of one fuel on one page: a card for each capital, the cheapest stations of tomorrow,
  /// then all regions as a table and on a map.
  func nowPage(_ fuel: (code: String, name: String)?, depth: Int) -> HTML {
    guard let fuel else {
      return page(
        "Now", path: "index.html",
        """
        <h1>Fuel prices now</h1>
        <p class="lead">There are no averages yet: no prices are stored, or they have not been aggregated.</p>

        """)
    }
    let home = String(repeating: "../", count: depth)
    let regions = market.regions.filter { isKnown(.init($0.code, fuel.code)) }
    let capitals = regions.filter { $0.kind == "capital" }
    // All cards use one scale, so that a flat market looks flat.
    let span = capitals.map { self.span(.init($0.code, fuel.code)) }.max() ?? 0
    return page(
      "\(Words.title(fuel.name)) prices now",
      path: depth == 0 ? "index.html" : Self.path(ofFuel: fuel.code), depth: depth,
      """
      <h1>Should you fill up?</h1>
      \(fuelChips(market.fuels, but: fuel.code) { home + Self.path(ofFuel: $0) })\
      <div class="cards" data-fuel="\(fuel.code)">
      \(capitals.map { card($0, fuel.code, home + Self.path(of: $0, fuel.code), span: span) })</div>
      <p class="note">\(titled(fuel.code)) in the capital cities: the average of all stations, the last thirty \
      days and today so far, and whether to fill up. \(feedSummary(home))</p>
      \(ahead(capitals, fuel.code, home))<h2 id="states">All regions</h2>
      <div class="beside">
      \(averagesTable(regions, fuel.code, home))\(regionMap(regions, fuel.code, home))</div>
      \(places(home))
      """)
  }

  /// The stations that will be the cheapest of each capital by the prices published ahead.
  private func ahead(
    _ capitals: [MarketReport.Region], _ fuel: String, _ home: String
  ) -> [HTML] {
    capitals.compactMap { region in
      announced(region, .init(region.code, fuel), home: HTML(stringLiteral: home)).map { list in
        "<section class=\"panel\">\n<h2>Next prices in \(Words.place(region.name))</h2>\n\(list)</section>\n"
      }
    }
  }

  private func places(_ home: String) -> HTML {
    let states = Set(market.offers.map(\.state)).sorted()
    let lists: [HTML] = states.map {
      "<li><a href=\"\(home)places/\(Self.slug($0)).html\">\($0)</a></li>\n"
    }
    return """
      <h2 id="places">Places</h2>
      <p class="lead">Every suburb with a station, by state:</p>
      <ul class="chips">
      \(lists)</ul>
      <p class="note">For programs: <a href="\(home)api/v1/index.json">the index of all files</a>: JSON for each region and station, \
      GeoJSON for each state and fuel.</p>

      """
  }

  func fuelName(_ code: String) -> String {
    market.fuelNames[code].map { "\($0) (\(code))" } ?? code
  }

  /// The name of a fuel at the beginning of a line. A provider's own code stays as it is.
  func titled(_ fuel: String) -> String {
    market.fuelNames[fuel] == nil ? fuel : Words.title(fuelName(fuel))
  }

  /// Links to the fuels by their short names, in one row, and the fuel that is shown.
  func fuelChips(
    _ fuels: [(code: String, name: String)], but shown: String, _ link: (String) -> String
  ) -> HTML {
    let chips: [HTML] = fuels.map { fuel in
      fuel.code == shown
        ? "<li><b title=\"\(fuel.name)\">\(fuel.code)</b></li>\n"
        : "<li><a href=\"\(link(fuel.code))\" title=\"\(fuel.name)\">\(fuel.code)</a></li>\n"
    }
    return "<nav aria-label=\"Fuels\"><ul class=\"fuels\">\n\(chips)</ul></nav>\n"
  }

  /// The difference in c/L between the highest and the lowest daily average that the lines show.
  private func span(_ key: MarketReport.Key) -> Double {
    let known = market.days[key]?.compactMap(\.average) ?? []
    return (known.max() ?? 0) - (known.min() ?? 0)
  }

  /// The verdict, the current average, the last thirty days, and how good such advice was.
  ///
  /// - Parameter span: how many cents the height of the line covers.
  private func card(
    _ region: MarketReport.Region, _ fuel: String, _ link: String, span: Double
  ) -> HTML {
    let key = MarketReport.Key(region.code, fuel)
    return """
      <article class="card" data-region="\(region.code)">
      <h2><a href="\(link)">\(Words.title(region.name))</a></h2>
      \(verdict(region, key))\
      \(Chart(days: market.days[key] ?? [], width: 260, height: 56).sparkline(span: span))\(why(key))</article>

      """
  }

  /// The note beside prices that a state publishes late.
  func lateNote(_ delayHours: Int?) -> HTML {
    (delayHours ?? 0) > 0
      ? "<p class=\"note\">Prices are a day old: this state publishes them late.</p>\n" : ""
  }

  func advice(_ region: MarketReport.Region, _ key: MarketReport.Key) -> Advice? {
    market.verdicts[key].map {
      Advice($0, market.averages[key], zone(of: region), now: now)
    }
  }

  /// What to do, when it will be cheapest, the average now and a good price.
  func verdict(_ region: MarketReport.Region, _ key: MarketReport.Key) -> HTML {
    guard let average = market.averages[key] else {
      let last = market.days[key]?.last { $0.average != nil }
      return """
        <p class="verdict none"><b>No price now</b></p>
        <p class="reason">Too few stations here have a price that is believed.\(last.map { " The last average was \(Words.cents($0.average)) on \(Words.weekday($0.day))." } ?? "")</p>

        """
    }
    let advice = advice(region, key)
    let good = advice?.goodPrice.map { " A good price today: \(Words.cents($0)) or less." } ?? ""
    return """
      \(advice.map { "<p class=\"verdict \($0.mark)\"><b>\($0.word)</b></p>\n<p class=\"reason\">\($0.sentence).\(good)</p>\n" as HTML } ?? "")\
      <p class="price"><b>\(Words.cents(average.average))</b> <span class="unit">c/L</span> \(change(average.change24h, over: "in 24 h"))</p>
      \(lateNote(average.delayHours))
      """
  }

  /// The reason of a verdict with its chances, what the market is doing, and how good such advice was.
  func why(_ key: MarketReport.Key) -> HTML {
    guard market.averages[key] != nil, let verdict = market.verdicts[key] else { return "" }
    var parts = [verdict.reason]
    if let state = verdict.state.flatMap(Words.state), verdict.verdict != "no_difference" {
      parts.append(state)
    }
    if let raised = verdict.raised, raised > 0 {
      parts.append("\(Words.percent(raised)) of stations have raised their prices")
    }
    let (record, share) = record(key)
    return """
      <p class="score">\(record)</p>
      <details><summary>Why</summary><p class="note">\(parts.joined(separator: ". ")).\(share)</p></details>

      """
  }

  /// What such advice saved, and the share that this is of the most that timing can save.
  private func record(_ key: MarketReport.Key) -> (words: String, share: String) {
    guard let score = market.scores[key] else {
      return ("Not scored yet: too little history.", "")
    }
    let since = Words.dateWithYear(score.from)
    guard let capture = score.capture, let saving = score.saving, (score.perfect ?? 0) >= 0.5 else {
      return (
        "Even perfect timing would have saved only \(Words.cents(score.perfect)) c/L since \(since).",
        ""
      )
    }
    return (
      "Such advice would have saved \(Words.cents(saving)) c/L since \(since).",
      " Such advice has reached \(Words.percent(capture)) of what perfect timing would have saved."
    )
  }

  private func averagesTable(
    _ regions: [MarketReport.Region], _ fuel: String, _ home: String
  ) -> HTML {
    let isLate = market.averages.values.contains { $0.delayHours > 0 }
    return """
      <div>
      \(table(
        "Averages now",
        [("Region", false), ("c/L", true), ("24 hours", true), ("7 days", true), ("Advice", false)],
        regions.map { region in
          let key = MarketReport.Key(region.code, fuel)
          let average = market.averages[key]
          return """
            <tr><th scope="row"><a href="\(home)\(Self.path(of: region, fuel))">\(Words.title(region.name))</a>\((average?.delayHours ?? 0) > 0 ? "*" : "")</th>\
            <td class="number">\(Words.cents(average?.average))</td><td class="number">\(change(average?.change24h))</td>\
            <td class="number">\(change(average?.change7d))</td><td>\(advice(region, key)?.word ?? "")</td></tr>

            """
        }))<p class="note">Changes compare only stations that had a price at both times.\
      \(isLate ? " * Published a day late: prices of yesterday. The national average of now leaves them out; the national daily averages include them." : "")</p>
      </div>

      """
  }

  /// A map of the regions that have a centre, the capitals first.
  func regionMap(_ regions: [MarketReport.Region], _ fuel: String, _ home: String) -> HTML {
    let labels = regions.compactMap { region -> Map.Label? in
      guard let position = region.centre, let average = market.averages[.init(region.code, fuel)]
      else { return nil }
      let name = Words.title(region.name)
      return Map.Label(
        position: position, mark: .usual, text: Words.cents(average.average),
        title: "\(name): \(Words.cents(average.average))", link: home + Self.path(of: region, fuel))
    }
    let names = regions.compactMap { region in
      region.centre.map { (position: $0, text: Words.title(region.name)) }
    }
    let capitals = regions.count { $0.kind == "capital" }
    return Map(labels, names: names, first: capitals)?.svg("Cities and towns") ?? ""
  }

  private func feedSummary(_ home: String) -> HTML {
    let bad = market.feeds.filter { $0.status != "ok" && $0.status != "off" }
    let names = bad.map { "\($0.feed) is \($0.status)" }.joined(separator: ", ")
    return
      "\(bad.isEmpty ? "All feeds are up to date" : names): <a href=\"\(home)feeds.html\">feed health</a>."
  }
}
