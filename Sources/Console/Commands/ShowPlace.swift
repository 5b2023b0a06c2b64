import Configuration
import Foundation
import FuelModel
import Report
import Views

/// Finds the place that a user's words mean.
struct PlaceSearch {
  let views: Views
  let regions: [MarketReport.Region]

  init(_ views: Views) throws {
    self.views = views
    regions = try views.regions()
  }

  func place(_ word: String) throws -> NamedPlace {
    let word = word.trimmingCharacters(in: .whitespaces)
    guard !word.isEmpty, word.utf8.count <= 200 else {
      throw UsageError.message("name a place of at most 200 bytes")
    }
    if let point = try point(word) { return point }
    if let region = region(word, among: regions) { return region }
    let (name, state) = parted(word)
    var found = try views.places(named: name, limit: 40).filter {
      state == nil || $0.state == state
    }
    // A number may be that of a station, as it stands on its page.
    if found.isEmpty, let number = Int(word), let station = try views.station(numbered: number) {
      found = [station]
    }
    guard let first = found.first else {
      // A region may have its state behind it, as a suburb may.
      if let state, let region = region(name, among: regions.filter({ $0.state == state })) {
        return region
      }
      guard !regions.isEmpty else {
        throw UsageError.message(
          "there are no prices yet: run bowser ingest --all, then bowser aggregate")
      }
      let known = regions.map(\.name) + regions.map(\.code) + (try views.suburbs())
      throw UsageError.unknown(
        "place", word, among: known,
        hint: "use a region, a suburb, postcode or station that has a price, or a point such as "
          + "-31.95,115.86; --fuel chooses the fuel")
    }
    // A whole name comes before the beginning of one. A suburb comes before a station of the same
    // name.
    let whole = found.filter { $0.name.lowercased() == name.lowercased() }
    let meant = whole.isEmpty ? found : whole.filter { $0.kind == whole[0].kind }
    guard meant.count == 1 || meant.allSatisfy({ $0 == first }) else {
      let list = meant.prefix(8).map { "\($0.shownName), \($0.state ?? "") (\($0.kind.rawValue))" }
      throw UsageError.message(
        "'\(word)' may be \(list.joined(separator: "; "))\(meant.count > 8 ? " ..." : ""): type more of the name, or add the state"
      )
    }
    return meant[0]
  }

  /// Separates a name from the state behind it: `Woodton WA`, `Woodton, WA`, or a line of a list of
  /// places.
  private func parted(_ word: String) -> (name: String, state: String?) {
    let states = regions.filter { $0.kind == "state" }.map(\.code)
    let plain = word.replacing(/\s*\((suburb|postcode|station)\)$/, with: "")
    guard let match = plain.wholeMatch(of: /(.+?)[,\s]+([A-Za-z]{2,3})/),
      let state = states.first(where: { $0 == match.2.uppercased() })
    else { return (plain, nil) }
    return (String(match.1), state)
  }

  /// Returns the region with this code or name, or the only one whose code or name begins with the
  /// word.
  private func region(_ word: String, among regions: [MarketReport.Region]) -> NamedPlace? {
    let word = word.lowercased()
    func names(_ region: MarketReport.Region) -> [String] {
      [region.code.lowercased(), region.name.lowercased()]
    }
    let begun = regions.filter { names($0).contains { $0.hasPrefix(word) } }
    let whole = regions.first { names($0).contains(word) }
    guard let meant = whole ?? (begun.count == 1 ? begun[0] : nil) else { return nil }
    return NamedPlace(
      kind: .region, code: meant.code, name: Words.title(meant.name), state: meant.state,
      position: meant.centre)
  }

  /// Returns the point that a word states; `nil` where it states none.
  ///
  /// - Throws: for a point far from every region that is inside one with the other sign.
  private func point(_ word: String) throws -> NamedPlace? {
    let parts = word.split(whereSeparator: { $0 == "," || $0 == " " }).map { Double($0) }
    guard parts.count == 2, let latitude = parts[0], let longitude = parts[1],
      let position = Position(latitude: latitude, longitude: longitude)
    else { return nil }
    func place(_ position: Position) -> NamedPlace {
      let (latitude, longitude) = (position.latitude, position.longitude)
      return NamedPlace(
        kind: .point, code: "\(latitude),\(longitude)", name: "\(latitude), \(longitude)",
        position: position)
    }
    if let other = Position(latitude: -latitude, longitude: longitude),
      try views.region(around: place(position)) == nil,
      try views.region(around: place(other)) != nil
    {
      throw UsageError.message(
        "no region is near \(latitude),\(longitude); did you mean \(-latitude),\(longitude)?")
    }
    return place(position)
  }
}

/// One place on one screen: the averages of its region, the verdict, the daily averages and the
/// cheapest stations.
struct PlacePage {
  private let place: NamedPlace
  private let fuel: String
  private let kilometres: Double?
  private let now: Instant
  private let isPast: Bool
  private let region: MarketReport.Region?
  private let averages: [AverageNow]
  /// Whether stations have prices, but only such as are too old to believe.
  private let isStale: Bool
  private let verdict: MarketReport.Verdict?
  private let days: [(day: Day, average: Double?)]
  private let offers: [Offer]

  init(
    _ place: NamedPlace, fuel: String, within kilometres: Double?, days: Int, now: Instant,
    isPast: Bool, views: Views, regions: [MarketReport.Region]
  ) throws {
    self.place = place
    self.fuel = fuel
    self.kilometres = kilometres ?? (place.kind == .point ? 5 : nil)
    self.now = now
    self.isPast = isPast
    let code = try views.region(around: place)
    let region = regions.first { $0.code == code }
    self.region = region
    let all = try views.averagesNow().filter { $0.region == code }
    let known = all.filter { $0.average != nil }
    averages = known
    isStale = known.isEmpty && all.contains { $0.stale > 0 }
    verdict = try code.flatMap { try views.verdicts(of: .init($0, fuel)).values.first }
    self.days =
      try region.map { try views.trend(region: $0.code, fuel: fuel, days: days) } ?? []
    // For a station, all of its fuels are listed, in their usual order.
    let isStation = place.kind == .station && kilometres == nil
    var found = try views.offers(
      at: place, within: self.kilometres, fuel: isStation ? nil : fuel, limit: 15)
    if isPast {
      for index in found.indices {
        found[index].next = nil
        found[index].nextAt = nil
      }
    }
    offers = isStation ? found.sorted { Fuel.precedes($0.fuel, $1.fuel) } : found
  }

  func text(_ style: Style) -> String {
    let inside = place.kind == .region ? "" : region.map { "  in \($0.name)" } ?? ""
    let name = place.shownName.asTerminalLine.shortened(to: max(20, style.width - inside.columns))
    var text = "\n\(style.bold(name))\(style.dim(inside))\n"
    if averages.isEmpty {
      text += "  " + style.wrapped(whyNoAverage, after: "  ") + "\n"
    } else {
      let change = areChangesKnown(averages) ? ", and change over 24 hours" : ""
      text += "  " + style.dim("average now, c/L\(change)") + "\n"
      for average in averages {
        text +=
          "  " + padded(average.fuel, 6) + leftPadded(Cents.text(average.average ?? 0), 7)
          + priceChange(average.change24h, style) + style.dim("\(average.stations) stations") + "\n"
      }
    }
    if averages.contains(where: { $0.delayHours > 0 }) {
      let note = "Prices are a day old: this state publishes them late."
      text += "  " + style.dim(style.wrapped(note, after: "  ")) + "\n"
    }
    if isPast, !averages.isEmpty {
      text += "  " + style.dim(style.wrapped(leftOut(averages), after: "  ")) + "\n"
    }
    text += dayLine(style)
    if let advice, let verdict {
      let words = advice.word.lowercased()
      let good = advice.goodPrice.map { ". A good price today: \(Cents.text($0)) or less" } ?? ""
      let left = "  \(words)  "
      text +=
        "\n  \(style.bold(words))  \(style.wrapped(advice.sentence + good, after: left))\n"
      if advice.sentence != verdict.reason {
        text += "  " + style.dim(style.wrapped("why: \(verdict.reason)", after: "  ")) + "\n"
      }
    }
    text += "\n"
    guard !offers.isEmpty else {
      // The reason above says already what to do.
      guard !averages.isEmpty || region == nil else { return text }
      let advice =
        averages.isEmpty
        ? "bowser ingest --all reads the feeds" : "try a wider --near, or another --fuel"
      let within = kilometres.map { " within \(trimmed($0)) km" } ?? ""
      return text + "  "
        + style.wrapped("No station with a price\(within): \(advice).", after: "  ") + "\n\n"
    }
    text += "  " + style.dim(heading) + "\n"
    for offer in offers { text += line(offer, style) }
    return text + "\n"
  }

  private var advice: Advice? {
    verdict.map { verdict in
      Advice(
        verdict, averages.first { $0.fuel == fuel }, region?.zone ?? .utc, now: now)
    }
  }

  private var whyNoAverage: String {
    isStale
      ? "No average here at \(now): the prices are too old to believe. bowser status says since when."
      : isPast
        ? "No average here at \(now): too few stations had a price. Give another --now."
        : "No average here: too few stations, or bowser aggregate has not run yet."
  }

  /// The daily averages as bars. If a line is too narrow for all days, it has the newest.
  private func dayLine(_ style: Style) -> String {
    let shown = days.suffix(max(20, style.width - 2))
    let known = shown.compactMap { $0.average }
    guard let low = known.min(), let high = known.max(), known.count > 1 else { return "" }
    let newest = shown.count < days.count ? "the newest " : ""
    let words =
      "\(fuel), daily averages of \(newest)\(shown.count - 1) days and \(newestDay(isPast)): "
      + "\(Cents.text(low)) to \(Cents.text(high))"
    return "\n  " + style.dim(style.wrapped(words, after: "  "))
      + "\n  \(spark(shown.map { $0.average }))\n"
  }

  private var heading: String {
    if place.kind == .station && kilometres == nil { return "prices, c/L" }
    return "cheapest \(fuel), c/L" + (kilometres.map { ", within \(trimmed($0)) km" } ?? "")
  }

  private func trimmed(_ value: Double) -> String {
    value == value.rounded() ? String(Int(value)) : String(value)
  }

  private func name(_ offer: Offer) -> String {
    [offer.name, offer.suburb?.asPlaceName].compactMap { $0 }.joined(separator: ", ")
      .asTerminalLine
  }

  private func line(_ offer: Offer, _ style: Style) -> String {
    let distance =
      place.kind == .region
      ? "" : offer.kilometres.map { leftPadded(Cents.text($0), 6) + " km" } ?? ""
    let since = leftPadded(age(offer.since, now), 13)
    var next = ""
    if let price = offer.next, let at = offer.nextAt, at > now {
      next = "  then \(Cents.text(price))"
    }
    let doubt =
      (offer.isFresh ? (offer.isFlagged ? "  doubtful" : "") : "  old")
      + (offer.isPublic ? "" : "  members only")
    let what = place.kind == .station && kilometres == nil ? padded(offer.fuel, 6) : ""
    let left = "  " + what + leftPadded(Cents.text(offer.price), 7) + "  "
    // On a narrow line, the name of the station is worth more than what else is known of its price.
    let rights = [distance + since + next + doubt, distance + next + doubt, distance + doubt]
    let right = rights.first { left.columns + $0.columns + 13 <= style.width } ?? rights[2]
    // On a wide line, the columns follow the longest name.
    let longest = offers.map { name($0).columns }.max() ?? 0
    let room = min(longest, max(12, style.width - left.columns - right.columns - 1))
    let text = left + padded(name(offer).shortened(to: room), room) + right
    return (offer.isFresh && !offer.isFlagged ? text : style.dim(text)).trimmedEnd + "\n"
  }

  // MARK: For programs

  /// The members have the names of the views' columns.
  var asJSON: String {
    jsonObject([
      "version": "1",
      "place": jsonObject([
        "kind": json(place.kind.rawValue), "code": json(place.code), "name": json(place.shownName),
        "state": json(place.state), "latitude": json(place.position?.latitude),
        "longitude": json(place.position?.longitude),
      ]),
      "fuel": json(fuel), "region": json(region?.code),
      "averages": jsonList(
        averages.map {
          jsonObject([
            "fuel": json($0.fuel), "average_cpl": json($0.average),
            "change_24h_cpl": json($0.change24h), "change_7d_cpl": json($0.change7d),
            "stations": json($0.stations), "delay_hours": json($0.delayHours),
          ])
        }),
      "advice": json(advice?.word), "sentence": json(advice?.sentence),
      "good_price_cpl": json(advice?.goodPrice), "verdict": verdict?.json ?? "null",
      "days": jsonList(
        days.map { jsonObject(["day": json($0.day), "average_cpl": json($0.average)]) }),
      "stations": jsonList(
        offers.map {
          jsonObject([
            "station_id": json($0.station), "name": json($0.name), "brand": json($0.brand),
            "suburb": json($0.suburb), "state": json($0.state),
            "latitude": json($0.position?.latitude), "longitude": json($0.position?.longitude),
            "fuel": json($0.fuel), "price_cpl": json($0.price), "effective_at": json($0.since),
            "is_fresh": json($0.isFresh), "is_flagged": json($0.isFlagged),
            "is_public": json($0.isPublic), "next_price_cpl": json($0.next),
            "next_effective_at": json($0.nextAt), "distance_km": json($0.kilometres),
          ])
        }, isLong: true),
    ])
  }
}
