extension PlainModel {
  /// An instant in whole seconds since 1970, UTC.
  package typealias Second = Int

  /// The whole input of the model, as plain values: everything that was reported and decided, and
  /// the stations and regions that are asked about.
  package struct World {
    package var states: [String: PriceDays] = [:]
    package var feeds: [String: Feed] = [:]
    package var archives: [String: Archive] = [:]
    package var runs: [Run] = []
    package var rows: [ArchiveRow] = []
    /// Which records are one station: by address, by code or by a person's decision.
    package var stations: [Station] = []
    package var regions: [Region] = []
    /// When days and daily averages were made. They know nothing of later days.
    package var madeAt: Second = 0

    package init() {}
  }

  /// The time zone of a state's price days, and when they begin.
  package struct PriceDays {
    package var zone: String
    /// The second of the local day at which the price day begins.
    package var startsAt: Int

    package init(zone: String, startsAt: Int = 0) {
      self.zone = zone
      self.startsAt = startsAt
    }
  }

  /// The configuration of a live feed. Times are in seconds.
  package struct Feed {
    package var state: String
    /// How long after its stamp a price is believed at most. Some fuels have a limit of their own.
    package var priceLapse: Int
    package var priceLapseByFuel: [String: Int]
    /// How long after it was last seen a price is believed at most.
    package var sightLapse: Int
    /// Shares of the longest list before. A list below `refuseBelow` is refused; in a list below
    /// `partialBelow` gaps prove nothing.
    package var refuseBelow: Double
    package var partialBelow: Double
    /// Whether a far price is believed once it has held for a day.
    package var holdingConfirms: Bool
    /// By how much everything is published late.
    package var delay: Int

    package init(
      state: String, priceLapse: Int, priceLapseByFuel: [String: Int] = [:], sightLapse: Int,
      refuseBelow: Double, partialBelow: Double, holdingConfirms: Bool = true, delay: Int = 0
    ) {
      self.state = state
      self.priceLapse = priceLapse
      self.priceLapseByFuel = priceLapseByFuel
      self.sightLapse = sightLapse
      self.refuseBelow = refuseBelow
      self.partialBelow = partialBelow
      self.holdingConfirms = holdingConfirms
      self.delay = delay
    }
  }

  /// An archive of the prices that a feed's scheme published. Times are in seconds.
  package struct Archive {
    package var state: String
    /// The feed of the same scheme.
    package var feed: String
    package var priceLapse: Int
    package var priceLapseByFuel: [String: Int]

    package init(
      state: String, feed: String, priceLapse: Int, priceLapseByFuel: [String: Int] = [:]
    ) {
      self.state = state
      self.feed = feed
      self.priceLapse = priceLapse
      self.priceLapseByFuel = priceLapseByFuel
    }
  }

  /// One answer of a feed: a list, or an update.
  package struct Run {
    package struct Line {
      package var code: String
      package var fuel: String
      /// Tenths of a cent; 0: the station reports that it does not offer the fuel.
      package var tenths: Int
      /// `nil`: the feed does not stamp its prices.
      package var stamp: Second?

      package init(code: String, fuel: String, tenths: Int, stamp: Second?) {
        self.code = code
        self.fuel = fuel
        self.tenths = tenths
        self.stamp = stamp
      }
    }

    package var feed: String
    /// The instant whose state the answer shows.
    package var takenAt: Second
    package var isList: Bool
    package var lines: [Line]
    /// By station code, as the feed writes them.
    package var brands: [String: String]
    /// Whether a person withdrew the run.
    package var isWithdrawn: Bool

    package init(
      feed: String, takenAt: Second, isList: Bool, lines: [Line], brands: [String: String] = [:],
      isWithdrawn: Bool = false
    ) {
      self.feed = feed
      self.takenAt = takenAt
      self.isList = isList
      self.lines = lines
      self.brands = brands
      self.isWithdrawn = isWithdrawn
    }
  }

  /// One price in a file of an archive. Of several prices for one second in one file, only the last
  /// is included.
  package struct ArchiveRow {
    package var archive: String
    package var code: String
    package var fuel: String
    package var tenths: Int
    package var at: Second

    package init(archive: String, code: String, fuel: String, tenths: Int, at: Second) {
      self.archive = archive
      self.code = code
      self.fuel = fuel
      self.tenths = tenths
      self.at = at
    }
  }

  /// A station record: the source and the code that it uses for a station.
  package struct Record: Hashable {
    package var source: String
    package var code: String

    package init(_ source: String, _ code: String) {
      self.source = source
      self.code = code
    }
  }

  package struct Station {
    package var id: String
    package var state: String
    /// In degrees; `nil`: not known.
    package var position: (latitude: Double, longitude: Double)?
    package var isPublic: Bool
    package var records: [Record]

    package init(
      id: String, state: String, position: (latitude: Double, longitude: Double)?,
      isPublic: Bool = true, records: [Record]
    ) {
      self.id = id
      self.state = state
      self.position = position
      self.isPublic = isPublic
      self.records = records
    }
  }

  package struct Region {
    package var code: String
    /// `nil`: the region covers several states.
    package var state: String?
    package var stations: Set<String>

    package init(code: String, state: String?, stations: Set<String>) {
      self.code = code
      self.state = state
      self.stations = stations
    }
  }
}
