import FuelModel
import Simulator
import Testing
import Trends

/// Verdicts of invented markets whose right advice is known.
struct HabitTests {
  private static let first = Day(sinceEpoch: 20_000)

  private func series(_ days: Int, _ price: (Int) -> Double?) -> DailySeries {
    DailySeries(
      first: Self.first,
      averages: (0..<days).map { day in price(day).map { ($0 * 100).rounded() / 100 } })
  }

  private func tooth(_ day: Int, period: Int, rise: Int) -> Double {
    let phase = day % period
    return phase <= rise
      ? 160 + 30 * Double(phase) / Double(rise)
      : 160 + 30 * Double(period - phase) / Double(period - rise)
  }

  private func judgements(_ series: DailySeries, isLate: Bool = false) -> [Judgement] {
    MarketWalk(series, isLate: isLate).judgements(isTomorrowKnown: false)
  }

  private func weekday(_ series: DailySeries, isLate: Bool = false) -> [Advice?] {
    MarketWalk(series, isLate: isLate).advice(of: .weekday, isTomorrowKnown: false)
  }

  private func judged(_ series: DailySeries, tomorrow change: Double? = nil) -> Judgement {
    MarketWalk(series, isLate: false).judgement(changeTomorrow: change)
  }

  /// F-G09: in markets without a cycle the only advice is `no_difference`, and the reason is
  /// stated.
  @Test func quietMarketsGetNoAdvice() {
    var random = Random(seed: 9)
    for level in [120.0, 185.0, 230.0] {
      var price = level
      let market = series(400) { _ in
        price += random.real(-0.15...0.15)
        return price
      }
      for judged in judgements(market)[60...] {
        #expect(judged.advice == .noDifference && judged.basis == .notCycling)
        #expect(judged.rule == nil && judged.expectedSaving == nil && judged.state == .quiet)
        #expect(judged.reason.hasPrefix("Timing has saved "))
      }
    }
  }

  /// F-G09, F-G12: in a flat market a change of half a cent by tomorrow does not matter. A
  /// published jump does, and makes certain what follows from it.
  @Test func aPublishedJumpSpeaksInAFlatMarket() {
    var random = Random(seed: 4)
    let flat = series(120) { _ in 175 + random.real(-0.1...0.1) }
    for change in [0.1, 0.5, -0.79] {
      let judged = judged(flat, tomorrow: change)
      #expect(judged.advice == .noDifference && judged.basis == .notCycling)
    }
    let dearer = judged(flat, tomorrow: 5)
    #expect(dearer.advice == .fillUp && dearer.basis == .tomorrowPrice && dearer.low == nil)
    #expect(dearer.chances?.jump == 1)
    let cheaper = judged(flat, tomorrow: -0.8)
    #expect(cheaper.advice == .wait && cheaper.expectedSaving == 0.8 && cheaper.confidence == 1)
    #expect(judged(flat, tomorrow: -5).chances?.cheaper == 1)
  }

  /// F-G10: where there is advice, a published change counts from a twentieth of a cent on, in
  /// hundredths: 0.05 has no exact binary number.
  @Test func aSmallPublishedChangeCounts() {
    let market = series(300) { tooth($0, period: 28, rise: 6) }
    #expect(judged(market, tomorrow: 0.05 - 1e-9).basis == .tomorrowPrice)
    #expect(judged(market, tomorrow: 0.044).basis == .priceCycle)
  }

  /// In a saw-tooth the verdict is `wait` during the fall and `fill_up` at its end, which saves
  /// most of what hindsight could. The peak comes without a warning.
  @Test func aSawToothIsWorthWaitingFor() {
    let verdicts = judgements(series(400) { tooth($0, period: 28, rise: 6) })
    let (falling, low) = (verdicts[28 * 8 + 15], verdicts[28 * 8 + 1])
    #expect(falling.advice == .wait && falling.basis == .priceCycle && falling.state == .falling)
    #expect(low.advice == .fillUp)
    #expect(falling.low.map { $0.price < 175 && $0.bounds.contains($0.price) } == true)
  }

  /// F-G37: in a slide no weekday is cheap. A plain mean of each weekday would call every day of it
  /// the cheapest, because each is later than the others.
  @Test func noWeekdayIsCheapInASlide() {
    let market = series(200) { 260 - 0.5 * Double($0) + ($0 % 7 == 3 ? -0.2 : 0) }
    let weekday = weekday(market)
    let cheap = weekday.indices.filter { weekday[$0] == .fillUp }
    // Once the weekday is known, it is the same one every week.
    #expect(cheap.count > 15 && cheap.allSatisfy { $0 % 7 == 3 })
    #expect(judgements(market)[100...].allSatisfy { $0.advice == .wait })
  }

  /// F-V14: where prices come a day late, the habit of the cheapest weekday still buys on that
  /// weekday, and not on the day after it.
  @Test(arguments: [false, true]) func theHabitOfTheWeekdayKnowsTheDay(isLate: Bool) {
    let market = series(200) { $0 % 7 == 3 ? 170 : 180 }
    let weekday = weekday(market, isLate: isLate)
    #expect(weekday[100...].indices.allSatisfy { (weekday[$0] == .fillUp) == ($0 % 7 == 3) })
    let verdicts = judgements(market, isLate: isLate)
    #expect(verdicts[150].rule == "weekday" && verdicts[150].basis == .priceCycle)
  }

  /// F-G17: a slide after a broken cycle, drawn by hand as straight lines. The habit that looks at
  /// three days leads, and says `wait` on each of ten days.
  @Test func aLongSlideIsWorthWaitingFor() {
    let corners: [(day: Int, price: Double)] = [
      (0, 160), (4, 161), (10, 176), (19, 215), (29, 230), (31, 236), (44, 257), (46, 233),
      (54, 224), (61, 210), (66, 192), (70, 183), (79, 180), (88, 184), (92, 191), (94, 188),
      (102, 186), (107, 176),
    ]
    let prices = (0..<108).map { day -> Double in
      let end = corners.firstIndex { $0.day >= max(day, 1) }!
      let (from, to) = (corners[end - 1], corners[end])
      return from.price
        + (to.price - from.price) * Double(day - from.day) / Double(to.day - from.day)
    }
    // Day 0 is a Sunday.
    let market = DailySeries(first: Day(sinceEpoch: 20_003), averages: prices)
    let verdicts = judgements(market)[97...106]
    #expect(verdicts.allSatisfy { $0.advice == .wait && $0.rule == "slope" })
  }

  /// F-G05, F-G06: the last average is carried over three missing days and no longer. A day with
  /// half of the stations counts as missing.
  @Test func gapsAreCarriedThreeDays() throws {
    let whole = series(300) { tooth($0, period: 28, rise: 6) }
    func judged(gap: Int) -> Judgement {
      var cut = whole.upTo(28 * 8 + 15, atMost: 400)
      cut.averages += Array(repeating: nil, count: gap)
      return self.judged(cut)
    }
    for gap in 0...3 { #expect(judged(gap: gap).advice == .wait) }
    for gap in [4, 40] {
      #expect(
        judged(gap: gap).advice == .noDifference && judged(gap: gap).basis == .insufficientData)
    }
    let known = (0..<60).map { day in
      (day: Self.first + day, average: 170.0, stations: day == 50 ? 49 : 100)
    }
    let counted = try #require(DailySeries(known, upTo: Self.first + 59))
    #expect(
      counted.averages[50] == nil && counted.averages[49] == 170 && counted.averages[51] == 170)
  }

  /// F-G15: nothing of a verdict looks ahead. Later days never change the verdict of a day, and a
  /// series that is cut off at any day yields the same verdicts up to it.
  @Test(arguments: 0..<4)
  func laterDaysChangeNothing(seed: Int) {
    var random = Random(seed: UInt64(seed), "look-ahead")
    var market = series(320) { day in
      random.chance(0.04) ? nil : tooth(day, period: 17 + seed, rise: 4) + random.real(-1...1)
    }
    // Some files begin before 1970.
    if seed == 0 { market.first = Day(sinceEpoch: -200) }
    for isLate in [false, true] {
      let whole = judgements(market, isLate: isLate)
      // With late data the verdict of the day after the cut rests on the days up to the cut.
      let lag = isLate ? 1 : 0
      for cut in [40, 133, 251] {
        var other = market
        for day in cut + 1..<other.count { other.averages[day] = random.real(50...400) }
        #expect(judgements(other, isLate: isLate)[...(cut + lag)] == whole[...(cut + lag)])
        let known = market.upTo(cut, atMost: 1_000)
        #expect(judgements(known, isLate: isLate) == Array(whole[...cut]))
        #expect(
          MarketWalk(known, isLate: isLate).judgement(changeTomorrow: nil) == whole[cut + lag])
      }
    }
  }

  /// The last 400 days give the same advice as the whole history.
  @Test func fourHundredDaysAreEnough() {
    var random = Random(seed: 3, "last days")
    var drift = 0.0
    let market = series(900) { day in
      drift += random.real(-0.4...0.4)
      return drift + tooth(day, period: 24, rise: 5) + random.real(-0.5...0.5)
    }
    let whole = judgements(market)
    for day in stride(from: 420, to: 900, by: 13) {
      let last = judged(market.upTo(day, atMost: MarketWalk.mostDays))
      #expect(last.advice == whole[day].advice && last.rule == whole[day].rule, "\(day)")
    }
  }

  /// F-V15: every reason is made of sentences that agree with the numbers beside them. "Usually" is
  /// said of nothing, and no top is named above the range of four months.
  @Test func reasonsAgreeWithTheNumbers() throws {
    var random = Random(seed: 8, "reasons")
    var advised = 0
    for period in [7, 15, 28] {
      let market = series(330) { day in
        tooth(day, period: period, rise: max(1, period / 5)) + random.real(-0.8...0.8)
          + (day > 250 ? Double(day - 250) * 0.6 : 0)
      }
      for (day, judged) in judgements(market).enumerated().dropFirst(40) {
        let reason = judged.reason
        if reason.contains("within the range of the last four months") {
          let known = market.averages[max(0, day - 134)...max(0, day - 14)].compactMap { $0 }
          let price = try #require(market.averages[day])
          #expect(price >= known.min() ?? .infinity && price <= known.max() ?? 0)
        }
        #expect(!reason.contains("nil") && !reason.contains("-") && !reason.contains("sually"))
        #expect(reason.first?.isUppercase == true && reason.last != ".")
        guard judged.advice != .noDifference else { continue }
        advised += 1
        let lower = try #require(judged.chances).lower
        #expect(reason.contains("(\(Int((lower * 100).rounded())) %)"))
        let percent = Int((lower * 100).rounded())
        let isAgainst = judged.advice == .wait ? percent < 50 : percent >= 50
        let says = ["so this is a close call", "which speaks against "].filter(reason.contains)
        #expect(says.count == (isAgainst ? 1 : 0))
        if let saving = judged.expectedSaving, saving >= 0.05 {
          #expect(reason.contains("about \(Cents.text(saving)) c/L"))
        }
      }
    }
    #expect(advised > 400)
  }
}
