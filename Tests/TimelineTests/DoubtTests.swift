import FuelModel
import Testing

@testable import Timeline

/// Which prices are suspect beside the station's own prices, and which need a neighbour's price to
/// be believed.
struct DoubtTests {
  private let begin = Instant("2026-05-04T00:00:00Z")

  private func span(_ tenths: Int32, days from: Int, to until: Int) -> Span {
    Span(
      from: begin + .seconds(from * 86_400), until: begin + .seconds(until * 86_400),
      lapsesAt: begin + .seconds(until * 86_400), isOpen: false, isEnded: true, price: tenths,
      sourceID: 1,
      seenBy: 1, statedAt: begin + .seconds(from * 86_400), learntAt: begin)
  }

  private func suspects(_ spans: [Span]) -> [Int32] {
    var spans = spans
    Plausibility.markSuspects(&spans)
    return spans.filter(\.isSuspect).map(\.price)
  }

  /// F-V05: a typing error between two usual prices is suspect.
  @Test func aSlipIsSuspect() {
    #expect(
      suspects([
        span(2_189, days: 0, to: 2), span(1_259, days: 2, to: 3), span(2_199, days: 3, to: 5),
      ]) == [1_259])
  }

  /// F-N36: a first price has no level to compare with. A station that is always expensive has its
  /// own level.
  @Test func whoIsAlwaysDearIsNotSuspect() {
    #expect(suspects([span(4_200, days: 0, to: 2)]) == [])
    #expect(suspects([span(4_200, days: 0, to: 2), span(4_150, days: 2, to: 3)]) == [])
    // Two later prices show the level of a first price. A single later price may be the error
    // itself.
    #expect(
      suspects([
        span(1_259, days: 0, to: 1), span(2_199, days: 1, to: 3), span(2_189, days: 3, to: 4),
      ]) == [1_259])
    #expect(suspects([span(1_259, days: 0, to: 1), span(2_199, days: 1, to: 3)]) == [2_199])
  }

  /// F-V06: neither a jump of 40 cents from 175.9 nor a fall is suspect.
  @Test func jumpsAreNotSuspect() {
    #expect(
      suspects([
        span(1_759, days: 0, to: 2), span(2_159, days: 2, to: 3), span(1_800, days: 3, to: 9),
      ]) == [])
  }

  /// A price from months ago belongs to another market and is no level.
  @Test func oldPricesAreNoLevel() {
    #expect(suspects([span(900, days: 0, to: 2), span(1_800, days: 100, to: 101)]) == [])
  }

  /// A price that had lapsed already when it was last reported is shown. It counts neither for the
  /// level of its station nor in support of a neighbour's price.
  @Test func whatNeverHeldTellsNothing() {
    let before = [span(2_189, days: 0, to: 2), span(1_259, days: 2, to: 3)]
    #expect(
      suspects(before + [span(2_199, days: 3, to: 5), span(1_259, days: 9, to: 9)]) == [1_259])
    #expect(suspects(before + [span(2_199, days: 3, to: 5), span(1_259, days: 9, to: 10)]) == [])
    let suspect = span(1_300, days: 10, to: 14)
    var neighbour = span(1_300, days: 10, to: 11)
    neighbour.from = neighbour.from + .seconds(3_600)
    #expect(Plausibility.isCompany([neighbour], of: suspect))
    neighbour.until = neighbour.from
    #expect(!Plausibility.isCompany([neighbour], of: suspect))
  }

  /// A neighbour's price within a tenth, at any time of the first day of a suspect price, supports
  /// it.
  @Test func neighboursAreCompany() {
    let suspect = span(1_300, days: 10, to: 14)
    #expect(Plausibility.isCompany([span(1_250, days: 0, to: 11)], of: suspect))
    #expect(!Plausibility.isCompany([span(1_250, days: 12, to: 13)], of: suspect))
    #expect(!Plausibility.isCompany([span(1_900, days: 0, to: 20)], of: suspect))
    var lonely = suspect
    lonely.isSuspect = true
    let doubt = Plausibility.doubt(
      about: lonely, hasCompany: false, isConfirmed: false, holdingConfirms: true)
    #expect(
      doubt == Doubt(reason: .far, from: suspect.from, until: suspect.from + .seconds(86_400)))
    #expect(
      Plausibility.doubt(
        about: lonely, hasCompany: true, isConfirmed: false, holdingConfirms: true
      ) == nil)
    #expect(
      Plausibility.doubt(
        about: lonely, hasCompany: false, isConfirmed: true, holdingConfirms: true
      ) == nil)
  }

  /// A placeholder that is also far from the station's own prices is doubtful for its first day at
  /// least.
  @Test func aPlaceholderMayBeFarToo() {
    var both = span(1_300, days: 10, to: 14)
    let same = (from: both.from + .seconds(7_200), until: both.from + .seconds(9_000))
    func doubt() -> Doubt? {
      Plausibility.doubt(
        about: both, placeholder: same, isConfirmed: false, holdingConfirms: true)
    }
    #expect(doubt() == Doubt(reason: .placeholder, from: same.from, until: same.until))
    both.isSuspect = true
    #expect(
      doubt() == Doubt(reason: .placeholder, from: both.from, until: both.from + .seconds(86_400)))
  }

  /// F-N32: one price for every grade of petrol is a placeholder as long as all grades have it,
  /// whatever diesel costs.
  @Test func onePriceForEveryGrade() {
    let placeholders = Plausibility.placeholders([
      1: [span(1_850, days: 0, to: 10)], 3: [span(1_850, days: 2, to: 10)],
      4: [span(2_050, days: 0, to: 4), span(1_850, days: 4, to: 8), span(2_050, days: 8, to: 10)],
      5: [span(1_990, days: 0, to: 10)],
    ])
    #expect(Set(placeholders.keys) == [1, 3, 4])
    let found = placeholders[1]?[0]
    #expect(
      found?.from == begin + .seconds(4 * 86_400) && found?.until == begin + .seconds(8 * 86_400))
    #expect(placeholders[4]?[0] == nil && placeholders[4]?[1] != nil)
    // Diesel and one grade with one price are no placeholder, and neither are two grades alone.
    #expect(
      Plausibility.placeholders([
        1: [span(2_189, days: 0, to: 4)], 5: [span(2_189, days: 0, to: 4)],
        6: [span(2_189, days: 0, to: 4)],
      ]).isEmpty)
    #expect(
      Plausibility.placeholders([
        1: [span(1_850, days: 0, to: 4)], 4: [span(1_850, days: 0, to: 4)],
      ])
      .isEmpty)
  }
}

extension Instant {
  fileprivate init(_ text: String) {
    guard let instant = Instant(iso: text) else { preconditionFailure("no instant: \(text)") }
    self = instant
  }
}
