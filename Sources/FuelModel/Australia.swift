/// Australia: its states, its time zone and its extent.
package enum Australia {
  /// The region code of the nation.
  package static let code = "AU"
  package static let name = "Australia"
  /// The zone whose calendar days count for the nation.
  package static let timeZone = Zone.sydney
  package static let states: [State] = [.nsw, .act, .vic, .qld, .sa, .wa, .tas, .nt]

  // The range of the degrees of stations. Includes the nearer islands.
  private static let latitudes = -44.5 ... -9.0
  private static let longitudes = 96.0...168.0

  /// Returns the state with a code such as `NSW`; `nil` where there is none.
  package static func state(_ code: String) -> State? { states.first { $0.code == code } }

  /// Returns the state that a text names by its code or its name, in upper or lower case.
  package static func state(writtenAs text: String) -> State? {
    let words = words(of: text)
    return states.first { [[$0.code], $0.nameInAddresses].contains(words) }
  }

  /// Returns the state that an address names, at its end or before a postcode; `nil` where it names
  /// none. A postcode alone names none, because those of towns at a border may be of either side.
  package static func state(named address: String) -> State? {
    for part in address.split(separator: ",").reversed() {
      var words = words(of: part)
      while let last = words.last,
        last.isPostcode || ["AU", "AUSTRALIA"].contains(last) && !endsInName(words)
      {
        words.removeLast()
      }
      // A street or a suburb may end in a name of one word, such as Port Victoria.
      let found = states.first { state in
        let name = state.nameInAddresses
        return state.code.count > 1 && words.last == state.code
          || words.suffix(name.count) == name[...] && (name.count > 1 || words.count == 1)
      }
      if let found { return found }
    }
    return nil
  }

  private static func endsInName(_ words: [String]) -> Bool {
    states.contains { words.suffix($0.nameInAddresses.count) == $0.nameInAddresses[...] }
  }

  private static func words(of text: some StringProtocol) -> [String] {
    text.uppercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }

  /// Whether a station can lie at a position. Swapped axes, a lost sign and 0,0 are the usual
  /// reasons why it cannot.
  package static func contains(_ position: Position) -> Bool {
    latitudes.contains(position.latitude) && longitudes.contains(position.longitude)
  }

  /// Returns the latest calendar day that has begun anywhere in the country.
  package static func newestDay(at instant: Instant) -> Day {
    states.map { $0.timeZone.local(instant).day }.reduce(timeZone.local(instant).day, max)
  }
}

extension StringProtocol {
  /// Whether the text has the form of a postcode.
  package var isPostcode: Bool {
    utf8.count == 4 && utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}

extension State {
  package static let nsw = State(
    code: "NSW", name: "New South Wales", timeZone: .sydney, postcodesBegin: "21345",
    latitudes: -37.6 ... -28.1, longitudes: 140.9...153.7,
    zonesByPostcode: ["2880": .brokenHill, "2898": .lordHowe])
  package static let act = State(
    code: "ACT", name: "the ACT", timeZone: .sydney, postcodesBegin: "20",
    latitudes: -36.0 ... -35.1, longitudes: 148.7...149.5)
  package static let vic = State(
    code: "VIC", name: "Victoria", timeZone: .melbourne, postcodesBegin: "3825",
    latitudes: -39.3 ... -33.9, longitudes: 140.9...150.1)
  package static let qld = State(
    code: "QLD", name: "Queensland", timeZone: .brisbane, postcodesBegin: "49025",
    latitudes: -29.3 ... -9.0, longitudes: 137.9...153.7)
  package static let sa = State(
    code: "SA", name: "South Australia", timeZone: .adelaide, postcodesBegin: "502346",
    latitudes: -38.2 ... -25.9, longitudes: 128.9...141.1)
  package static let wa = State(
    code: "WA", name: "Western Australia", timeZone: .perth, priceDayStarts: 6,
    postcodesBegin: "605",
    latitudes: -35.3 ... -10.3, longitudes: 105.5...129.1)
  package static let tas = State(
    code: "TAS", name: "Tasmania", timeZone: .hobart, postcodesBegin: "7",
    latitudes: -43.9 ... -39.2, longitudes: 143.6...148.7)
  package static let nt = State(
    code: "NT", name: "the Northern Territory", timeZone: .darwin, postcodesBegin: "0456",
    latitudes: -26.1 ... -10.8, longitudes: 128.9...138.1)
}
