package import FuelModel

/// The layout of the files of one archive. There is one value per archive, in `Formats/`; the code
/// that reads files refers to no archive by name.
package struct ArchiveFormat: Sendable {
  /// The meaning of a column. The raw value is the index at which the reader keeps the position of
  /// the column.
  package enum Column: Int, CaseIterable, Sendable {
    case code, name, brand, address, suburb, state, postcode, latitude, longitude
    case fuel, price, stamp
  }

  /// The unit in which an archive writes its prices.
  package enum Unit: Sendable {
    /// `189.9`: cents per litre.
    case cents
    /// `1899`: tenths of a cent per litre.
    case tenths
  }

  /// The meaning of the column of stamps.
  package enum Stamp: Sendable {
    /// The wall clock of a zone, daylight saving time included. Where clocks show an hour twice,
    /// the first one counts.
    case wallClock(Zone)
    case utc
    /// A price day, which begins at an hour of the local day.
    case day(Zone, startsAt: Int)
  }

  /// What identifies a station record within the archive.
  package enum Identity: Sendable {
    /// The code that the live feed uses too.
    case code
    case nameAndAddress
    case nameAndPosition
  }

  package let id: String
  /// The names of each column in the files' headers: in lower case, with spaces for underscores.
  let columns: [Column: [String]]
  /// The fuel of each name in the files, in lower case. `nil`: the archive has prices of it, but
  /// Bowser does not support it.
  let fuels: [String: Fuel?]
  /// The columns that contain the price of one fuel each, in files with a row per station and day.
  var fuelColumns: [String: Fuel] = [:]
  let unit: Unit
  let stamp: Stamp
  let identity: Identity
  /// Prices that mean "not offered from then on", in tenths of a cent.
  var notOffered: Set<Int> = []
  /// Whether a 0 in one of `fuelColumns` means an empty cell.
  var zeroIsBlank = false

  /// The zone whose calendar defines the months.
  package var zone: Zone {
    switch stamp {
    case .wallClock(let zone), .day(let zone, _): zone
    // Queensland, whose archive alone has such stamps.
    case .utc: .brisbane
    }
  }

  /// The state of a station of which neither the row nor the address names a state.
  var homeState: State {
    Australia.states.first { $0.timeZone == zone } ?? .nsw
  }

  /// Whether a row has a column for each fuel rather than one fuel and its price.
  var isWide: Bool { !fuelColumns.isEmpty }

  /// The columns without which a row is no header of this archive.
  var requiredColumns: [Column] {
    let always: [Column] =
      isWide ? [.stamp, .suburb] : [.name, .address, .fuel, .price, .stamp]
    return hasCodes ? always + [.code] : always
  }

  /// Whether the codes of the live feed identify the station records.
  package var hasCodes: Bool { identity == .code }

  /// What a file has to contain, for the refusal of one whose rows are bad for a reason.
  package func expectation(of reason: Reject.Reason) -> String? {
    switch reason {
    case .unknownFuel:
      let names = fuels.filter { $0.value != nil }.keys.sorted().joined(separator: ", ")
        .uppercased()
      return "fuels may be called \(names), or by plain names such as Unleaded 91 and Premium 98"
    case .stampUnreadable:
      let clock = if case .utc = stamp { "UTC" } else { zone.rawValue }
      return "times may be written 2026-04-01 07:49:06, 2026-04-01T07:49:06, 01/04/2026 07:49 or "
        + "1/04/2026 7:49:06 AM, with an offset only if it is that of the clock of \(clock), or as "
        + "dates of a workbook"
    case .priceUnreadable, .priceOutOfBand:
      return unit == .cents
        ? "prices are cents per litre with at most two decimals, such as 189.9"
        : "prices are whole tenths of a cent per litre, such as 1899"
    case .stationMissing:
      return hasCodes
        ? "each row needs the code of its station, such as 61400000"
        : "each row needs the name and the place of its station"
    case .recordUnreadable:
      return "each row has a field for each column, and no signs of lost letters such as \u{FFFD} "
        + "and Ã©; take the file as it was published"
    default: return nil
    }
  }

  /// Every format that this program reads.
  package static let all: [ArchiveFormat] = [nswFuelCheck, ntMyFuel, qldFuelPrices, waFuelWatch]
}
