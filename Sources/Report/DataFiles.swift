import Foundation
import FuelModel
import Views

/// The market as data files for programs: JSON, GeoJSON and Atom. As long as a format keeps its
/// version, members are only added to it.
extension Report {
  /// The current prices of one state and fuel as points.
  func geoJSON(_ offers: [Offer]) -> String {
    let features = offers.compactMap { offer -> String? in
      guard let position = offer.position else { return nil }
      return jsonObject([
        "type": json("Feature"), "id": json(offer.station),
        "geometry": jsonObject([
          "type": json("Point"),
          "coordinates": jsonList([json(position.longitude), json(position.latitude)]),
        ]),
        "properties": jsonObject([
          "station_id": json(offer.station), "name": json(offer.name), "brand": json(offer.brand),
          "address": json(market.descriptions[offer.station]?.address),
          "suburb": json(offer.suburb), "postcode": json(offer.postcode),
          "state": json(offer.state), "fuel": json(offer.fuel),
          "price_cpl": Cents.text(offer.price), "effective_at": json(offer.since),
          "confirmed_at": json(offer.confirmed), "is_fresh": json(offer.isFresh),
          "is_flagged": json(offer.isFlagged), "next_price_cpl": json(offer.next),
          "next_effective_at": json(offer.nextAt),
        ]),
      ])
    }
    return jsonObject([
      "type": json("FeatureCollection"), "version": "1", "made_at": json(now),
      "attribution": json(attribution(offers[0].state)),
      "delay_hours": json(offers[0].delayHours), "features": jsonList(features, isLong: true),
    ]) + "\n"
  }

  /// Whose data the prices of a state are. A state without a feed of its own is in that of another.
  private func attribution(_ state: String?) -> String {
    state.flatMap { market.origins[$0]?.attribution }
      ?? market.origins.values.map(\.attribution).sorted().joined(separator: "; ")
  }

  /// One station: every price with the next one and the advice, the last thirty days of its first
  /// fuel, and the nearest stations. It has no time of making, so that it changes with its data only.
  func stationJSON(_ offers: [Offer]) -> String {
    let first = offers[0]
    let description = market.descriptions[first.station]
    let prices = offers.map { offer in
      let comparison = market.comparisons[offer.station]?[offer.fuel]
      return jsonObject([
        "fuel": json(offer.fuel), "price_cpl": Cents.text(offer.price),
        "effective_at": json(offer.since), "is_fresh": json(offer.isFresh),
        "is_flagged": json(offer.isFlagged), "next_price_cpl": json(offer.next),
        "next_effective_at": json(offer.nextAt),
        "verdict": json(description?.advice[offer.fuel]?.verdict),
        "basis": json(description?.advice[offer.fuel]?.basis),
        "reason": json(description?.advice[offer.fuel]?.reason),
        "region": json(comparison?.region), "difference_cpl": json(comparison?.difference),
        "rank_in_region": json(comparison?.rank), "stations": json(comparison?.stations),
      ])
    }
    let days = (market.stationDays[first.station] ?? [:]).sorted { $0.key < $1.key }.map {
      jsonObject(["day": json($0.key), "average_cpl": json($0.value)])
    }
    let near = nearest(to: first).map { other in
      jsonObject([
        "station_id": json(other.station), "name": json(other.name),
        "distance_km": json(other.kilometres.map { ($0 * 100).rounded() / 100 }),
        "price_cpl": Cents.text(other.price), "next_price_cpl": json(other.next),
      ])
    }
    return jsonObject([
      "version": "1", "station_id": json(first.station), "name": json(first.name),
      "brand": json(first.brand), "address": json(description?.address),
      "suburb": json(first.suburb), "postcode": json(first.postcode), "state": json(first.state),
      "phone": json(description?.phone), "latitude": json(first.position?.latitude),
      "longitude": json(first.position?.longitude),
      "attribution": json(attribution(first.state)), "delay_hours": json(first.delayHours),
      "prices": jsonList(prices), "days_fuel": json(first.fuel), "days": jsonList(days),
      "nearest": jsonList(near),
    ]) + "\n"
  }

  /// One region: for each fuel the average, the whole verdict, the last thirty days and the cheapest
  /// stations.
  func regionJSON(_ region: MarketReport.Region) -> String {
    let fuels = market.fuels.filter { isKnown(.init(region.code, $0.code)) }.map { fuel in
      let key = MarketReport.Key(region.code, fuel.code)
      let average = market.averages[key]
      let advice = advice(region, key)
      let days = (market.days[key] ?? []).map {
        jsonObject([
          "day": json($0.day), "average_cpl": json($0.average), "min_cpl": json($0.lowest),
          "max_cpl": json($0.highest), "moving_average_7d_cpl": json($0.movingAverage),
        ])
      }
      let cheapest = (market.ranking[key] ?? []).prefix(10).map { place in
        let offer = market.offers[place]
        return jsonObject([
          "station_id": json(offer.station), "name": json(offer.name),
          "price_cpl": Cents.text(offer.price), "next_price_cpl": json(offer.next),
        ])
      }
      return jsonObject([
        "fuel": json(fuel.code), "average_cpl": json(average?.average),
        "min_cpl": json(average?.lowest), "max_cpl": json(average?.highest),
        "change_24h_cpl": json(average?.change24h), "change_7d_cpl": json(average?.change7d),
        "stations": json(average?.stations), "advice": json(advice?.word),
        "sentence": json(advice?.sentence), "good_price_cpl": json(advice?.goodPrice),
        "verdict": market.verdicts[key]?.json ?? "null", "days": jsonList(days),
        "cheapest": jsonList(cheapest),
      ])
    }
    return jsonObject([
      "version": "1", "made_at": json(now), "region": json(region.code),
      "name": json(region.name), "kind": json(region.kind), "state": json(region.state),
      "time_zone": json(region.zone.rawValue), "latitude": json(region.centre?.latitude),
      "longitude": json(region.centre?.longitude), "attribution": json(attribution(region.state)),
      "fuels": jsonList(fuels, isLong: true),
    ]) + "\n"
  }

  /// What there is: regions, fuels and states, with their names, centres and times, and where the
  /// other files are.
  func indexJSON(_ regions: [MarketReport.Region]) -> String {
    jsonObject([
      "version": "1", "made_at": json(now), "attribution": json(attribution(nil)),
      "files": jsonObject([
        "region": json("api/v1/region/{file}.json"), "market": json("api/v1/market.json"),
        "station": json("api/v1/station/{station_id}.json"),
        "prices": json("api/v1/prices/{state}-{fuel}.geojson"),
        "changes": json("api/v1/changes.json"),
      ]),
      "fuels": jsonList(
        market.fuels.map { jsonObject(["fuel": json($0.code), "name": json($0.name)]) }),
      "states": jsonList(
        market.origins.sorted { $0.key < $1.key }.map { state, origin in
          jsonObject([
            "state": json(state), "attribution": json(origin.attribution),
            "read_at": json(origin.readAt),
          ])
        }),
      "regions": jsonList(
        regions.map {
          jsonObject([
            "region": json($0.code), "file": json(Self.slug($0.code)), "name": json($0.name),
            "kind": json($0.kind), "state": json($0.state),
            "time_zone": json($0.zone.rawValue), "latitude": json($0.centre?.latitude),
            "longitude": json($0.centre?.longitude),
          ])
        }, isLong: true),
    ]) + "\n"
  }

  /// The prices that changed in the last day, oldest first. A list for each, because objects would
  /// double the file.
  func changesJSON() -> String {
    jsonObject([
      "version": "1", "made_at": json(now), "attribution": json(attribution(nil)),
      "columns": jsonList(
        ["station_id", "fuel", "before_cpl", "after_cpl", "changed_at"].map { json($0) }),
      "changes": jsonList(market.priceChanges, isLong: true),
    ]) + "\n"
  }

  /// An Atom feed of the changes in the verdicts and market states of a region.
  func atom(_ region: MarketReport.Region) -> HTML {
    let changes = market.verdictChanges[region.code] ?? []
    let own = address.map { "\($0)feed/\(Self.slug(region.code)).atom" }
    // The ids of a feed are its own only where its address is.
    let base = own ?? "tag:bowser,2026:\(Self.slug(region.code))"
    /// A fuel without an average has no page of its own.
    func page(_ fuel: String) -> String {
      isKnown(.init(region.code, fuel)) && market.fuels.contains { $0.code == fuel }
        ? Self.path(of: region, fuel) : Self.path(of: region)
    }
    return """
      <?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom">
      <title>Should you fill up in \(Words.place(region.name))?</title>
      <id>\(base)</id>
      <updated>\(changes.first?.at ?? market.pipeline.aggregatedAt ?? now)</updated>
      <author><name>Bowser</name></author>
      <link rel="alternate" type="text/html" href="../\(Self.path(of: region))"/>
      \(own.map { "<link rel=\"self\" type=\"application/atom+xml\" href=\"\($0)\"/>\n" as HTML } ?? "")\(changes.map { change in
        """
        <entry>
        <title>\(fuelName(change.fuel)): \(Words.verdict(change.verdict, change.basis).lowercased())</title>
        <id>\(base)#\(change.fuel):\(change.at)</id>
        <updated>\(change.at)</updated>
        <link rel="alternate" type="text/html" href="../\(page(change.fuel))"/>
        <summary>\(change.reason)</summary>
        </entry>

        """
      } as [HTML])</feed>

      """
  }

  /// The list of names to search, as a script, since a page opened from a file may load only
  /// scripts. Each entry is a name, a description and a path. Regions come first, then suburbs,
  /// then stations.
  func placesScript(_ regions: [MarketReport.Region], _ localities: [Locality]) -> String {
    func line(_ name: String, _ about: String, _ path: String) -> String {
      jsonList([json(name), json(about), json(path)])
    }
    var lines = regions.map { line(Words.title($0.name), "region", Self.path(of: $0)) }
    lines += localities.map { locality in
      let codes = Set(locality.offers.compactMap(\.postcode)).sorted().prefix(6)
      return line(
        locality.name, ([locality.state] + codes).joined(separator: " "), locality.path)
    }
    var seen: Set<Int> = []
    for offer in market.offers where seen.insert(offer.station).inserted {
      let locality = Locality(around: offer)
      lines.append(
        line(
          offer.name, "\(locality.name) \(locality.state)", Self.path(ofStation: offer.station)))
    }
    return "window.bowserPlaces = \(jsonList(lines, isLong: true));\n"
  }

  /// Where each price of a fuel is, for who looks for the cheapest nearby: station, latitude,
  /// longitude, price and the next one. The names are those of `placesScript`.
  func nearScript(_ fuel: String) -> String {
    let lines = (sellers[fuel] ?? []).map { place, position, _ in
      let offer = market.offers[place]
      return jsonList([
        json(offer.station), json(position.latitude), json(position.longitude),
        Cents.text(offer.price), json(offer.next),
      ])
    }
    return "window.bowserNear = \(jsonList(lines, isLong: true));\n"
  }

  /// When the prices of each state were read, for the script, which tells how old they are.
  func readScript() -> String {
    let states = Set(market.offers.map(\.state)).sorted() + [""]
    let times = states.map { "\(json($0)):\(json(readAt($0)))" }
    return "window.bowserRead = {\(times.joined(separator: ","))};\n"
  }
}
