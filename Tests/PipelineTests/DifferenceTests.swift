import FuelModel
import Testing
import Timeline

@testable import Pipeline
@testable import Store

/// Tests which prices of a run are compared with the history, given what its feed showed before.
@Suite struct DifferenceTests {
  static let noon = Instant(seconds: 1_782_900_000)
  static let u91 = Pair(stationID: 7, fuelID: 1)

  /// The feed shows 170.0 since noon.
  static let shown = ShownPrice(pair: u91, stampedAt: noon, stampedTenths: 1_700)

  static func price(_ tenths: Int32, hours: Int64 = 0, of pair: Pair = u91) -> ReportedPrice {
    ReportedPrice(pair: pair, effectiveAt: noon + .seconds(hours * 3_600), tenths: tenths)
  }

  static func found(
    _ reported: [ReportedPrice], _ shown: [ShownPrice], isList: Bool = true, isLate: Bool = false
  ) -> [DifferingPrice] {
    Difference(of: reported, from: shown, isList: isList, isDirect: !isLate).prices
  }

  @Test func whatIsShownAlreadyIsNoDifference() {
    var withNext = Self.shown
    withNext.next = (Self.noon + .seconds(3_600), 1_650)
    #expect(Self.found([Self.price(1_700)], [Self.shown]).isEmpty)
    #expect(Self.found([Self.price(1_650, hours: 1)], [withNext]).isEmpty)
    #expect(Self.found([Self.price(1_700), Self.price(1_650, hours: 1)], [withNext]).isEmpty)
  }

  @Test(arguments: [
    (price(1_690), true), (price(1_690, hours: -1), true), (price(1_700, hours: -1), true),
    (price(1_690, hours: 1), false), (price(1_700, hours: 1), false),
  ])
  func onlyNewStampsAreNewer(reported: ReportedPrice, mayBeKnown: Bool) {
    #expect(
      Self.found([reported], [Self.shown]) == [
        DifferingPrice(
          pair: Self.u91, price: reported, wasListed: true, mayBeKnown: mayBeKnown,
          follows: mayBeKnown ? nil : Self.noon)
      ])
  }

  /// The prices that a list states for one station and fuel belong together, so that the list still
  /// states them when the list before it is withdrawn.
  @Test func aListSaysAllItsPricesOfAStation() {
    var shown = Self.shown
    shown.next = (Self.noon + .seconds(7_200), 1_650)
    let reported = [Self.price(1_690), Self.price(1_650, hours: 2)]
    #expect(Self.found(reported, [shown]).map(\.price) == reported)
    let ofDays = Difference(
      of: reported, from: [shown], isList: false, reportsWholeDays: true, isDirect: true)
    #expect(ofDays.prices.map(\.price) == [reported[0]])
  }

  /// Only a list goes on with a single newer price of what the list before it showed.
  @Test func notEveryNewerPriceFollows() {
    let newer = Self.price(1_690, hours: 1)
    #expect(Self.found([newer], [Self.shown]).map(\.follows) == [Self.noon])
    #expect(
      Self.found([newer, Self.price(1_700, hours: 2)], [Self.shown]).allSatisfy {
        $0.follows == nil
      })
    #expect(Self.found([newer], [Self.shown], isList: false).map(\.follows) == [nil])
    #expect(Self.found([newer], [Self.shown], isLate: true).map(\.follows) == [nil])
    #expect(Self.found([newer], []).map(\.follows) == [nil])
    var shown = Self.shown
    shown.isListed = false
    #expect(Self.found([newer], [shown]).map(\.follows) == [nil])
    shown = Self.shown
    shown.next = (Self.noon + .seconds(1_800), 1_650)
    #expect(Self.found([newer], [shown]).map(\.follows) == [nil])
    shown = Self.shown
    shown.showsOlder = true
    #expect(Self.found([newer], [shown]).map(\.follows) == [nil])
  }

  @Test func aStampBeforeTheNextPriceMayBeKnown() {
    var shown = Self.shown
    shown.next = (Self.noon + .seconds(7_200), 1_650)
    #expect(Self.found([Self.price(1_690, hours: 1)], [shown]).map(\.mayBeKnown) == [true])
    #expect(Self.found([Self.price(1_690, hours: 3)], [shown]).map(\.mayBeKnown) == [false])
  }

  @Test func aLateRunMeetsTheHistoryWithEverything() {
    #expect(Self.found([Self.price(1_700)], [Self.shown], isLate: true).map(\.mayBeKnown) == [true])
  }

  @Test func whatShowedAnOlderPriceIsAskedAgain() {
    var shown = Self.shown
    shown.showsOlder = true
    #expect(Self.found([Self.price(1_700)], [shown]).map(\.mayBeKnown) == [true])
    #expect(Self.found([Self.price(1_690, hours: 1)], [shown]).map(\.mayBeKnown) == [true])
  }

  @Test func whatComesBackIntoAListIsADifference() {
    var shown = Self.shown
    shown.isListed = false
    let back = DifferingPrice(
      pair: Self.u91, price: Self.price(1_700), wasListed: false, mayBeKnown: true)
    #expect(Self.found([Self.price(1_700)], [shown]) == [back])
  }

  /// Nothing later repeats what an update reported, so it is taken whole. Answers with whole days
  /// repeat each other.
  @Test func updatesAreTakenWhole() {
    func found(reportsWholeDays: Bool) -> [DifferingPrice] {
      Difference(
        of: [Self.price(1_700)], from: [Self.shown], isList: false,
        reportsWholeDays: reportsWholeDays, isDirect: true
      ).prices
    }
    #expect(
      found(reportsWholeDays: false) == [
        DifferingPrice(
          pair: Self.u91, price: Self.price(1_700), wasListed: true, mayBeKnown: true)
      ])
    #expect(found(reportsWholeDays: true).isEmpty)
  }

  @Test func onlyAListEndsWhatItLeavesOut() {
    var updateOnly = Self.shown
    updateOnly.isListed = false
    var gone = updateOnly
    gone.isOffered = false
    func end(wasListed: Bool) -> DifferingPrice {
      DifferingPrice(pair: Self.u91, price: nil, wasListed: wasListed, mayBeKnown: false)
    }
    #expect(Self.found([], [Self.shown]) == [end(wasListed: true)])
    #expect(Self.found([], [updateOnly]) == [end(wasListed: false)])
    #expect(Self.found([], [gone]).isEmpty)
    #expect(Self.found([], [Self.shown], isList: false).isEmpty)
  }

  @Test func pairsAreCountedOnce() {
    let other = Pair(stationID: 8, fuelID: 1)
    let difference = Difference(
      of: [
        Self.price(1_700), Self.price(1_650, hours: 1), Self.price(1_800, of: other),
        Self.price(1_810, hours: 1, of: other),
      ], from: [Self.shown], isList: true, isDirect: true)
    #expect(difference.pairs == 2)
    #expect(difference.prices.count == 4)
  }

  @Test func whatTheFeedNeverShowedMayBeKnown() {
    #expect(
      Self.found([Self.price(1_700)], []) == [
        DifferingPrice(
          pair: Self.u91, price: Self.price(1_700), wasListed: false, mayBeKnown: true)
      ])
  }

  @Test func withoutStampsAPriceThatHoldsKeepsItsOwn() {
    let later = Self.noon + .seconds(86_400)
    let other = Pair(stationID: 8, fuelID: 1)
    let third = Pair(stationID: 9, fuelID: 1)
    var reported = [
      ReportedPrice(pair: Self.u91, effectiveAt: nil, tenths: 1_700),
      ReportedPrice(pair: other, effectiveAt: nil, tenths: 1_690),
      ReportedPrice(pair: third, effectiveAt: nil, tenths: 1_710),
    ]
    reported.stamp(from: [Self.price(1_700), Self.price(1_700, of: other)], at: later)
    #expect(reported.map(\.effectiveAt) == [Self.noon, later, later])
  }
}
