import FuelModel
import Testing

/// F-O15: names are shown as people write them, and cut so that nothing else is read in them.
struct WordsTests {
  @Test(arguments: [
    ("MOUNT HAWTHORN", "Mount Hawthorn"), ("O'CONNOR", "O'Connor"), ("O’CONNOR", "O’Connor"),
    ("ST MARY'S", "St Mary's"), ("WEST END-ON-SEA", "West End-on-Sea"),
    ("THE ENTRANCE", "The Entrance"), ("BAY OF FIRES", "Bay of Fires"),
    ("ÉDEN (NORTH)", "Éden (North)"), ("1ST AVENUE", "1st Avenue"),
    // Only a list of names could tell this one from MACKAY.
    ("MCMAHONS POINT", "Mcmahons Point"),
    ("McMahons Point", "McMahons Point"), ("O'Connor", "O'Connor"), ("3000", "3000"), ("", ""),
  ])
  func capitalsAreNotShouted(stored: String, shown: String) {
    #expect(stored.asPlaceName == shown)
  }

  @Test(arguments: [
    ("Kiama", 5, "Kiama"), ("Kiama Downs", 8, "Kiama D…"), ("Kiama, Downs", 7, "Kiama…"),
    ("BP 1234 Hume Highway", 8, "BP 1234…"), ("BP 1234 Hume Highway", 6, "BP…"),
    ("at 189.9 now", 7, "at…"), ("東京駅前", 8, "東京駅前"), ("東京駅前", 6, "東京…"),
  ])
  func aNumberIsKeptWhole(text: String, width: Int, shown: String) {
    let cut = text.shortened(to: width)
    #expect(cut == shown)
    #expect(cut.columns <= width)
  }

  /// Stations at the shore stand on land, also where the coast is drawn for a whole state.
  @Test(arguments: [
    ("Cottesloe", -31.996, 115.757, true), ("Fremantle", -32.053, 115.748, true),
    ("Bondi", -33.890, 151.272, true), ("Hobart", -42.882, 147.326, true),
    ("Lord Howe Island", -31.53, 159.07, true), ("Alice Springs", -23.7, 133.88, true),
    ("off Perth", -32.0, 115.6, false), ("Port Phillip", -38.1, 144.85, false),
    ("Tasman Sea", -35.0, 155.0, false),
  ])
  func theCoastIsWhereItIs(place: String, latitude: Double, longitude: Double, isLand: Bool) throws
  {
    let position = try #require(Position(latitude: latitude, longitude: longitude))
    #expect(Coastline.hasLand(at: position) == isLand, "\(place)")
  }

  /// F-O14: fuels have one order.
  @Test func fuelsHaveOneOrder() {
    let codes = ["x:2", "LPG", "DL", "E10", "x:1", "PDL", "U91", "P98", "P95"]
    let sorted = codes.sorted { Fuel.precedes($0, $1) }
    #expect(sorted == ["U91", "E10", "P95", "P98", "DL", "PDL", "LPG", "x:1", "x:2"])
    let known = Fuel.allCases.map(\.rawValue)
    let again = known.reversed().sorted { Fuel.precedes($0, $1) }
    #expect(again == known)
  }
}
