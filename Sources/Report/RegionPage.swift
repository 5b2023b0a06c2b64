import FuelModel
import Store

extension Report {
  /// The page of one region, with a card for each fuel.
  func regionPage(_ region: MarketReport.Region) -> HTML {
    let fuels = market.fuels.filter { market.averages[.init(region.code, $0.code)] != nil }
    return page(
      Words.title(region.name), path: Self.path(of: region), depth: 1,
      """
      <h1>Fuel prices in \(region.name)</h1>
      <p class="lead">As of \(Words.time(now, zone(of: region))) \(clockName(of: region)).</p>
      <div class="cards">
      \(fuels.map { fuel in
        card(
          region, fuel.code, title: fuel.name, "../" + Self.path(of: region, fuel.code), id: fuel.code,
          span: max(span(.init(region.code, fuel.code)), 10))
      })</div>
      <p class="note"><a href="../feed/\(Self.slug(region.code)).atom">Changes of the advice and the market here, as an Atom feed</a></p>

      """)
  }
}
