package import FuelModel
package import Simulator

extension SimulatedFeeds {
  /// Returns the prices of a feed's stations at an instant, as sorted lines `name|fuel|c/L` with
  /// the feed's own names of the fuels. A pipeline must arrive at the same prices.
  package func truth(of feed: String, at instant: Instant) -> [String] {
    let states = Self.states[feed] ?? []
    var lines: [String] = []
    for site in market.sites where states.contains(site.station.state) {
      for (fuel, _) in site.changes {
        guard let change = market.current(site, fuel, at: instant),
          let price = Price(tenths: change.tenths)
        else { continue }
        let code = site.sellsLowAromatic && fuel == .u91 ? Fuel.laf : fuel
        lines.append("\(site.station.name)|\(code.rawValue)|\(price.centsPerLitre)")
      }
    }
    return lines.sorted()
  }
}
