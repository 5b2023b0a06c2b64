package import FuelModel
package import Store

/// Should drivers of a region fill up now or wait? A pure function of what is known of its market.
///
/// Where tomorrow's prices are published the answer is a comparison. Elsewhere the place in the price
/// cycle would decide; until that is judged, the honest answer is that too little is known.
package enum Verdict {
  /// Changes with every change of the rules, so that verdicts of different rules are told apart.
  package static let method = "tomorrow-1"

  // Half a tenth of a cent: below it the means are equal for anybody who buys fuel.
  static let leastChange = 0.05
  // Means over three stations or fewer are anecdotes, and a comparison over a minority of a
  // region's stations says nothing about the rest.
  static let leastStations = 3
  static let leastShare = 0.5

  package static func judge(_ outlook: Outlook, now: Instant) -> VerdictRecord {
    var record = VerdictRecord(
      region: outlook.region, fuelID: outlook.fuelID, day: outlook.day, verdict: "no_difference",
      basis: "insufficient_data", rule: nil, method: method, reason: "", today: nil, tomorrow: nil,
      stations: outlook.stations, expectedSaving: nil, validUntil: outlook.dayEndsAt)

    guard let today = outlook.today, let tomorrow = outlook.tomorrow,
      let beginsAt = outlook.tomorrowBeginsAt, outlook.stationsWithNext >= leastStations,
      Double(outlook.stationsWithNext) >= leastShare * Double(outlook.stations)
    else {
      record.reason = unknownReason(outlook, now: now)
      if let announced = announcement(outlook), now < announced {
        record.validUntil = min(record.validUntil, announced)
      }
      return record
    }

    let change = ((tomorrow - today) * 100).rounded() / 100
    record.basis = "tomorrow_price"
    record.rule = "tomorrow"
    record.today = today
    record.tomorrow = tomorrow
    record.stations = outlook.stationsWithNext
    record.validUntil = beginsAt
    let amount = cents(abs(change))
    let means = "\(cents(today)) now, \(cents(tomorrow)) tomorrow"
    if change <= -leastChange {
      record.verdict = "wait"
      record.expectedSaving = -change
      record.reason = "Tomorrow \(amount) c/L cheaper on average: \(means)"
    } else if change >= leastChange {
      record.verdict = "fill_up"
      record.expectedSaving = change
      record.reason = "Tomorrow \(amount) c/L dearer on average: \(means)"
    } else {
      record.reason = "Tomorrow the same on average: \(means)"
    }
    return record
  }

  private static func unknownReason(_ outlook: Outlook, now: Instant) -> String {
    if outlook.stations < leastStations {
      return "Too few stations here sell it to say anything"
    }
    if let announced = announcement(outlook) {
      return now < announced
        ? "Tomorrow's prices are published at 14:30"
        : "Tomorrow's prices of most stations are not known yet"
    }
    return "Nobody publishes tomorrow's prices here, and too little is known of the price cycle"
  }

  /// When tomorrow's prices of the present price day are published; `nil` where nobody does.
  private static func announcement(_ outlook: Outlook) -> Instant? {
    guard outlook.state == .wa else { return nil }
    // By the rules of the scheme, https://www.fuelwatch.wa.gov.au. Perth has no summer time, so
    // that no clock time there is skipped or repeated.
    return try? Zone.perth.instant(outlook.day, hour: 14, minute: 30)
  }

  private static func cents(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
