package import FuelModel

/// Finds the neighbours of a station: the stations of the same state within forty kilometres, and
/// at least the nearest five.
package struct Neighbourhood: Sendable {
  /// A station and its position.
  package struct Station: Sendable {
    package var id: Int32
    package var state: String
    package var position: Position

    package init(id: Int32, state: String, position: Position) {
      self.id = id
      self.state = state
      self.position = position
    }
  }

  /// A station as a neighbour that came, went or moved: where it lay before, or where it lies now.
  package struct Moved: Sendable {
    package var station: Station
    /// From when on its prices are known; in the distant future where none is.
    package var knownFrom: Instant

    package init(_ station: Station, knownFrom: Instant) {
      self.station = station
      self.knownFrom = knownFrom
    }
  }

  private let byState: [String: [Station]]
  private let stations: [Int32: Station]

  private static let radiusKilometres = 40.0
  private static let least = 5

  package init(_ stations: [Station]) {
    byState = Dictionary(grouping: stations, by: \.state)
    self.stations = Dictionary(stations.map { ($0.id, $0) }) { first, _ in first }
  }

  /// Returns a station's neighbours.
  ///
  /// - Returns: no neighbours for a station whose position is not known.
  package func neighbours(of id: Int32) -> [Int32] {
    guard let here = stations[id] else { return [] }
    let near = near(here).map(\.id)
    return near.count >= Self.least ? near : nearest(here)
  }

  /// Returns whether some neighbour of a station fulfils a condition. A city has a thousand
  /// stations, so this stops at the first one that does.
  package func hasNeighbour(of id: Int32, where isWanted: (Int32) -> Bool) -> Bool {
    guard let here = stations[id] else { return false }
    var count = 0
    for other in near(here) {
      if isWanted(other.id) { return true }
      count += 1
    }
    return count < Self.least && nearest(here).contains(where: isWanted)
  }

  /// Returns the state of a station whose position is known.
  package func state(of id: Int32) -> String? { stations[id]?.state }

  /// Returns the stations of a state whose positions are known.
  package func stations(in state: String) -> [Int32] { byState[state]?.map(\.id) ?? [] }

  private func near(_ here: Station) -> some Sequence<Station> {
    (byState[here.state] ?? []).lazy.filter { $0.id != here.id && Self.areNear(here, $0) }
  }

  private func nearest(_ here: Station) -> [Int32] {
    (byState[here.state] ?? []).filter { $0.id != here.id }
      .map { (id: $0.id, kilometres: here.position.kilometres(to: $0.position)) }
      .sorted { ($0.kilometres, $0.id) < ($1.kilometres, $1.id) }
      .prefix(Self.least).map(\.id)
  }

  /// Returns from when on prices of a station may have other neighbours to be compared with than
  /// before some stations came, went or moved; `nil`: never.
  package func changes(of id: Int32, where moved: [Moved]) -> Instant? {
    guard !moved.contains(where: { $0.station.id == id }) else { return .distantPast }
    guard let here = stations[id] else { return nil }
    let around = moved.filter { $0.station.state == here.state }
    guard !around.isEmpty else { return nil }
    // Where few stations are near, the nearest count, and one takes the place of another whether
    // its prices are known or not.
    var near = 0
    for other in byState[here.state] ?? [] where other.id != id {
      if Self.areNear(here, other) { near += 1 }
      if near == Self.least { break }
    }
    guard near == Self.least else { return .distantPast }
    return around.filter { Self.areNear(here, $0.station) }
      .map(\.knownFrom).min()
  }

  private static func areNear(_ one: Station, _ other: Station) -> Bool {
    // A degree of latitude has 111.2 kilometres. This spares the distance for most stations.
    abs(one.position.latitude - other.position.latitude) * 111 <= radiusKilometres
      && one.position.kilometres(to: other.position) <= radiusKilometres
  }
}
