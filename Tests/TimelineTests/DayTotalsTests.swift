import Simulator
import Testing

@testable import Timeline

/// Sums and ranks of a day of a region, from which single stations can be removed again.
struct DayTotalsTests {
  /// After any additions and removals, each total equals the one computed from all stations,
  /// or is unknown (`nil`).
  @Test(arguments: 0..<40)
  func changedTotalsAreThoseOfAllMeans(seed: Int) throws {
    var random = Random(seed: UInt64(seed), "totals")
    let spread = random.chance(0.5) ? 9 : 900
    var means = (0..<Int(random.next() % UInt64(80))).map { _ in
      Int32(1_500 + Int(random.next() % UInt64(spread)))
    }.sorted()
    var totals = DayTotals(of: means)
    var answered = 0
    for _ in 0..<40 {
      if !means.isEmpty, random.chance(0.5) {
        totals.take(means.remove(at: Int(random.next() % UInt64(means.count))))
      } else {
        let mean = Int32(1_500 + Int(random.next() % UInt64(spread)))
        totals.put(mean)
        means.append(mean)
        means.sort()
      }
      let whole = DayTotals(of: means)
      #expect(totals.count == whole.count && totals.total == whole.total)
      for (changed, made) in [
        (totals.median, whole.median), (totals.quarter, whole.quarter),
        (totals.lowest.map(Double.init), whole.lowest.map(Double.init)),
        (totals.highest.map(Double.init), whole.highest.map(Double.init)),
      ] where changed != nil && !means.isEmpty {
        #expect(changed == made, "seed \(seed)")
        answered += 1
      }
      if random.chance(0.2) { totals = try #require(self.totals(of: totals.bytes)) }
    }
    // Enough totals must stay known, otherwise removing single stations gains nothing.
    #expect(answered > 20)
  }

  /// Bytes that do not encode totals are refused.
  @Test func otherBytesAreNoTotals() {
    let bytes = DayTotals(of: [1, 2, 3]).bytes
    #expect(self.totals(of: bytes) == DayTotals(of: [1, 2, 3]))
    #expect(self.totals(of: bytes.dropLast()) == nil)
    #expect(self.totals(of: bytes + [0]) == nil)
    #expect(self.totals(of: []) == nil)
  }

  private func totals(of bytes: some Collection<UInt8>) -> DayTotals? {
    Array(bytes).withUnsafeBytes { DayTotals(bytes: $0) }
  }
}
