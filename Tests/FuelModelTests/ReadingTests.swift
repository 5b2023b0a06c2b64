import FuelModel
import Testing

struct ReadingTests {
  private let noon = Instant(seconds: 1_700_000_000)

  private func observation(_ tenths: Int, at instant: Instant) -> Observation {
    Observation(stationCode: "1", fuel: .u91, price: Price(tenths: tenths), effectiveAt: instant)
  }

  private func distinct(
    _ observations: [Observation], lead: Duration = .zero
  ) -> Reading.Distinct {
    var reading = Reading(coverage: .complete)
    reading.observations = observations
    return reading.distinct(takenAt: noon, horizon: .seconds(600), lead: lead)
  }

  /// F-V11: equal records are duplicates, and records with different times are separate
  /// observations. Of two prices at one instant the later one in the document counts. The counts
  /// add up.
  @Test func repeatedRecordsAreFolded() {
    let early = noon - .seconds(60)
    let distinct = distinct([
      observation(1800, at: early), observation(1800, at: early), observation(1900, at: noon),
      observation(1850, at: early),
    ])
    #expect(distinct.observations == [observation(1850, at: early), observation(1900, at: noon)])
    #expect(distinct.duplicates == 1)
    #expect(distinct.rejects.map(\.reason) == [.conflictingPrice])
    #expect(distinct.received == 4)
  }

  /// F-T01: a small skew of clocks is accepted and a larger one rejected. The rest of the list is
  /// kept.
  @Test func stampsAheadOfTheClockAreRefused() {
    let distinct = distinct([
      observation(1800, at: noon + .seconds(60)), observation(1801, at: noon + .seconds(601)),
      observation(1802, at: noon + .seconds(86_400)),
    ])
    #expect(distinct.observations.count == 1)
    #expect(distinct.rejects.map(\.reason) == [.stampInFuture, .stampInFuture])
  }

  /// F-T14: the stamps of a clock that is twenty minutes ahead are put back by it where they lie
  /// ahead. What lies further ahead is rejected.
  @Test func stampsOfAFastClockArePutBack() {
    let distinct = distinct(
      [
        observation(1800, at: noon + .seconds(1_100)), observation(1801, at: noon),
        observation(1802, at: noon + .seconds(1_801)),
      ], lead: .seconds(1_200))
    #expect(
      distinct.observations == [
        observation(1800, at: noon - .seconds(100)), observation(1801, at: noon),
      ])
    #expect(distinct.rejects.map(\.reason) == [.stampInFuture])
  }

  /// F-T02: stamps of the years 1970 and 1 are placeholders.
  @Test func ancientStampsAreRefused() {
    let distinct = distinct([observation(1800, at: Instant(seconds: 0))])
    #expect(distinct.rejects.map(\.reason) == [.stampTooOld])
  }

  /// F-V07: the accepted range depends on the fuel, since LPG is cheap and diesel in the Kimberley
  /// is expensive.
  @Test(arguments: [
    (Fuel.lpg, 899, true), (.u91, 153, false), (.u91, 18_390, false), (.dl, 4500, true),
    (.u91, 600, true), (.lpg, 85, false), (.e10, 9990, false),
  ])
  func pricesOutOfTheBandAreRefused(fuel: Fuel, tenths: Int, isTaken: Bool) {
    var reading = Reading(coverage: .complete)
    reading.take(
      Observation(stationCode: "1", fuel: fuel, price: Price(tenths: tenths), effectiveAt: noon),
      raw: "raw")
    #expect(reading.observations.isEmpty != isTaken)
    #expect(reading.rejects.map(\.reason) == (isTaken ? [] : [.priceOutOfBand]))
  }

  /// F-P04, F-P08, F-S08: text is put into composed form, on one line, without invisible
  /// characters.
  @Test(arguments: [
    ("BP  Karrinyup\t ", "BP Karrinyup"), ("Cafe\u{301}", "Caf\u{E9}"), ("a\0b", "a b"),
    ("line\nbreak", "line break"), ("\u{202E}evil\u{202C}", "evil"),
    ("zero\u{200B}width", "zerowidth"),
    ("'); DROP TABLE x;--", "'); DROP TABLE x;--"), ("non\u{A0}breaking", "non breaking"),
  ])
  func textIsMadePlain(text: String, expected: String) {
    // Swift takes composed and decomposed texts for equal, so the scalars are compared.
    #expect(Array(text.plain.unicodeScalars) == Array(expected.unicodeScalars))
  }

  /// F-P09: a name of a megabyte is cut.
  @Test func longTextIsCut() {
    #expect(String(repeating: "a", count: 1_000_000).plain.count == 200)
  }

  /// F-S02: coordinates outside Australia are dropped.
  @Test func impossiblePositionsAreNone() {
    for (latitude, longitude, isThere) in [
      (0, 0, false), (151.2, -33.8, false), (33.8, 151.2, false), (-33.8, 151.2, true),
      (.nan, 151.2, false),
    ] {
      var reading = Reading(coverage: .complete)
      reading.stations = [
        Station(
          code: "1", state: .nsw, name: "One", address: "1 Main St",
          position: Position(latitude: latitude, longitude: longitude))
      ]
      let distinct = reading.distinct(takenAt: Instant(seconds: 0), horizon: .seconds(60))
      #expect((distinct.stations[0].position != nil) == isThere, "\(latitude), \(longitude)")
    }
  }

  /// Addresses as FuelCheck writes them, with and without a comma before the suburb.
  @Test(arguments: [
    ("539 Wilberforce Rd, WILBERFORCE NSW 2756", "WILBERFORCE"),
    ("158 AUBURN RD Birrong NSW 2143", "Birrong"),
    ("101-107 Hammond Ave East Wagga Wagga NSW 2650", "East Wagga Wagga"),
    ("Avonside NSW 2628", "Avonside"),
    ("CNR JOHNSON & DOWLING STREET Forbes NSW 2871", "Forbes"),
    ("10 High St St Marys NSW 2760", "St Marys"),
  ])
  func theSuburbFollowsTheStreet(address: String, suburb: String) {
    #expect(PostalAddress(address).suburb == suburb)
  }

  /// F-F60: which state an address names. A postcode alone names none, and a name at the end of a
  /// street or a suburb is not that of its state.
  @Test(arguments: [
    ("1 Made-Up St, PARRAMATTA NSW 2150", "NSW"),
    ("456, Met Road, Met NEW SOUTH WALES 2323", "NSW"),
    ("Far Highway, JACK NSW AUSTRALIA 2460", "NSW"), ("52 Hill Street, Ural, NSW  2358, AU", "NSW"),
    ("Unit 1/75 Mt Road, Deer Park VIC 3023, DEER PARK, 3023", "VIC"),
    ("1 A St, Town, vic. 3000", "VIC"),
    ("1 A St, Port Pirie, South Australia 5540", "SA"), ("1 A St, Perth WA, 6000, Australia", "WA"),
    ("1 A St, Wodonga, Victoria, 3690", "VIC"), ("1 A St, Port Victoria, 5573", nil),
    ("42 Victoria Street, PYRAMID HILL, 3575", nil), ("85 Victoria St", nil),
    ("Hume St, 2620", nil),
    ("Cnr Wa St & Sa Rd, Town, 4000", nil), ("1 A St, Darwin Northern Territory 0800", "NT"),
    ("", nil),
  ])
  func statesInAddresses(address: String, code: String?) {
    #expect(Australia.state(named: address)?.code == code)
  }

  /// F-F60: where neither the address nor the postcode names a state, a position far from the state
  /// tells the other one. An address that names the state is believed in any case.
  @Test(
    arguments: [
      ("1 A Rd, PARRAMATTA", nil, -33.8, 151.0, State.tas, "NSW"),
      ("1 A Rd, Town", "4000", -27.4, 153.0, .sa, "QLD"),
      ("1 A Rd, Town", "4121", -37.45, 153.0, .qld, nil),
      ("1 A Rd, Town", nil, -42.9, 147.3, .tas, nil),
      ("1 A Rd, Town", nil, -38.5, 147.3, .tas, nil),
      ("1 A Rd, Town SA 5000", "5000", -27.4, 153.0, .sa, nil), ("", nil, -31.9, 115.9, .sa, "WA"),
    ] as [(String, String?, Double, Double, State, String?)])
  func aPositionFarAwayTellsTheState(
    address: String, postcode: String?, latitude: Double, longitude: Double, of state: State,
    other: String?
  ) {
    let station = Station(
      code: "1", state: state, name: "A", address: address, postcode: postcode,
      position: Position(latitude: latitude, longitude: longitude))
    #expect(station.stateOutside(of: [state])?.code == other)
  }
}
