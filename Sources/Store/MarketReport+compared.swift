import FuelModel

/// A station's price compared with the prices of one region in which the station lies. Prices are
/// cents per litre.
struct ComparedPrice {
  var station: Int
  var fuel: String
  var region: String
  var price: Double
  /// The price less the region's average; `nil` where too few stations make one.
  var difference: Double?
  var rank: Int
  var stations: Int
}

extension MarketReport {
  /// Fills in everything that follows from comparing each station with its regions: `standings`,
  /// the cheapest and dearest `stations` of each market, and those that will be the cheapest in
  /// `cheapestAhead`. One reading of the rows serves all of them. `offers` must be filled in before.
  mutating func compare(_ rows: [ComparedPrice]) {
    let offers = Dictionary(
      offers.map { (Standing.Key($0.station, $0.fuel), $0) },
      uniquingKeysWith: { first, _ in first })
    for (key, rows) in Dictionary(grouping: rows, by: { Key($0.region, $0.fuel) }) {
      let sorted = rows.sorted { ($0.price, $0.station) < ($1.price, $1.station) }
      let ends = sorted.count <= 15 ? sorted : sorted.prefix(10) + sorted.suffix(5)
      stations[key] = ends.compactMap { offers[.init($0.station, $0.fuel)] }
      let ahead = rows.compactMap { row -> (offer: Offer, next: Double)? in
        guard let offer = offers[.init(row.station, row.fuel)], let next = offer.next, next > 0
        else { return nil }
        return (offer, next)
      }.sorted { ($0.next, $0.offer.station) < ($1.next, $1.offer.station) }
      if !ahead.isEmpty {
        cheapestAhead[key] = ahead.prefix(5).map { $0.offer }
      }
    }
    // Of all regions around a station, the one with the fewest stations gives the best comparison.
    for row in rows {
      guard let difference = row.difference else { continue }
      let key = Standing.Key(row.station, row.fuel)
      if let known = standings[key],
        (known.stations, known.region) <= (row.stations, row.region)
      {
        continue
      }
      standings[key] = Standing(
        region: row.region, difference: difference, rank: row.rank, stations: row.stations)
    }
  }
}
