import Foundation
import FuelModel
import Views

extension Report {
  /// A suburb or town, with all its stations.
  struct Locality {
    var state: String
    var name: String
    var offers: [Offer] = []

    /// Makes the locality of a station, without offers.
    init(around offer: Offer) {
      state = offer.state
      name = Words.title((offer.suburb ?? offer.postcode ?? "elsewhere").asPlaceName)
    }

    /// A path of plain characters only, since names come from feeds.
    var path: String { "place/\(Report.slug(state))/\(Report.slug(name)).html" }
  }

  /// Returns a name as lower-case letters and digits, with one hyphen in place of any other
  /// characters. A name without any letter or digit of ASCII is written as its bytes.
  static func slug(_ name: String) -> String {
    var slug = ""
    for byte in name.lowercased().utf8 {
      let isPlain = (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
      if isPlain {
        slug.unicodeScalars.append(Unicode.Scalar(byte))
      } else if !slug.hasSuffix("-") {
        slug += "-"
      }
    }
    guard slug.contains(where: { $0 != "-" }) else {
      // A name in another script is identified by its bytes.
      return "u" + name.utf8.prefix(40).map { String($0, radix: 16) }.joined()
    }
    return String(slug.prefix(80))
  }

  static func path(ofStation number: Int) -> String { "station/\(number).html" }

  /// Groups offers by the path of their suburb, so that different spellings of a name share a page.
  func localities() -> [Locality] {
    var found: [String: Locality] = [:]
    for offer in market.offers {
      let locality = Locality(around: offer)
      found[locality.path, default: locality].offers.append(offer)
    }
    return found.values.sorted { ($0.state, $0.name) < ($1.state, $1.name) }
  }

  /// A page with every suburb of a state.
  func placesPage(_ state: String, _ localities: [Locality]) -> HTML {
    let fuel = market.fuels.first?.code ?? "U91"
    return page(
      "Places in \(state)", path: "places/\(Self.slug(state)).html", depth: 1, isDated: false,
      """
      <h1>Places in \(state)</h1>
      <p class="lead">Suburbs and towns with a station, and the cheapest \(fuelName(fuel)) there.</p>
      \(lateNote(ofState: state))\(table(
        "Places", [("Place", false), ("Stations", true), ("Cheapest, c/L", true)],
        localities.map { locality in
          let cheapest = locality.offers.filter { $0.fuel == fuel && $0.isFresh && !$0.isFlagged }
            .map(\.price).min()
          return """
            <tr><th scope="row"><a href="../\(locality.path)">\(locality.name)</a></th>\
            <td class="number">\(Set(locality.offers.map(\.station)).count)</td>\
            <td class="number">\(Words.cents(cheapest))</td></tr>

            """
        }))
      """)
  }

  func localityPage(_ locality: Locality) -> HTML {
    let fuels = Set(locality.offers.map(\.fuel)).sorted(by: Fuel.precedes).map {
      (code: $0, name: market.fuelNames[$0] ?? $0)
    }
    return page(
      "\(locality.name), \(locality.state)", path: locality.path, depth: 2, isDated: false,
      """
      <h1>\(locality.name) <span class="unit">\(locality.state)</span></h1>
      <p class="lead"><a href="../../places/\(Self.slug(locality.state)).html">Places in \(locality.state)</a></p>
      \(lateNote(ofState: locality.state))\(fuels.map { fuel in
        let offers = locality.offers.filter { $0.fuel == fuel.code }.sorted {
          ($0.price, $0.station) < ($1.price, $1.station)
        }
        return """
          <section aria-labelledby="\(fuel.code)">
          <h2 id="\(fuel.code)">\(Words.title(fuel.name)) <span class="unit">\(fuel.code)</span></h2>
          <div class="panel">
          \(self.stationTable(fuel.name, offers, "../../") { $0.brand ?? "" })</div>
          </section>

          """
      } as [HTML])
      \(map(locality.offers, depth: 2, locality.name))
      """)
  }

  /// A table of stations with their prices of one fuel.
  ///
  /// - Parameters:
  ///   - home: the path to the report's folder.
  ///   - about: what is written below the name of a station.
  func stationTable(
    _ name: String, _ offers: [Offer], _ home: HTML, about: (Offer) -> String
  ) -> HTML {
    table(
      name, [("Station", false)] + columns(offers),
      offers.map { offer in
        """
        <tr><th scope="row"><a href="\(home)\(Self.path(ofStation: offer.station))">\(offer.name)</a>\
        <br><span class="unit">\(about(offer))</span></th>\(cells(offer, among: offers, home))</tr>

        """
      })
  }

  /// The columns of a table of prices. There is a column for prices known ahead if any offer has
  /// one.
  private func columns(_ offers: [Offer]) -> [(String, isNumber: Bool)] {
    [("c/L", true), ("Since", false)] + (offers.contains { $0.next != nil } ? [("Then", true)] : [])
      + [("Compared with its region", false)]
  }

  private func cells(_ offer: Offer, among offers: [Offer], _ home: HTML) -> HTML {
    let doubt = offer.isFresh ? (offer.isFlagged ? ", doubtful" : "") : ", old"
    let next: HTML =
      offers.contains { $0.next != nil }
      ? "<td class=\"number\">\(offer.next.map { Words.cents($0) } ?? "")</td>" : ""
    return """
      <td class="number">\(Words.cents(offer.price))</td>\
      <td>\(Words.time(offer.since, zone(ofState: offer.state)))\(doubt)</td>\
      \(next)<td>\(standing(offer, home))</td>
      """
  }

  private func standing(_ offer: Offer, _ home: HTML) -> HTML {
    guard let standing = market.standings[.init(offer.station, offer.fuel)],
      let region = regions[standing.region]
    else { return "" }
    let tenths = Cents.tenths(standing.difference)
    let words =
      tenths == 0
      ? "same as the average"
      : "\(Words.cents(abs(standing.difference))) \(tenths < 0 ? "below" : "above")"
    return """
      \(words) in <a href="\(home)\(Self.path(of: region))">\(Words.title(region.name))</a>, \
      \(standing.rank) of \(standing.stations)
      """
  }

  private func zone(ofState state: String) -> Zone {
    zone(of: regions[state])
  }

  /// When a price was last seen. Of a price that is believed this is the day alone: with the time
  /// of day, each reading of a feed would change the pages of all its stations.
  private func lastSeen(_ offer: Offer) -> String {
    guard let seen = offer.confirmed else { return "·" }
    let zone = zone(ofState: offer.state)
    return offer.isFresh ? Words.date(zone.local(seen).day) : Words.time(seen, zone)
  }

  /// The page of one station, with every fuel that it sells.
  func stationPage(_ offers: [Offer]) -> HTML {
    let offers = offers.sorted { Fuel.precedes($0.fuel, $1.fuel) }
    let first = offers[0]
    let locality = Locality(around: first)
    let position: HTML =
      first.position.map { position in
        " · <a href=\"geo:\(position.latitude),\(position.longitude)\">\(position.latitude), \(position.longitude)</a>"
          as HTML
      } ?? ""
    return page(
      first.name, path: Self.path(ofStation: first.station), depth: 1, isDated: false,
      """
      <h1>\(first.name)</h1>
      <p class="lead">\([first.brand, first.postcode].compactMap { $0 }.joined(separator: ", ")) \
      <a href="../\(locality.path)">\(locality.name), \(locality.state)</a>\(position)\(phone(of: first.station))</p>
      <p class="note">Beside each price is since when it holds and when it was last seen, in \
      \(clockName(of: regions[first.state])). <a href="../feeds.html">Feed health</a> has the times at which the \
      feeds were last read.</p>
      \(lateNote(ofState: first.state))<div class="panel">
      \(table(
        "Prices",
        [("Fuel", false)] + columns(offers) + [("Last seen", false)],
        offers.map { offer in
          """
          <tr><th scope="row">\(self.titled(offer.fuel))</th>\(self.cells(offer, among: offers, "../"))\
          <td>\(lastSeen(offer))</td></tr>

          """
        }))</div>
      """)
  }

  /// The telephone number of a station as its feed writes it, with a link that calls it. A text that
  /// is not plainly one number has no link, because the link would call somebody else.
  private func phone(of station: Int) -> HTML {
    guard let phone = market.phones[station] else { return "" }
    let number = phone.filter { "+0123456789".contains($0) }
    let isNumber = phone.allSatisfy { "+0123456789 ()-.".contains($0) }
    guard isNumber, (6...15).contains(number.count) else { return " · \(phone)" }
    return " · <a href=\"tel:\(number)\">\(phone)</a>"
  }

  // MARK: Maps

  /// A map of the stations with the first fuel that any of them sells. The marks show how far each
  /// price is from the average of the region.
  func map(_ offers: [Offer], depth: Int, _ name: String) -> HTML {
    let fuel =
      market.fuels.first { fuel in offers.contains { $0.fuel == fuel.code } }?.code ?? "U91"
    let home = String(repeating: "../", count: depth)
    let dots = offers.compactMap { offer -> Map.Dot? in
      guard offer.fuel == fuel, offer.isFresh, !offer.isFlagged, let position = offer.position
      else { return nil }
      let difference = market.standings[.init(offer.station, fuel)]?.difference ?? 0
      return Map.Dot(
        position: position, mark: difference <= -3 ? .cheap : difference >= 3 ? .dear : .usual,
        label: "\(Words.cents(offer.price)) \(offer.name)",
        link: home + Self.path(ofStation: offer.station))
    }
    guard let map = Map(dots) else { return "" }
    return """
      <h2 id="map">Map <span class="unit">\(fuelName(fuel))</span></h2>
      <div class="panel">
      \(map.svg("Stations in \(name)"))<ul class="legend">
      <li><svg viewBox="0 0 14 14" aria-hidden="true"><circle class="cheap" cx="7" cy="7" r="6"/></svg>3 c or more below the average</li>
      <li><svg viewBox="0 0 14 14" aria-hidden="true"><circle class="usual" cx="7" cy="7" r="4"/></svg>near it</li>
      <li><svg viewBox="0 0 14 14" aria-hidden="true"><path class="dear" d="M3 3l8 8m0 -8l-8 8"/></svg>3 c or more above it</li>
      </ul>
      </div>

      """
  }
}
