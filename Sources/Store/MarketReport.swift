package import FuelModel

/// Everything that a report tells, read in one moment. Prices are cents per litre.
package struct MarketReport: Sendable {
  package struct Region: Sendable {
    package var code: String
    package var name: String
    /// nation, state, capital or area.
    package var kind: String
    /// In which its days are counted.
    package var zone: Zone
    /// The middle of its circle; `nil`: it has none.
    package var centre: Position?
  }

  package struct Day: Sendable {
    package var day: FuelModel.Day
    /// `nil`: a gap.
    package var average: Double?
    package var lowest: Double?
    package var highest: Double?
    package var movingAverage: Double?

    /// A gap, unless there is an average.
    package init(
      day: FuelModel.Day, average: Double? = nil, lowest: Double? = nil, highest: Double? = nil,
      movingAverage: Double? = nil
    ) {
      self.day = day
      self.average = average
      self.lowest = lowest
      self.highest = highest
      self.movingAverage = movingAverage
    }
  }

  package struct Average: Sendable {
    package var average: Double
    package var lowest: Double?
    package var highest: Double?
    package var change24h: Double?
    package var change7d: Double?
    package var stations: Int
    package var stale: Int
    package var delayHours: Int
  }

  package struct Trend: Sendable {
    package var direction: String?
    /// 0 at the low of the month, 100 at its high.
    package var position: Int?
    package var cycleDay: Int?
    package var typicalCycleDays: Int?
  }

  package struct Cycle: Sendable {
    package var troughOn: FuelModel.Day
    package var trough: Double
    package var peakOn: FuelModel.Day?
    package var peak: Double?
    package var days: Int?
    package var amplitude: Double?
  }

  package struct Verdict: Sendable {
    package var verdict: String
    /// Whether enough is known to say that.
    package var isKnown: Bool
    package var reason: String
    package var expectedSaving: Double?
    /// What the market is doing, by the words of `fill_up.market_state`; `nil`: not known.
    package var state: String?
    /// The chance that it is 1 c/L cheaper within three days, from 0 to 1; `nil`: not known.
    package var cheaper: Double?
    /// A price worth stopping for, c/L; `nil`: none is named.
    package var aim: Double?
    /// The share of stations that have gone up since the last trough, from 0 to 1; `nil`: it is not rising.
    package var raised: Double?
  }

  /// What verdicts stated as likely, and how often it came, in one tenth of the probabilities.
  package struct Calibration: Sendable {
    package var stated: Double
    package var real: Double
    package var days: Int
  }

  /// How good the verdicts were, over all years that were scored.
  package struct Score: Sendable {
    package var windows: Int
    package var capture: Double?
    package var saving: Double?
    package var perfect: Double?
    /// The best of what people do without us.
    package var bestHabit: Double?
    package var from: FuelModel.Day
    package var until: FuelModel.Day
  }

  package struct StationPrice: Sendable {
    package var station: Int
    package var name: String
    package var brand: String?
    package var suburb: String?
    package var price: Double
    package var since: Instant
  }

  /// One station and fuel beside its region.
  package struct Standing: Sendable {
    package struct Key: Hashable, Sendable {
      package var station: Int
      package var fuel: String
      package init(_ station: Int, _ fuel: String) {
        self.station = station
        self.fuel = fuel
      }
    }

    package var region: String
    package var difference: Double
    package var rank: Int
    package var stations: Int
  }

  /// A verdict or a state of the market that was another one before.
  package struct Turn: Sendable {
    package var fuel: String
    package var at: Instant
    package var verdict: String
    package var state: String?
    package var reason: String
  }

  package struct Tomorrow: Sendable {
    package var today: Double
    package var tomorrow: Double
    package var dearer: Int
    package var cheaper: Int
    package var same: Int
    package var effectiveAt: Instant
  }

  /// One fuel in one region.
  package struct Key: Hashable, Sendable {
    package var region: String
    package var fuel: String
    package init(_ region: String, _ fuel: String) {
      self.region = region
      self.fuel = fuel
    }
  }

  package var regions: [Region] = []
  /// Codes and names of the fuels that have an average somewhere, in the order of their codes' numbers.
  package var fuels: [(code: String, name: String)] = []
  package var averages: [Key: Average] = [:]
  /// The last thirty days and today so far.
  package var days: [Key: [Day]] = [:]
  /// The last year, averages only, without those days that nothing is kept of.
  package var year: [Key: [Day]] = [:]
  /// Means of each month's daily averages, by its first day.
  package var months: [Key: [Day]] = [:]
  package var trends: [Key: Trend] = [:]
  /// The last five, newest first.
  package var cycles: [Key: [Cycle]] = [:]
  package var verdicts: [Key: Verdict] = [:]
  package var calibration: [Calibration] = []
  package var scores: [Key: Score] = [:]
  /// The five cheapest and the five dearest, cheapest first.
  package var stations: [Key: [StationPrice]] = [:]
  package var tomorrow: [Key: Tomorrow] = [:]
  /// The five that will be cheapest by prices that are published ahead; `price` and `since` are those.
  package var winners: [Key: [StationPrice]] = [:]
  /// Every price that anybody may buy at, by state, suburb and station.
  package var offers: [Offer] = []
  /// Where stations stand in the smallest region around them.
  package var standings: [Standing.Key: Standing] = [:]
  /// When verdicts or states of markets turned lately, by region, newest first.
  package var turns: [String: [Turn]] = [:]
  /// What the market was doing, by day.
  package var states: [Key: [FuelModel.Day: String]] = [:]
  /// Rows of `averages_now`, `fill_up` and `trend_summary` as JSON.
  package var json = ""
  package var feeds: [FeedHealth] = []
  package var pipeline: PipelineState
}
