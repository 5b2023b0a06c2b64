extension PlainModel {
  /// An instant: whole seconds since 1970 in UTC.
  package typealias Second = Int

  /// Everything that was reported and decided, as plain values, and what is asked about: the whole input of the model.
  package struct World {
    package var states: [String: PriceDays] = [:]
    package var feeds: [String: Feed] = [:]
    package var archives: [String: Archive] = [:]
    package var runs: [Run] = []
    package var rows: [ArchiveRow] = []
    /// Who is one station with whom: by address, by code or by a person's decision.
    package var stations: [Station] = []
    package var regions: [Region] = []
    /// When days and daily averages were made. Nothing of later days is known to them.
    package var madeAt: Second = 0

    package init() {}
  }

  /// Where the price days of a state lie.
  package struct PriceDays {
    package var zone: String
    /// Seconds of the local day at which the price day begins.
    package var startsAt: Int

    package init(zone: String, startsAt: Int = 0) {
      self.zone = zone
      self.startsAt = startsAt
    }
  }

  /// A live feed, as it is configured. Times are seconds.
  package struct Feed {
    package var state: String
    /// A price is believed for no longer than this after its stamp, some fuels' for longer or shorter.
    package var priceLapse: Int
    package var priceLapseByFuel: [String: Int]
    /// Nor for longer than this after it was last seen.
    package var sightLapse: Int
    /// The shares of the longest list of before below which a list is refused, or proves nothing by its gaps.
    package var refuseBelow: Double
    package var partialBelow: Double
    /// Whether a far price is believed once it has held for a day.
    package var holdingConfirms: Bool
    /// How late everything is published.
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

  /// An archive of the prices that a feed's scheme published. Times are seconds.
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

  /// One answer of a feed: a whole list, or news.
  package struct Run {
    package struct Line {
      package var code: String
      package var fuel: String
      /// Tenths of a cent; 0: the station says that it does not offer the fuel.
      package var tenths: Int
      /// `nil`: the feed stamps nothing.
      package var stamp: Second?

      package init(code: String, fuel: String, tenths: Int, stamp: Second?) {
        self.code = code
        self.fuel = fuel
        self.tenths = tenths
        self.stamp = stamp
      }
    }

    package var feed: String
    /// The instant whose state it shows.
    package var takenAt: Second
    package var isList: Bool
    package var lines: [Line]
    /// By station code, as the feed writes them.
    package var brands: [String: String]
    /// A person took it back.
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

  /// One price of a file of an archive. Of several prices of one second in one file only the last is here.
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

  /// What one feed or archive calls a station.
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
    /// Degrees; `nil`: not known.
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
    /// `nil`: over several states.
    package var state: String?
    package var stations: Set<String>

    package init(code: String, state: String?, stations: Set<String>) {
      self.code = code
      self.state = state
      self.stations = stations
    }
  }
}
