package import FuelModel

/// How the files of one archive are laid out. A value per archive, in `Formats/`; the reader knows no
/// archive by name.
package struct ArchiveFormat: Sendable {
  /// What a column means to us; its number is its place among the columns that were found.
  package enum Column: Int, CaseIterable, Sendable {
    case code, name, brand, address, suburb, state, postcode, latitude, longitude
    case fuel, price, stamp
  }

  package enum Unit: Sendable {
    /// `189.9`: cents per litre.
    case cents
    /// `1899`: tenths of a cent per litre.
    case tenths
  }

  /// What the column of times holds.
  package enum Stamp: Sendable {
    /// The wall clock of a zone, summer time included. In the hour that clocks show twice the first.
    case wallClock(Zone)
    case utc
    /// A price day, which begins at an hour of the zone's day.
    case day(Zone, startsAt: Int)
  }

  /// What a station is known by within the archive.
  package enum Identity: Sendable {
    /// The code that its live feed uses too.
    case code
    case nameAndAddress
    case nameAndPosition
  }

  package let id: String
  /// How files write the header of each column: lower case, spaces for underscores.
  let columns: [Column: [String]]
  /// Fuel names as files write them, in lower case; `nil`: sold, but no fuel of ours.
  let fuels: [String: Fuel?]
  /// Columns that hold the price of one fuel each, in files with a row per station and day.
  var fuelColumns: [String: Fuel] = [:]
  let unit: Unit
  let stamp: Stamp
  let identity: Identity
  /// Prices that mean «not offered from then on», as numbers in the file's unit.
  var notOffered: Set<Int> = []
  /// Where a price of 0 only fills a cell.
  var zeroIsBlank = false
  /// Whether an empty cell of a workbook means the one above it, in every column but the price.
  var fillsDown = false
  /// Whether a file holds one local month, so that dates with day and month exchanged show.
  var holdsOneMonth = true

  /// The zone whose calendar cuts months.
  package var zone: Zone {
    switch stamp {
    case .wallClock(let zone), .day(let zone, _): zone
    case .utc: utcZone
    }
  }
  /// With UTC stamps: the zone of the publisher.
  var utcZone: Zone = .brisbane

  /// The state of a station whose row and address name none.
  var homeState: State {
    Country.australia.states.first { $0.timeZone == zone } ?? .nsw
  }

  /// Whether stations are known by the codes of the live feed.
  package var hasCodes: Bool { identity == .code }

  /// Every format that this program reads.
  package static let all: [ArchiveFormat] = [nswFuelCheck, ntMyFuel, qldFuelPrices, waFuelWatch]
}
