package import FuelModel
package import Store
package import Trends

/// The markets of the stored history: every region and fuel by its daily averages as they were known the
/// morning after each day.
package func storedMarkets(_ store: Store, now: Instant) throws -> [Backtest.Market] {
  let late = try store.averagesAsKnown(now: now)
  let facts = try store.regionFacts(now: now)
  return try store.regionSeries(days: nil, until: now).compactMap { found in
    var averages = found.averages
    for (position, average) in averages.enumerated() {
      guard let known = late["\(found.region) \(found.fuelID) \(average.day)"] else { continue }
      averages[position].average = known.average
      averages[position].stations = known.stations
    }
    guard let fact = facts[found.region], let fuel = fact.fuels[found.fuelID]?.code,
      // Today is not over: it cannot be scored by.
      let last = averages.last(where: { $0.day < fact.today })?.day,
      let series = DailySeries(averages, upTo: last)
    else { return nil }
    return Backtest.Market(
      region: found.region, fuel: fuel, series: series, isLate: fact.isLate,
      isTomorrowKnown: fact.isTomorrowKnown)
  }
}

extension Backtest.Row {
  /// What is published of a score, by name, with its decimals.
  package static let columns: [(name: String, digits: Int, value: @Sendable (Score) -> Double?)] = [
    ("windows", 0, { Double($0.headline.count) }),
    ("perfect_cpl", 2, { $0.headline.meanPossible }),
    ("saving_cpl", 2, { $0.headline.meanSaving }),
    ("capture", 3, { $0.headline.capture }),
    ("capture_3d", 3, { $0.windows[3]?.capture }),
    ("capture_7d", 3, { $0.windows[7]?.capture }),
    ("tank_7_5", 3, { $0.tanks["7:5"]?.capture }),
    ("tank_10_5", 3, { $0.tanks["10:5"]?.capture }),
    ("tank_14_7", 3, { $0.tanks["14:7"]?.capture }),
    ("wait_share", 3, { $0.waits.value }),
    ("fill_up_share", 3, { $0.fillUps.value }),
    ("no_difference_share", 3, { $0.noDifferences.value }),
    ("wait_right", 3, { $0.waitsRight.value }),
    ("fill_up_right", 3, { $0.fillUpsRight.value }),
    ("no_difference_right", 3, { $0.noDifferencesRight.value }),
    ("flips_30d", 2, { $0.flipsPerMonth }),
  ]

  /// As it is stored.
  package var record: ScoreRecord {
    ScoreRecord(
      method: method, region: region, fuel: fuel, year: year, score: score, from: from, until: until
    )
  }
}
