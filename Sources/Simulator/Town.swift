import FuelModel

/// One market: a city or the country around it, and how its prices move.
struct Town: Sendable {
  enum Movement: Sendable {
    /// Long saw-tooth cycles: a rise of 20 to 45 c over several days, then a fall over the rest of
    /// the cycle.
    case longCycle(days: ClosedRange<Int>, cents: ClosedRange<Int>)
    /// One jump a week on a fixed weekday (0 is Monday), then a fall over six days.
    case weekly(jumpOn: Int, cents: ClosedRange<Int>)
    /// Follows the wholesale price, with long pauses.
    case sticky
  }

  var name: String
  var state: State
  var latitude: Double
  var longitude: Double
  var radiusDegrees: Double
  /// The town's share of the requested number of stations.
  var share: Double
  var movement: Movement
  var postcodes: ClosedRange<Int>
  /// Cents above the wholesale price, without the cycle.
  var margin: Double

  /// The markets of all states whose feeds can be simulated.
  static let all: [Town] = [
    Town(
      name: "Sydney", state: .nsw, latitude: -33.87, longitude: 151.0, radiusDegrees: 0.3,
      share: 0.22, movement: .longCycle(days: 28...45, cents: 25...42), postcodes: 2000...2200,
      margin: 2),
    Town(
      name: "Canberra", state: .act, latitude: -35.28, longitude: 149.13, radiusDegrees: 0.1,
      share: 0.05, movement: .sticky, postcodes: 2600...2617, margin: 14),
    Town(
      name: "country NSW", state: .nsw, latitude: -32.6, longitude: 149.2, radiusDegrees: 1.5,
      share: 0.09, movement: .sticky, postcodes: 2700...2879, margin: 10),
    Town(
      name: "Brisbane", state: .qld, latitude: -27.47, longitude: 153.02, radiusDegrees: 0.22,
      share: 0.17, movement: .longCycle(days: 35...50, cents: 28...45), postcodes: 4000...4180,
      margin: 3),
    Town(
      name: "country QLD", state: .qld, latitude: -23.4, longitude: 149.5, radiusDegrees: 2.5,
      share: 0.08, movement: .sticky, postcodes: 4700...4820, margin: 12),
    Town(
      name: "Adelaide", state: .sa, latitude: -34.92, longitude: 138.6, radiusDegrees: 0.2,
      share: 0.13, movement: .longCycle(days: 12...18, cents: 22...36), postcodes: 5000...5120,
      margin: 1),
    Town(
      name: "country SA", state: .sa, latitude: -33.2, longitude: 138.4, radiusDegrees: 1.5,
      share: 0.04, movement: .sticky, postcodes: 5250...5700, margin: 9),
    Town(
      name: "Perth", state: .wa, latitude: -31.95, longitude: 115.86, radiusDegrees: 0.25,
      share: 0.17, movement: .weekly(jumpOn: 1, cents: 14...24), postcodes: 6000...6170, margin: 4),
    Town(
      name: "country WA", state: .wa, latitude: -31.8, longitude: 118.5, radiusDegrees: 2,
      share: 0.05, movement: .sticky, postcodes: 6300...6530, margin: 15),
    // These towns were added later. They are last so that the stations of the towns above keep
    // their numbers. With them the shares add up to more than one.
    Town(
      name: "Melbourne", state: .vic, latitude: -37.81, longitude: 145.05, radiusDegrees: 0.3,
      share: 0.2, movement: .longCycle(days: 28...45, cents: 26...44), postcodes: 3000...3207,
      margin: 2),
    Town(
      name: "country VIC", state: .vic, latitude: -37.0, longitude: 144.6, radiusDegrees: 1.3,
      share: 0.06, movement: .sticky, postcodes: 3300...3690, margin: 9),
    Town(
      name: "Hobart", state: .tas, latitude: -42.85, longitude: 147.3, radiusDegrees: 0.12,
      share: 0.03, movement: .sticky, postcodes: 7000...7055, margin: 13),
    Town(
      name: "country TAS", state: .tas, latitude: -41.7, longitude: 146.8, radiusDegrees: 0.7,
      share: 0.03, movement: .sticky, postcodes: 7109...7330, margin: 15),
    Town(
      name: "Darwin", state: .nt, latitude: -12.45, longitude: 130.95, radiusDegrees: 0.12,
      share: 0.03, movement: .sticky, postcodes: 800...832, margin: 14),
    Town(
      name: "country NT", state: .nt, latitude: -19.0, longitude: 133.0, radiusDegrees: 3.5,
      share: 0.02, movement: .sticky, postcodes: 850...886, margin: 45),
  ]

  /// Returns the level of the town's unleaded price for every day of a span, in cents.
  func levels(_ days: ClosedRange<Int>, wholesale: [Double], seed: UInt64) -> [Double] {
    var random = Random(seed: seed, "town", name)
    switch movement {
    case .sticky:
      return wholesale.map { $0 + margin }
    case .weekly(let jumpOn, let cents):
      var height = Double(random.integer(cents))
      return days.enumerated().map { index, day in
        let sinceJump = (Day(sinceEpoch: day).weekday - jumpOn + 7) % 7
        if sinceJump == 0 { height = Double(random.integer(cents)) }
        return wholesale[index] + margin + height * Double(6 - sinceJump) / 6
      }
    case .longCycle(let lengths, let cents):
      var levels: [Double] = []
      var length = random.integer(lengths)
      var rise = 6
      var height = Double(random.integer(cents))
      // The span begins somewhere inside a cycle.
      var position = random.integer(0...length - 1)
      for index in 0..<days.count {
        if position == length {
          position = 0
          length = random.integer(lengths)
          rise = random.integer(4...8)
          height = Double(random.integer(cents))
        }
        let part =
          position < rise
          ? Double(position + 1) / Double(rise)
          : 1 - Double(position - rise + 1) / Double(length - rise)
        levels.append(wholesale[index] + margin + height * part)
        position += 1
      }
      return levels
    }
  }
}
