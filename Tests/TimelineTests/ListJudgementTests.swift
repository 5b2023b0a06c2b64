import FuelModel
import Simulator
import Testing
import Timeline

/// How lists are judged by comparison with one another, without a database.
struct ListJudgementTests {
  /// The stamps of a list are sampled at every twentieth of the list in the order of its stamps.
  @Test func stampsAreSampled() {
    var random = Random(seed: 13, "stamps")
    for count in [0, 1, 2, 19, 20, 21, 22, 500] {
      let minutes = (0..<count).map { _ in random.integer(0...max(1, count / 5)) }
      let observations = minutes.map {
        Observation(
          stationCode: "1", fuel: .u91, price: nil,
          effectiveAt: Instant(seconds: Int64($0) * 60 + 7))
      }
      let sorted = minutes.sorted()
      let expected = count == 0 ? [] : (0...20).map { sorted[(count - 1) * $0 / 20] }
      #expect(ListSummary.stamps(of: observations) == expected)
      let unstamped = Observation(stationCode: "1", fuel: .u91, price: nil, effectiveAt: nil)
      #expect(ListSummary.stamps(of: observations + [unstamped]) == [])
    }
  }

  private static let hour: Int64 = 3_600_000_000
  private let rules = ListRules(window: 24 * hour, refuseBelow: 0.7, partialBelow: 0.95)

  private func at(_ hours: Int) -> Instant {
    Instant(seconds: 1_780_000_000 + Int64(hours) * 3_600)
  }

  /// - Parameter stamps: hours at which its prices took effect, spread evenly over the list.
  private func list(
    _ hours: Int, _ pairs: Int, fuels: [String: Int]? = nil, brands: [String: Int] = [:],
    stations: Int? = nil, stamps: [Int] = []
  ) -> ListSummary {
    ListSummary(
      takenAt: at(hours), pairs: pairs, stations: stations ?? pairs,
      fuels: fuels ?? ["U91": pairs], brands: brands,
      stamps: stamps.map { Int(at($0).seconds / 60) })
  }

  @Test func aListIsHeldAgainstTheLongestOfADay() {
    let full = list(0, 100)
    #expect(rules.judgement(of: list(1, 95), among: [full]).isComplete)
    #expect(
      rules.judgement(of: list(1, 94), among: [full]).shortcomings
        == ["short: 94 prices where 100 were listed"])
    #expect(
      rules.judgement(of: list(1, 69), among: [full]).refusal
        == "only 69 prices where 100 were listed before: below 70 %")
    // Earlier short lists do not make a short list complete.
    #expect(
      !rules.judgement(of: list(3, 80), among: [full, list(1, 80), list(2, 80)]).isComplete)
    // Later lists do not count, in whatever order the lists are given.
    #expect(rules.judgement(of: list(1, 80), among: [list(2, 100)]).isComplete)
    #expect(rules.judgement(of: list(1, 80), among: [list(2, 100), list(0, 80)]).isComplete)
  }

  @Test func whatNoneHasShownForADayIsGone() {
    let full = list(0, 100)
    let short = (1...25).map { list($0, 80) }
    #expect(!rules.judgement(of: short[22], among: [full] + short).isComplete)
    #expect(rules.judgement(of: short[23], among: [full] + short).isComplete)
    // After an outage, the newest list from before it still causes half a list to be refused.
    #expect(rules.judgement(of: list(99, 60), among: [full, list(9, 100)]).refusal != nil)
    #expect(rules.judgement(of: list(99, 80), among: [full, list(9, 100)]).isComplete)
  }

  @Test func wholeFuelsAndChainsAreMissed() {
    let full = list(
      0, 120, fuels: ["U91": 100, "DL": 11, "LPG": 9], brands: ["A": 60, "B": 12, "C": 9],
      stations: 100)
    let rest = list(
      1, 115, fuels: ["U91": 104, "LPG": 11], brands: ["A": 60], stations: 81)
    #expect(
      rules.judgement(of: rest, among: [full]).shortcomings == ["nothing of brand B, DL"])
    // A chain under a new name has the same number of stations.
    let renamed = list(
      1, 120, fuels: full.fuels, brands: ["A": 60, "New B": 12], stations: 100)
    #expect(rules.judgement(of: renamed, among: [full]).isComplete)
  }

  @Test func anOldAnswerIsNoNews() {
    let old = list(0, 100, stamps: Array(repeating: -30, count: 21))
    // Six of ten prices have changed within the hour before this list.
    let new = list(
      1, 100, stamps: Array(repeating: -30, count: 8) + Array(repeating: 1, count: 13))
    #expect(rules.judgement(of: new, among: [old]).isComplete)
    var again = old
    again.takenAt = at(2)
    #expect(
      rules.judgement(of: again, among: [old, new]).shortcomings
        == ["replayed: 62 of 100 stamps went back"])
    // A few corrections do not make a replay.
    let corrected = list(
      2, 100, stamps: Array(repeating: -30, count: 11) + Array(repeating: 1, count: 10))
    #expect(rules.judgement(of: corrected, among: [old, new]).isComplete)
  }

  @Test func answersOfWholeDaysAreHeldAgainstTheOneBefore() {
    #expect(rules.judgement(ofDays: 95, after: 100) == ListJudgement())
    #expect(
      rules.judgement(ofDays: 94, after: 100).shortcomings
        == ["short: 94 prices where 100 came before"])
    #expect(
      rules.judgement(ofDays: 69, after: 100).refusal
        == "only 69 prices where 100 came before: below 70 %")
  }
}
