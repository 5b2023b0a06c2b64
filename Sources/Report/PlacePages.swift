import Foundation
import FuelModel
import Views

extension Report {
  /// A suburb or town, with all its stations.
  struct Locality {
    var state: String
    var name: String
    var offers: [Offer] = []

    init(around offer: Offer) {
      state = offer.state
      name = Words.title((offer.suburb ?? offer.postcode ?? "elsewhere").asPlaceName)
    }

    /// A path of plain characters only, since names come from feeds.
    var path: String { "place/\(Report.slug(state))/\(Report.slug(name)).html" }
  }

  /// Returns a name as lower-case letters and digits, with one hyphen in place of any other
  /// characters between them. A name without any letter or digit of ASCII is written as its bytes.
  static func slug(_ name: String) -> String {
    let words = name.lowercased().utf8.split {
      !(0x61...0x7A).contains($0) && !(0x30...0x39).contains($0)
    }
    guard !words.isEmpty else {
      return "u" + name.utf8.prefix(40).map { String($0, radix: 16) }.joined()
    }
    return String(words.map { Substring($0) }.joined(separator: "-").prefix(80))
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
      "Places in \(state)", path: "places/\(Self.slug(state)).html", depth: 1, state: state,
      isDated: false,
      """
      <h1>Places in \(state)</h1>
      <p class="lead">Suburbs and towns with a station, and the cheapest \(fuelName(fuel)) there.</p>
      \(lateNote(localities.first?.offers.first?.delayHours))\(table(
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
    let fuels = Set(locality.offers.map(\.fuel)).sorted(by: Fuel.precedes)
    func ranked(_ fuel: String) -> [Offer] {
      locality.offers.filter { $0.fuel == fuel }.sorted {
        ($0.price, $0.station) < ($1.price, $1.station)
      }
    }
    let mapped = fuels.first.map(ranked)?.filter { $0.isFresh && !$0.isFlagged } ?? []
    return page(
      "\(locality.name), \(locality.state)", path: locality.path, depth: 2, state: locality.state,
      isDated: false,
      """
      <h1>\(locality.name) <span class="unit">\(locality.state)</span></h1>
      <p class="lead"><a href="../../places/\(Self.slug(locality.state)).html">Places in \(locality.state)</a></p>
      \(lateNote(locality.offers.first?.delayHours))<div class="beside">
      <div>
      \(fuels.map { fuel in
        """
        <div class="panel">
        <h2 id="\(fuel)">\(titled(fuel))</h2>
        \(stationTable(fuelName(fuel), ranked(fuel), "../../"))</div>

        """
      } as [HTML])</div>
      \(stationMap(mapped, locality.name, "../../"))</div>

      """)
  }

  // MARK: Tables

  /// A table of stations with their prices of one fuel.
  ///
  /// - Parameter home: the path to the report's folder.
  func stationTable(_ name: String, _ offers: [Offer], _ home: HTML) -> HTML {
    table(
      name, [("Station", false)] + columns(offers),
      offers.map { offer in
        // What the name of a station says already is not said again.
        let name = offer.name.lowercased()
        let about =
          [offer.brand ?? "", Locality(around: offer).name].filter {
            !name.contains($0.lowercased())
          } + [offer.kilometres.map { "\(Cents.text($0)) km" }, since(offer)].compactMap { $0 }
        return """
          <tr><th scope="row"><a href="\(home)\(Self.path(ofStation: offer.station))">\(offer.name)</a>\
          <br><span class="unit">\(about.joined(separator: ", "))</span></th>\(cells(offer, among: offers, home))</tr>

          """
      })
  }

  /// The columns of a table of prices. There is a column for prices known ahead if any offer has
  /// one, with the time at which all of them begin.
  private func columns(_ offers: [Offer]) -> [(String, isNumber: Bool)] {
    // Each by the clock of its state. Where these differ, no time is right for all rows.
    let begins = Set(
      offers.compactMap { offer in
        offer.next == nil
          ? nil
          : offer.nextAt.map {
            Words.begin($0, zone(ofState: offer.state), now: now).replacing(" from", with: "")
          }
      })
    return [("c/L", true)]
      + (begins.isEmpty ? [] : [(begins.count > 1 ? "Next" : Words.title(begins.first!), true)])
      + [("To average", true)]
  }

  private func cells(_ offer: Offer, among offers: [Offer], _ home: HTML) -> HTML {
    let next: HTML =
      offers.contains { $0.next != nil && $0.nextAt != nil }
      ? "<td class=\"number\">\(offer.next.map { Words.cents($0) } ?? "")</td>" : ""
    return """
      <td class="number">\(Words.cents(offer.price))</td>\(next)<td class="number">\(comparison(offer, home))</td>
      """
  }

  /// How far a price is from the average of its region, and the how-manieth it is.
  private func comparison(_ offer: Offer, _ home: HTML) -> HTML {
    guard let comparison = market.comparisons[offer.station]?[offer.fuel],
      let region = regions[comparison.region]
    else { return "" }
    return """
      \(change(comparison.difference))<br><a class="unit" href="\(home)\(Self.path(of: region, offer.fuel))">\
      \(comparison.rank) of \(comparison.stations)</a>
      """
  }

  /// Since when a price holds, or when one that is not believed was last seen.
  private func since(_ offer: Offer) -> String {
    let zone = zone(ofState: offer.state)
    guard offer.isFresh else {
      return "old: last seen \(offer.confirmed.map { Words.time($0, zone) } ?? "long ago")"
    }
    return "since \(Words.time(offer.since, zone))\(offer.isFlagged ? ", doubtful" : "")"
  }

  private func zone(ofState state: String) -> Zone { zone(of: regions[state]) }

  // MARK: Stations

  /// The page of one station: where it is, every fuel that it sells, whether to fill up here, the
  /// last thirty days and the nearest stations.
  func stationPage(_ offers: [Offer]) -> HTML {
    let first = offers[0]
    let locality = Locality(around: first)
    return page(
      first.name, about: "\(first.fuel) \(Words.cents(first.price)) c/L in \(locality.name)",
      path: Self.path(ofStation: first.station), depth: 1, state: first.state, isDated: false,
      """
      <h1>\(first.name)</h1>
      <p class="lead">\(address(first)) <a href="../\(locality.path)">\(locality.name), \(locality.state)</a> \
      \(first.postcode ?? "")\(phone(of: first.station))\(maps(first))</p>
      \(lateNote(first.delayHours))<div class="beside">
      <div class="panel">
      \(stationAdvice(first))\
      \(table(
        "Prices",
        [("Fuel", false)] + columns(offers),
        offers.map { offer in
          """
          <tr><th scope="row">\(self.titled(offer.fuel))<br><span class="unit">\(since(offer))</span></th>\
          \(self.cells(offer, among: offers, "../"))</tr>

          """
        }))</div>
      \(stationChart(first))</div>
      <h2>Nearest stations <span class="unit">\(fuelName(first.fuel))</span></h2>
      <div class="panel">
      \(stationTable("Nearest stations", nearest(to: first), "../"))</div>
      <p class="note">Station \(first.station) · <a href="../api/v1/station/\(first.station).json">for programs, as JSON</a> <button type="button" id="send" hidden>Send this page</button></p>

      """)
  }

  /// The brand and the address up to the suburb, which follows as a link.
  private func address(_ offer: Offer) -> String {
    var street = market.descriptions[offer.station]?.address ?? ""
    if let suburb = offer.suburb,
      let tail = street.range(of: suburb, options: [.caseInsensitive, .backwards])
    {
      street = String(street[..<tail.lowerBound]).trimmingCharacters(in: [" ", ","])
    }
    return [offer.brand ?? "", street].filter { !$0.isEmpty }.map { $0 + "," }
      .joined(separator: " ")
  }

  /// A link that telephones open in their program of maps. Nothing is asked of it before that.
  private func maps(_ offer: Offer) -> HTML {
    offer.position.map { position in
      " · <a href=\"https://www.google.com/maps/search/?api=1&amp;query=\(position.latitude),\(position.longitude)\">Open in maps</a>"
        as HTML
    } ?? ""
  }

  /// The telephone number of a station as its feed writes it, with a link that calls it. A text that
  /// is not plainly one number has no link, because the link would call somebody else.
  private func phone(of station: Int) -> HTML {
    guard let phone = market.descriptions[station]?.phone else { return "" }
    let number = phone.filter { "+0123456789".contains($0) }
    let isNumber = phone.allSatisfy { "+0123456789 ()-.".contains($0) }
    guard isNumber, (6...15).contains(number.count) else { return " · \(phone)" }
    return " · <a href=\"tel:\(number)\">\(phone)</a>"
  }

  /// Whether to fill up here. Where the station follows its region, in the words of the region.
  private func stationAdvice(_ offer: Offer) -> HTML {
    guard let own = market.descriptions[offer.station]?.advice[offer.fuel] else { return "" }
    var word = Words.verdict(own.verdict, own.basis)
    var sentence = own.reason
    var mark = Advice.mark(of: own.verdict)
    if let region = region(of: offer), let whole = market.verdicts[.init(region.code, offer.fuel)],
      whole.reason == own.reason, let advice = advice(region, .init(region.code, offer.fuel))
    {
      (word, sentence, mark) = (advice.word, advice.sentence, advice.mark)
    }
    return """
      <p class="verdict \(mark)"><b>\(word)</b></p>
      <p class="reason">\(offer.fuel): \(sentence).</p>

      """
  }

  /// The smallest region around a station.
  private func region(of offer: Offer) -> MarketReport.Region? {
    regions[market.comparisons[offer.station]?[offer.fuel]?.region ?? offer.state]
  }

  /// The last thirty days of a station beside those of its region.
  private func stationChart(_ offer: Offer) -> HTML {
    guard let own = market.stationDays[offer.station], let region = region(of: offer) else {
      return ""
    }
    var days = (market.days[.init(region.code, offer.fuel)] ?? []).map {
      MarketReport.Day(day: $0.day, average: own[$0.day], movingAverage: $0.average)
    }
    guard let last = days.indices.last else { return "" }
    if offer.isFresh { days[last].average = offer.price }
    return """
      <div class="panel">
      <h2>Thirty days <span class="unit">\(fuelName(offer.fuel))</span></h2>
      \(Chart(days: days, width: 350, height: 170).full())<ul class="legend">
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="line" x1="1" x2="25" y1="5" y2="5"/></svg>here</li>
      <li><svg viewBox="0 0 26 10" aria-hidden="true"><line class="moving" x1="1" x2="25" y1="5" y2="5"/></svg>average in \(Words.place(region.name))</li>
      </ul>
      </div>

      """
  }

  /// The five nearest other stations where anybody can buy a fuel at a price that is believed.
  func nearest(to offer: Offer) -> [Offer] {
    guard let position = offer.position else { return [] }
    let here = position.direction
    var found: [(distance: Double, place: Int)] = []
    for (place, _, direction) in sellers[offer.fuel] ?? [] {
      // Through the ground, which is in the order of the distance along it, and computed faster.
      let way = direction - here
      let distance = (way * way).sum()
      guard found.count < 5 || distance < found[4].distance,
        market.offers[place].station != offer.station
      else { continue }
      found.insert(
        (distance, place), at: found.firstIndex { $0.distance > distance } ?? found.count)
      if found.count > 5 { found.removeLast() }
    }
    return found.map { one in
      var other = market.offers[one.place]
      other.kilometres = other.position?.kilometres(to: position)
      return other
    }
  }

  // MARK: Maps

  /// A map of stations with their prices, the cheapest first, and the names of places. The labels
  /// show how far each price is from the average of the region.
  func stationMap(_ offers: some Sequence<Offer>, _ name: String, _ home: String) -> HTML {
    var places: [String: (count: Int, position: Position)] = [:]
    let labels = offers.compactMap { offer -> Map.Label? in
      guard let position = offer.position else { return nil }
      let place = Locality(around: offer).name
      places[place, default: (0, position)].count += 1
      let difference = market.comparisons[offer.station]?[offer.fuel]?.difference ?? 0
      return Map.Label(
        position: position, mark: difference <= -3 ? .cheap : difference >= 3 ? .dear : .usual,
        text: Words.cents(offer.price), title: "\(Words.cents(offer.price)) \(offer.name)",
        link: home + Self.path(ofStation: offer.station))
    }
    let names = places.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.prefix(40)
    guard let map = Map(labels, names: names.map { ($1.position, $0) }) else {
      return ""
    }
    return """
      <div class="panel">
      \(map.svg("Stations in \(name)"))<ul class="legend">
      <li><span class="key cheap"></span>3 c or more below the average</li>
      <li><span class="key dear"></span>3 c or more above it</li>
      <li>Dots are stations whose price has no room on the map.</li>
      </ul>
      </div>

      """
  }
}
