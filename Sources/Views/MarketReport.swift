package import FuelModel

/// Everything that a report shows, as of one moment. Prices are cents per litre.
package struct MarketReport: Sendable {
  /// A region of the report.
  package struct Region: Sendable {
    package var code: String
    package var name: String
    /// nation, state, capital, area or rest (of a state).
    package var kind: String
    /// The code of the state that it lies in; `nil` for a nation and for an area in several states.
    package var state: String?
    /// The time zone in which its price days are counted.
    package var zone: Zone
    /// The centre of its circle; `nil` where it has no circle.
    package var centre: Position?
  }

  /// The averages of one day, or those of a month under its first day.
  package struct Day: Sendable {
    package var day: FuelModel.Day
    /// `nil` marks a gap.
    package var average: Double?
    package var lowest: Double?
    package var highest: Double?
    package var movingAverage: Double?

    /// Makes a day, which is a gap unless an average is given.
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

  /// The trend of the last month.
  package struct Trend: Sendable {
    package var direction: String?
    /// 0 at the low of the month, 100 at its high.
    package var position: Int?
    package var cycleDay: Int?
    package var typicalCycleDays: Int?
  }

  /// The verdict that is given now.
  package struct Verdict: Sendable {
    package var verdict: String
    /// The kind of evidence, as a value of `fill_up.basis`.
    package var basis: String
    package var reason: String
    /// What the market is doing, as a value of `fill_up.market_state`; `nil` where that is unknown.
    package var state: String?
    /// A price worth stopping for, in c/L; `nil` where none is named.
    package var aim: Double?
    /// What following it should save, in c/L; `nil` where no saving is stated.
    package var saving: Double?
    /// How likely it is to be right, from 0 to 1; `nil` where that is not known.
    package var confidence: Double?
    /// The low to wait for, and the days on which it may come; `nil` where there is none.
    package var low: (price: Double, days: ClosedRange<FuelModel.Day>)?
    /// The averages of now and of the next published prices, where these decide.
    package var published: (now: Double, next: Double)?
    package var validUntil: Instant
    /// The whole row of `fill_up` as a JSON object.
    package var json: String
    /// The share of stations whose price has gone up since the last trough, from 0 to 1; `nil`
    /// where the market is not rising.
    package var raised: Double?
  }

  /// How good the verdicts were, over all scored years together: sixty windows at least, since the
  /// result of a few weeks is chance.
  package struct Score: Sendable {
    package var windows: Int
    package var capture: Double?
    package var saving: Double?
    package var perfect: Double?
    /// The best capture among the simple habits that need no verdict.
    package var bestHabit: Double?
    package var from: FuelModel.Day
  }

  /// How one station's price of a fuel compares with those of a region.
  package struct Comparison: Sendable {
    package var region: String
    package var difference: Double
    package var rank: Int
    package var stations: Int
  }

  /// The address and the telephone number of a station, as its feed writes them, and the advice for
  /// each of its fuels.
  package struct StationDescription: Sendable {
    package var address: String?
    package var phone: String?
    package var advice: [String: (verdict: String, basis: String, reason: String)] = [:]
  }

  /// A change of a verdict or of the state of a market.
  package struct VerdictChange: Sendable {
    package var fuel: String
    package var at: Instant
    package var verdict: String
    package var basis: String
    package var reason: String
  }

  /// Tomorrow's published prices beside today's, over the stations for which both are known, where
  /// those are enough for the verdict to rest on them.
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
  /// Codes and names of the fuels that have an average somewhere, or had one in the last days, in the
  /// order of fuels.
  package var fuels: [(code: String, name: String)] = []
  /// The names of all fuels by their codes.
  package var fuelNames: [String: String] = [:]
  /// The averages of now, where there is one.
  package var averages: [Key: AverageNow] = [:]
  /// The last thirty days, and today so far.
  package var days: [Key: [Day]] = [:]
  /// The newest of these days; `nil` where there are none.
  var today: FuelModel.Day? { days.values.compactMap(\.last?.day).max() }
  /// The last year and today so far, averages only. Days for which nothing is stored are left out.
  package var year: [Key: [Day]] = [:]
  /// The mean of each month's daily averages, under the first day of the month.
  package var months: [Key: [Day]] = [:]
  package var trends: [Key: Trend] = [:]
  package var verdicts: [Key: Verdict] = [:]
  package var scores: [Key: Score] = [:]
  /// The prices that count, as indices of `offers`, cheapest first.
  package var ranking: [Key: [Int]] = [:]
  package var tomorrow: [Key: Tomorrow] = [:]
  /// Every price at stations where anybody may buy, ordered by state, suburb and station.
  package var offers: [Offer] = []
  /// What is known of stations besides their prices, by station.
  package var descriptions: [Int: StationDescription] = [:]
  /// The daily averages of the last days at each station, of its first fuel.
  package var stationDays: [Int: [FuelModel.Day: Double]] = [:]
  /// The changes of prices in the last day, oldest first, each as a JSON array: station, fuel, the
  /// price before and after, and when it changed.
  package var priceChanges: [String] = []
  /// Who publishes the prices of each state, and when they were read last.
  package var origins: [String: (attribution: String, readAt: Instant?)] = [:]
  /// How stations compare with the smallest region around them, by station and the code of a fuel.
  package var comparisons: [Int: [String: Comparison]] = [:]
  /// Recent changes of verdicts or states of markets, by region, newest first.
  package var verdictChanges: [String: [VerdictChange]] = [:]
  /// The state of each market on the last 92 days, by day. Days without a verdict are left out.
  package var states: [Key: [FuelModel.Day: String]] = [:]
  /// Whether the prices are simulated.
  package var isSimulated = false
  /// Rows of `averages_now`, `fill_up` and `trend_summary` as JSON.
  package var json = ""
  package var feeds: [FeedHealth] = []
  package var pipeline: PipelineState
}
