import FuelModel
import Testing

@testable import Timeline

/// The usual difference of a station to its region.
struct StationHabitTests {
  /// F-G20: of an even number of days, the median lies between two hundredths of a cent, and half of
  /// one is rounded away from zero.
  @Test(arguments: [
    ([0], 0), ([-3], -3), ([3, 4], 4), ([-3, -4], -4), ([-1, 2], 1), ([-2, 1], -1), ([1, 5, 8], 5),
    ([2, 4], 3),
  ])
  func theMedianIsRoundedAwayFromZero(differences: [Int], usual: Int) throws {
    let first = Day(sinceEpoch: 20_000)
    let days = differences.enumerated().map { position, difference in
      // A hundredth of a cent is a tenth of a tenth.
      (
        day: first + position,
        mean: Int32((Double(difference) * 65_536 / 10).rounded() + 1_700 * 65_536)
      )
    }
    let averages = Dictionary(
      uniqueKeysWithValues: differences.indices.map { (first + $0, 17_000) })
    let habit = try #require(
      StationHabit(
        of: 1, fuelID: 1, region: "QLD", days: days, averages: averages, leastDays: 1))
    #expect(habit.difference == usual)
  }
}
