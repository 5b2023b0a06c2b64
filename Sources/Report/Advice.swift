package import FuelModel
package import Views

/// A verdict in the words of a driver: what to do, when it will be cheapest and how sure that is, and
/// a price that is good today. The reason and its percentages belong behind these.
package struct Advice {
  /// A verdict that should save less than this, in c/L, is no advice on pages and in the terminal. It
  /// stays a verdict, because always following it has saved more. `station_fill_up` has the same limit.
  package static let leastSaving = 0.5

  /// What to do, such as `Wait`.
  package let word: String
  /// When and how sure, such as `Cheapest by Wed 2 Dec, near 161.3 on average: very likely`.
  package let sentence: String
  /// A price that is good today, in c/L; `nil` where too few stations have one. It is never above what
  /// the cheapest quarter of the stations charges, nor above the average.
  package let goodPrice: Double?
  /// The name of its colours.
  let mark: String

  /// - Parameters:
  ///   - average: the average of the region and fuel.
  ///   - zone: the zone of the region.
  package init(
    _ verdict: MarketReport.Verdict, _ average: AverageNow?, _ zone: Zone, now: Instant
  ) {
    let isLittle =
      verdict.verdict != "no_difference" && (verdict.saving ?? .infinity) < Self.leastSaving
    let shown = isLittle ? "no_difference" : verdict.verdict
    word = Words.verdict(shown, verdict.basis)
    mark = Self.mark(of: shown)
    goodPrice = average?.quarter.map { quarter in
      min(
        (min(quarter, average?.average ?? quarter) * 10).rounded(.down) / 10,
        verdict.aim ?? .infinity)
    }
    sentence =
      isLittle
      ? "Good timing saves less than half a cent a litre here"
      : Self.sentence(verdict, zone, now: now)
  }

  /// The name of the colours of a verdict.
  static func mark(of verdict: String) -> String {
    ["fill_up": "fill", "wait": "wait"][verdict] ?? "none"
  }

  private static func sentence(
    _ verdict: MarketReport.Verdict, _ zone: Zone, now: Instant
  ) -> String {
    let isWait = verdict.verdict == "wait"
    if verdict.basis == "insufficient_data" { return verdict.reason }
    if let (now: present, next: next) = verdict.published {
      let begin = Words.title(Words.begin(verdict.validUntil, zone, now: now))
      guard verdict.verdict != "no_difference" else { return "\(begin) about the same price" }
      let difference = Words.cents(abs(Double(Cents.tenths(next) - Cents.tenths(present)) / 10))
      return
        "\(begin) near \(Words.cents(next)) on average, \(difference) c \(isWait ? "less" : "more")"
    }
    guard verdict.verdict != "no_difference" else { return "Waiting saves nothing here" }
    var sure = ""
    if let confidence = verdict.confidence {
      let percent = Int((confidence * 100).rounded())
      switch (Likelihood(percent: percent), Likelihood(percent: isWait ? percent : 100 - percent)) {
      case (.veryLikely, _): sure = ": very likely"
      case (_, .open): sure = ": a close call"
      case (_, isWait ? .likely : .unlikely): sure = ": likely"
      default:
        return "The habit that has saved most lately says \(isWait ? "wait" : "buy now"), although "
          + "a lower price within five days is \(isWait ? "not expected" : "likely")"
      }
    }
    guard isWait else { return "No better price is expected within five days" + sure }
    return verdict.low.map { low in
      "Cheapest by \(Words.weekday(low.days.upperBound)), near \(Words.cents(low.price)) on average"
        + sure
    } ?? "It should get cheaper within five days" + sure
  }
}
