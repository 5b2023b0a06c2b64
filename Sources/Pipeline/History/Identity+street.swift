/// How addresses and names are compared.
extension Identity {
  /// An address split into street and house numbers. `6 269-275 PRINCES HWY CORRIMAL` has the
  /// numbers 269 to 275 and the name `PRINCES HWY CORRIMAL`; 6 is the number of a shop and is
  /// dropped.
  struct Street {
    var name: String
    var numbers: ClosedRange<Int>?

    init(_ address: String) {
      let words = address.split(separator: " ")
      func ends(_ word: Substring) -> [Int] {
        let ends = word.split(separator: "-").map { Int($0) }
        return ends.contains(nil) || ends.count > 2 ? [] : ends.compactMap { $0 }
      }
      let count = words.prefix { !ends($0).isEmpty }.count
      name = words.dropFirst(count).joined(separator: " ")
      let house = count > 0 ? ends(words[count - 1]) : []
      if let low = house.min(), let high = house.max() { numbers = low...high }
    }
  }

  /// Returns the share of common words, or 0 where the two texts name different directions, such as
  /// north and south.
  static func similarity(_ left: String, _ right: String) -> Double {
    let first = Set(left.split(separator: " ").map(String.init))
    let second = Set(right.split(separator: " ").map(String.init))
    let ways: Set<String> = [
      "N", "S", "E", "W", "NORTHBOUND", "SOUTHBOUND", "EASTBOUND", "WESTBOUND", "INBOUND",
      "OUTBOUND",
    ]
    let firstWays = first.intersection(ways)
    let secondWays = second.intersection(ways)
    if !firstWays.isEmpty, !secondWays.isEmpty, firstWays.isDisjoint(with: secondWays) { return 0 }
    let union = first.union(second).count
    return union == 0 ? 0 : Double(first.intersection(second).count) / Double(union)
  }
}
