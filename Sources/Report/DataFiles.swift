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
      var properties = [
        "\"station_id\":\(offer.station)", "\"name\":\(quoted(offer.name))",
        "\"brand\":\(quoted(offer.brand))", "\"suburb\":\(quoted(offer.suburb))",
        "\"postcode\":\(quoted(offer.postcode))", "\"state\":\(quoted(offer.state))",
        "\"fuel\":\(quoted(offer.fuel))", "\"price_cpl\":\(Cents.text(offer.price))",
        "\"effective_at\":\"\(offer.since)\"", "\"is_fresh\":\(offer.isFresh)",
        "\"is_flagged\":\(offer.isFlagged)",
      ]
      if let next = offer.next, let at = offer.nextAt {
        properties.append("\"next_price_cpl\":\(Cents.text(next)),\"next_effective_at\":\"\(at)\"")
      }
      return
        "{\"type\":\"Feature\",\"id\":\(offer.station),\"geometry\":{\"type\":\"Point\",\"coordinates\":"
        + "[\(position.longitude),\(position.latitude)]},\"properties\":{\(properties.joined(separator: ","))}}"
    }
    return
      "{\"type\":\"FeatureCollection\",\"version\":1,\"features\":[\n\(features.joined(separator: ",\n"))\n]}\n"
  }

  /// A JSON string, or `null` for `nil`.
  private func quoted(_ text: String?) -> String { text?.asJSONLiteral ?? "null" }

  /// An Atom feed of the changes in the verdicts and market states of a region.
  func atom(_ region: MarketReport.Region) -> HTML {
    let changes = market.verdictChanges[region.code] ?? []
    let own: HTML =
      address.map {
        "<link rel=\"self\" type=\"application/atom+xml\" href=\"\($0)feed/\(Self.slug(region.code)).atom\"/>\n"
      } ?? ""
    let base = "tag:bowser,2026:\(Self.slug(region.code))"
    /// A fuel without an average has no page of its own.
    func page(_ fuel: String) -> String {
      market.averages[.init(region.code, fuel)] == nil
        ? Self.path(of: region) : Self.path(of: region, fuel)
    }
    return """
      <?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom">
      <title>Should you fill up in \(Words.title(region.name))?</title>
      <id>\(base)</id>
      <updated>\(changes.first?.at ?? Instant(seconds: 0))</updated>
      <author><name>Bowser</name></author>
      <link rel="alternate" type="text/html" href="../\(Self.path(of: region))"/>
      \(own)\(changes.map { change in
        """
        <entry>
        <title>\(fuelName(change.fuel)): \(Words.verdict(change.verdict, change.basis).word.lowercased())</title>
        <id>\(base):\(change.fuel):\(change.at)</id>
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
      "[\(name.asJSONLiteral),\(about.asJSONLiteral),\(path.asJSONLiteral)]"
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
    return "window.bowserPlaces = [\n\(lines.joined(separator: ",\n"))\n];\n"
  }
}
