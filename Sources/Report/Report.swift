import Foundation
package import FuelModel
package import Views

/// The market as static pages. They load nothing from other servers, and any program that reads
/// HTML can show them. What needs the script is in `siteScript`. All data come from the published
/// views.
package struct Report: Sendable {
  let market: MarketReport
  let now: Instant
  /// The version of the program that writes the report.
  let version: String
  /// The address at which the report will be published, with a slash at its end. `nil` if the pages
  /// are not to name their own address.
  let address: String?
  /// Regions by code, for a fast lookup: each of a hundred thousand prices needs its region.
  let regions: [String: MarketReport.Region]
  /// The places in `market.offers`, and the positions, of the prices of each fuel that are believed.
  let sellers: [String: [(place: Int, position: Position, direction: SIMD3<Double>)]]

  package init(_ market: MarketReport, now: Instant, version: String, address: String?) {
    self.market = market
    self.now = now
    self.version = version
    self.address = address
    regions = Dictionary(
      market.regions.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
    var sellers: [String: [(place: Int, position: Position, direction: SIMD3<Double>)]] = [:]
    for (place, offer) in market.offers.enumerated() where offer.isFresh && !offer.isFlagged {
      if let position = offer.position {
        sellers[offer.fuel, default: []].append((place, position, position.direction))
      }
    }
    self.sellers = sellers
  }

  /// A file of the report. Its text is made when it is asked for, so that a large site is never in
  /// memory as a whole, and files are made on all processor cores.
  package struct File: Sendable {
    /// The path below the report's folder.
    package let path: String
    package let text: @Sendable () -> String
  }

  /// The files of the report. Those of suburbs and stations contain no time other than those of
  /// prices, so that a file whose data did not change is made with the same text. The index is last,
  /// so that it never links to a file that does not exist yet.
  package var files: [File] {
    let regions = market.regions.filter { region in
      market.fuels.contains { isKnown(.init(region.code, $0.code)) }
    }
    let localities = localities()
    var files = [
      File(path: "style.css") { styleSheet }, File(path: "site.js") { siteScript },
      File(path: "read.js") { readScript() },
      File(path: "places.js") { placesScript(regions, localities) },
      File(path: "feeds.html") { feedsPage().text },
      File(path: "method.html") { methodPage().text },
    ]
    for fuel in market.fuels {
      files.append(File(path: Self.path(ofFuel: fuel.code)) { nowPage(fuel, depth: 1).text })
      files.append(File(path: "near/\(Self.slug(fuel.code)).js") { nearScript(fuel.code) })
      files += regions.filter { isKnown(.init($0.code, fuel.code)) }.map { region in
        let path = Self.path(of: region, fuel.code)
        return File(path: path) { fuelPage(region, fuel, path: path).text }
      }
    }
    for region in regions {
      let slug = Self.slug(region.code)
      if let first = market.fuels.first(where: { isKnown(.init(region.code, $0.code)) }) {
        let path = Self.path(of: region)
        files.append(File(path: path) { fuelPage(region, first, path: path).text })
      }
      files.append(File(path: "feed/\(slug).atom") { atom(region).text })
      files.append(File(path: "api/v1/region/\(slug).json") { regionJSON(region) })
    }
    files += localities.map { place in File(path: place.path) { localityPage(place).text } }
    for (state, places) in Dictionary(grouping: localities, by: \.state) {
      files.append(File(path: "places/\(Self.slug(state)).html") { placesPage(state, places).text })
    }
    for (station, offers) in Dictionary(grouping: market.offers, by: \.station) {
      let offers = offers.sorted { Fuel.precedes($0.fuel, $1.fuel) }
      files.append(File(path: Self.path(ofStation: station)) { stationPage(offers).text })
      files.append(File(path: "api/v1/station/\(station).json") { stationJSON(offers) })
    }
    let points = Dictionary(grouping: market.offers) {
      "\(Self.slug($0.state))-\(Self.slug($0.fuel))"
    }
    files += points.map { name, offers in
      File(path: "api/v1/prices/\(name).geojson") { geoJSON(offers) }
    }
    files += [
      File(path: "api/v1/market.json") { market.json + "\n" },
      File(path: "api/v1/changes.json") { changesJSON() },
      File(path: "api/v1/index.json") { indexJSON(regions) },
    ]
    return files + [File(path: "index.html") { nowPage(market.fuels.first, depth: 0).text }]
  }

  // Codes come from the user's configuration. A path may contain only plain characters.

  static func path(of region: MarketReport.Region) -> String { "region/\(slug(region.code)).html" }

  /// Each fuel has pages of its own, so that a link selects the fuel.
  static func path(ofFuel code: String) -> String { "\(slug(code))/index.html" }

  static func path(of region: MarketReport.Region, _ fuel: String) -> String {
    "\(slug(fuel))/\(slug(region.code)).html"
  }

  /// Whether a market has an average now or had one in the last days. Where all prices are too old to
  /// believe for a while, its pages stay.
  func isKnown(_ key: MarketReport.Key) -> Bool {
    market.averages[key] != nil || market.days[key]?.contains { $0.average != nil } ?? false
  }

  /// The zone of a region, or of the nation if no region is given. UTC if there is no nation.
  func zone(of region: MarketReport.Region?) -> Zone {
    (region ?? market.regions.first { $0.kind == "nation" })?.zone ?? .utc
  }

  /// An instant in the local time of a region, or of the nation: `1 Jul, 20:05 Sydney time`.
  func localTime(_ instant: Instant, _ region: MarketReport.Region?) -> String {
    "\(Words.time(instant, zone(of: region))) \(clockName(of: region))"
  }

  func clockName(of region: MarketReport.Region?) -> String {
    let zone = zone(of: region).rawValue
    return String(zone.split(separator: "/").last ?? "")
      .replacing("_", with: " ") + " time"
  }

  /// When the prices of a state were read last, or those of any state.
  func readAt(_ state: String) -> Instant? {
    market.origins[state]?.readAt ?? market.origins.values.compactMap(\.readAt).max()
  }

  /// A whole page.
  ///
  /// - Parameters:
  ///   - about: a description of the page, for search engines and for previews of links.
  ///   - path: the path below the report's folder, for the address of the page.
  ///   - depth: how many folders the page is below the report's folder.
  ///   - state: the state whose prices the page shows, or empty for several.
  ///   - isDated: whether the page states when its prices were read, and therefore differs each time.
  ///     The script states it on other pages.
  func page(
    _ title: String, about: String = "Retail fuel prices: averages, trends and whether to fill up.",
    path: String, depth: Int = 0, state: String = "", isDated: Bool = true, _ body: HTML
  ) -> HTML {
    let home = HTML(stringLiteral: String(repeating: "../", count: depth))
    let clock = state.isEmpty ? "" : "Times are \(clockName(of: regions[state]))"
    let attributions =
      market.origins[state].map { [$0.attribution] }
      ?? Set(market.feeds.map(\.attribution)).filter { !$0.isEmpty }.sorted()
    return """
      <!DOCTYPE html>
      <html lang="en-AU">
      \(head(title, about: about, path: path, home: home))\
      <body>
      <a class="skip" href="#content">Skip to the content</a>
      \(siteHeader(home: home))\
      <main id="content">
      <p class="age" data-state="\(state)" data-clock="\(clock)">\(isDated ? age(state) : "\(clock). <a href=\"\(home)feeds.html\">When prices were read</a>")</p>
      \(body)</main>
      <footer>
      <p>Retail prices in cents per litre. Written by Bowser \(version).</p>
      \(attributionList(attributions))</footer>
      </body>
      </html>

      """
  }

  /// What browsers, search engines and previews of links read of a page.
  private func head(_ title: String, about: String, path: String, home: HTML) -> HTML {
    let own: HTML =
      address.map {
        """
        <link rel="canonical" href="\($0)\(path)">
        <meta property="og:url" content="\($0)\(path)">

        """
      } ?? ""
    return """
      <head>
      <meta charset="utf-8">
      <title>\(title) · Bowser</title>
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'">
      <meta name="description" content="\(about)">
      <meta property="og:title" content="\(title)">
      <meta property="og:description" content="\(about)">
      \(own)\
      <link rel="icon" href="data:,">
      <link rel="stylesheet" href="\(home)style.css">
      <script src="\(home)read.js" defer></script>
      <script src="\(home)site.js" data-home="\(home)" defer></script>
      </head>

      """
  }

  /// The links to the main pages and the search for places, which stand above every page.
  private func siteHeader(home: HTML) -> HTML {
    """
    <header class="site">
    <a class="mark" href="\(home)index.html">Bowser</a>\(market.isSimulated ? " <span class=\"unit\">demo: invented prices</span>" as HTML : "")
    <nav aria-label="Pages"><ul>
    <li><a href="\(home)index.html">Now</a></li>
    <li><a href="\(home)index.html#states">Regions</a></li>
    <li><a href="\(home)index.html#places">Places</a></li>
    <li><a href="\(home)feeds.html">Feeds</a></li>
    <li><a href="\(home)method.html">Method</a></li>
    </ul></nav>
    <form class="search" role="search" hidden>
    <label for="find" class="unseen">Suburb, postcode or station</label>
    <input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="Suburb, postcode or station">
    <button type="button" id="near">Near me</button>
    <ul id="found" aria-live="polite"></ul>
    </form>
    </header>

    """
  }

  /// When the prices were read, and that they are old where they are.
  private func age(_ state: String) -> HTML {
    guard let read = readAt(state) else { return "" }
    // Western Australia is read twice a day. The script has the same limit.
    let isOld = read + .seconds(86_400) < now
    return """
      \(isOld ? "<b class=\"bad\">Old prices.</b> " as HTML : "")Prices read <time datetime="\(read)">\(localTime(read, regions[state]))</time>
      """
  }

  private func attributionList(_ attributions: [String]) -> HTML {
    guard !attributions.isEmpty else { return "" }
    return """
      <p>The data belong to the states:</p>
      <ul>
      \(attributions.map { "<li>\($0)</li>\n" as HTML })</ul>

      """
  }

  /// A change in price. ▲ means dearer and ▼ cheaper; who cannot see the arrow gets a word.
  func change(_ value: Double?, over span: String = "") -> HTML {
    guard let value else { return "" }
    let tenths = Cents.tenths(value)
    let tail: HTML = span.isEmpty ? "" : " <span class=\"unit\">\(span)</span>"
    let (style, sign, word) =
      tenths > 0
      ? ("up", "▲", "up") : tenths < 0 ? ("down", "▼", "down") : ("same", "=", "unchanged")
    return """
      <span class="\(style)"><span aria-hidden="true">\(sign)</span><span class="unseen">\(word)</span> \
      \(Words.cents(abs(value)))</span>\(tail)
      """
  }

  /// A table that scrolls horizontally where the screen is too narrow for it.
  func table(_ name: String, _ head: [(String, isNumber: Bool)], _ rows: [HTML]) -> HTML {
    """
    <div class="scroll" role="region" aria-label="\(name)" tabindex="0">
    <table>
    <thead><tr>\(head.map { column in
      column.isNumber
        ? "<th scope=\"col\" class=\"number\">\(column.0)</th>" as HTML
        : "<th scope=\"col\">\(column.0)</th>"
    })</tr></thead>
    <tbody>
    \(rows)</tbody>
    </table>
    </div>

    """
  }
}
