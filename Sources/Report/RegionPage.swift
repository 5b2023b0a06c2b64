import FuelModel
import Store

extension Report {
  /// One region: what each fuel costs and does there.
  func regionPage(_ region: MarketReport.Region) -> HTML {
    let fuels = market.fuels.filter { market.averages[.init(region.code, $0.code)] != nil }
    return page(
      Words.title(region.name), path: Self.path(of: region), depth: 1,
      """
      <h1>Fuel prices in \(region.name)</h1>
      <p class="lead">As of \(Words.time(now, zone(of: region))) \(clockName(of: region)).</p>
      <div class="cards">
      \(fuels.map { fuelCard(region, $0) })</div>
      <p class="note"><a href="../feed/\(Self.slug(region.code)).atom">What turns here, as an Atom feed</a></p>

      """)
  }

  private func fuelCard(
    _ region: MarketReport.Region, _ fuel: (code: String, name: String)
  ) -> HTML {
    let key = MarketReport.Key(region.code, fuel.code)
    guard let average = market.averages[key] else { return "" }
    let known = market.days[key]?.compactMap(\.average) ?? []
    let span = (known.max() ?? 0) - (known.min() ?? 0)
    return """
      <article class="card" id="\(fuel.code)">
      <h2><a href="../\(Self.path(of: region, fuel.code))">\(Words.title(fuel.name))</a></h2>
      <p class="price"><b>\(Words.cents(average.average))</b> <span class="unit">c/L</span> \(change(average.change24h, over: "in 24 h"))</p>
      \(Chart(days: market.days[key] ?? [], width: 260, height: 56).sparkline(span: max(span, 10)))\(verdict(key))</article>

      """
  }
}
