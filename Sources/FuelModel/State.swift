/// A state or territory of Australia, by its published abbreviation.
package enum State: String, CaseIterable, Hashable, Sendable {
  case nsw = "NSW"
  case act = "ACT"
  case vic = "VIC"
  case qld = "QLD"
  case sa = "SA"
  case wa = "WA"
  case tas = "TAS"
  case nt = "NT"

  /// As it stands in a sentence.
  package var name: String {
    switch self {
    case .nsw: "New South Wales"
    case .act: "the ACT"
    case .vic: "Victoria"
    case .qld: "Queensland"
    case .sa: "South Australia"
    case .wa: "Western Australia"
    case .tas: "Tasmania"
    case .nt: "the Northern Territory"
    }
  }

  /// The zone whose local day is the state's price day.
  package var timeZone: Zone {
    switch self {
    case .nsw, .act: .sydney
    case .vic: .melbourne
    case .qld: .brisbane
    case .sa: .adelaide
    case .wa: .perth
    case .tas: .hobart
    case .nt: .darwin
    }
  }

  /// The zone of a place, which is not always its state's: Broken Hill keeps Adelaide time, Lord
  /// Howe Island its own.
  package func timeZone(postcode: String?) -> Zone {
    switch (self, postcode) {
    case (.nsw, "2880"): .brokenHill
    case (.nsw, "2898"): .lordHowe
    default: timeZone
    }
  }
}
