import FuelModel
import Views

extension Report {
  /// The page of one region, with a card for each fuel, the cheapest stations and a map.
  func regionPage(_ region: MarketReport.Region) -> HTML {
    let fuels = market.fuels.filter { market.averages[.init(region.code, $0.code)] != nil }
    let mapped = fuels.first.flatMap { offers[.init(region.code, $0.code)] } ?? []
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
      \(cheapest(region, fuels))\(map(mapped, depth: 1, region.name))

      """)
  }

  /// The ten cheapest stations of each fuel.
  private func cheapest(
    _ region: MarketReport.Region, _ fuels: [(code: String, name: String)]
  ) -> HTML {
    let lists = fuels.compactMap { fuel -> HTML? in
      guard let stations = market.stations[.init(region.code, fuel.code)], !stations.isEmpty else {
        return nil
      }
      let list = stationTable("Cheapest \(fuel.name)", Array(stations.prefix(10)), "../") {
        place($0)
      }
      return """
        <h3>\(Words.title(fuel.name)) <span class="unit">\(fuel.code)</span></h3>
        \(list)
        """
    }
    guard !lists.isEmpty else { return "" }
    return """
      <h2 id="cheapest">Cheapest stations</h2>
      <p class="note">The times are local at each station.</p>
      <div class="panel">
      \(lists)</div>

      """
  }
}
