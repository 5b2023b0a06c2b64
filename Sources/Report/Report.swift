import Foundation
package import FuelModel
import Synchronization
package import Views

/// The market as static pages. They load nothing from other servers, and any program that reads
/// HTML can show them. The script only searches for places. All data come from the published
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
  /// Offers by fuel and region. An offer is listed under the state of its station, and under the
  /// smallest region around the station.
  let offers: [MarketReport.Key: [Offer]]

  package init(_ market: MarketReport, now: Instant, version: String, address: String?) {
    self.market = market
    self.now = now
    self.version = version
    self.address = address
    regions = Dictionary(
      market.regions.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
    var offers: [MarketReport.Key: [Offer]] = [:]
    for offer in market.offers {
      let nearest = market.standings[.init(offer.station, offer.fuel)]?.region
      for region in Set([offer.state, nearest ?? offer.state]) {
        offers[.init(region, offer.fuel), default: []].append(offer)
      }
    }
    self.offers = offers
  }

  /// The paths below the report's folder, with the text of each file. Pages of suburbs and stations
  /// contain no time other than those of prices, so that a page whose data did not change is
  /// written with the same text.
  package var files: [(path: String, text: String)] {
    var files: [(path: String, text: String)] = [
      ("style.css", styleSheet), ("site.js", siteScript),
    ]
    let withAverages = market.regions.filter(hasAverage)
    for fuel in market.fuels {
      files.append((Self.path(ofFuel: fuel.code), nowPage(fuel, depth: 1).text))
      files += onAllCores(
        withAverages.filter { market.averages[.init($0.code, fuel.code)] != nil }
      ) { (Self.path(of: $0, fuel.code), fuelPage($0, fuel).text) }
    }
    for region in withAverages {
      files.append((Self.path(of: region), regionPage(region).text))
      files.append(("feed/\(Self.slug(region.code)).atom", atom(region).text))
    }
    let localities = localities()
    files += onAllCores(localities) { ($0.path, localityPage($0).text) }
    func grouped<Key: Hashable & Comparable, Value>(
      _ values: [Value], by key: (Value) -> Key
    ) -> [(key: Key, value: [Value])] {
      Dictionary(grouping: values, by: key).sorted { $0.key < $1.key }
    }
    for (state, places) in grouped(localities, by: \.state) {
      files.append(("places/\(Self.slug(state)).html", placesPage(state, places).text))
    }
    files += onAllCores(grouped(market.offers, by: \.station)) {
      (Self.path(ofStation: $0.key), stationPage($0.value).text)
    }
    files += onAllCores(
      grouped(market.offers) { "\(Self.slug($0.state))-\(Self.slug($0.fuel))" }
    ) { ("api/v1/prices/\($0.key).geojson", geoJSON($0.value)) }
    files.append(("api/v1/market.json", market.json + "\n"))
    files.append(("places.js", placesScript(withAverages, localities)))
    files += [("feeds.html", feedsPage().text), ("method.html", methodPage().text)]
    // The index is last, so that it never links to a file that does not exist yet.
    return files + [("index.html", nowPage(market.fuels.first, depth: 0).text)]
  }

  /// Makes one file of each value on all processor cores. The order of the values is kept.
  private func onAllCores<Value: Sendable>(
    _ values: [Value], _ make: @Sendable (Value) -> (path: String, text: String)
  ) -> [(path: String, text: String)] {
    let parts = ProcessInfo.processInfo.activeProcessorCount
    let made = Mutex<[Int: [(path: String, text: String)]]>([:])
    DispatchQueue.concurrentPerform(iterations: parts) { part in
      let files = values[values.count * part / parts..<values.count * (part + 1) / parts].map(make)
      made.withLock { $0[part] = files }
    }
    return made.withLock { made in (0..<parts).flatMap { made[$0] ?? [] } }
  }

  // Codes come from the user's configuration. A path may contain only plain characters.

  static func path(of region: MarketReport.Region) -> String { "region/\(slug(region.code)).html" }

  /// Each fuel has pages of its own, so that a link selects the fuel.
  static func path(ofFuel code: String) -> String { "\(slug(code))/index.html" }

  static func path(of region: MarketReport.Region, _ fuel: String) -> String {
    "\(slug(fuel))/\(slug(region.code)).html"
  }

  func hasAverage(_ region: MarketReport.Region) -> Bool {
    market.fuels.contains { market.averages[.init(region.code, $0.code)] != nil }
  }

  /// The zone of a region, or of the nation if no region is given. UTC if there is no nation.
  func zone(of region: MarketReport.Region?) -> Zone { (region ?? nation)?.zone ?? .utc }

  var nation: MarketReport.Region? { market.regions.first { $0.kind == "nation" } }

  /// An instant in the nation's local time: `1 Jul, 20:05 Sydney time`.
  func nationTime(_ instant: Instant) -> String {
    "\(Words.time(instant, zone(of: nil))) \(clockName(of: nil))"
  }

  func clockName(of region: MarketReport.Region?) -> String {
    let zone = zone(of: region).rawValue
    return String(zone.split(separator: "/").last ?? "")
      .replacing("_", with: " ") + " time"
  }

  /// A whole page.
  ///
  /// - Parameters:
  ///   - about: a description of the page, for search engines and for previews of links.
  ///   - path: the path below the report's folder, for the address of the page.
  ///   - depth: how many folders the page is below the report's folder.
  ///   - isDated: whether the page states when it was written, and therefore differs each time.
  func page(
    _ title: String, about: String = "Retail fuel prices: averages, trends and whether to fill up.",
    path: String, depth: Int = 0, isDated: Bool = true, _ body: HTML
  ) -> HTML {
    let home = HTML(stringLiteral: String(repeating: "../", count: depth))
    let attributions = Set(market.feeds.map(\.attribution)).filter { !$0.isEmpty }.sorted()
    return """
      <!DOCTYPE html>
      <html lang="en-AU">
      \(head(title, about: about, path: path, home: home))\
      <body>
      <a class="skip" href="#content">Skip to the content</a>
      \(siteHeader(home: home))\
      <main id="content">
      \(body)</main>
      <footer>
      <p>Retail prices in cents per litre\(isDated ? asOf : ""). Written by Bowser \(version).</p>
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
      <meta property="og:type" content="website">
      <meta property="og:site_name" content="Bowser">
      <meta name="twitter:card" content="summary">
      \(own)\
      <link rel="icon" href="data:,">
      <link rel="stylesheet" href="\(home)style.css">
      <script src="\(home)site.js" data-home="\(home)" defer></script>
      </head>

      """
  }

  /// The links to the main pages and the search for places, which stand above every page.
  private func siteHeader(home: HTML) -> HTML {
    """
    <header class="site">
    <a class="mark" href="\(home)index.html">Bowser</a>
    <nav aria-label="Pages"><ul>
    <li><a href="\(home)index.html">Now</a></li>
    <li><a href="\(home)index.html#states">States and cities</a></li>
    <li><a href="\(home)index.html#places">Places</a></li>
    <li><a href="\(home)feeds.html">Feeds</a></li>
    <li><a href="\(home)method.html">Method</a></li>
    </ul></nav>
    <form class="search" role="search" hidden>
    <label for="find">Suburb, postcode or station</label>
    <input id="find" type="search" autocomplete="off" spellcheck="false">
    <ul id="found" aria-live="polite"></ul>
    </form>
    </header>

    """
  }

  private var asOf: HTML {
    ", as of <time datetime=\"\(now)\">\(nationTime(now))</time>"
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
