import Foundation

/// A station record: a station as one feed or archive describes it.
package struct Station: Hashable, Sendable {
  /// The id that the feed gives the station, unique within the feed.
  package var code: String
  package var state: State
  package var name: String
  /// The brand as the feed writes it; `nil` where the feed states none.
  package var brand: String?
  package var address: String
  package var suburb: String?
  package var postcode: String?
  /// Degrees; `nil` where the feed gives no position, or one outside its country.
  package var position: Position?
  /// Whether everybody may buy there; false for stations of members or permit holders only.
  package var isPublic: Bool

  package init(
    code: String, state: State, name: String, brand: String? = nil, address: String,
    suburb: String? = nil, postcode: String? = nil, position: Position? = nil,
    isPublic: Bool = true
  ) {
    self.code = code
    self.state = state
    self.name = name
    self.brand = brand
    self.address = address
    self.suburb = suburb
    self.postcode = postcode
    self.position = position
    self.isPublic = isPublic
  }

  package var timeZone: Zone { state.timeZone(postcode: postcode) }
}

/// A point on the ground in degrees.
package struct Position: Hashable, Sendable {
  package var latitude: Double
  package var longitude: Double

  /// - Returns: `nil` where a coordinate is missing or outside the range of latitudes or
  ///   longitudes.
  package init?(latitude: Double?, longitude: Double?) {
    guard let latitude, let longitude, (-90.0...90.0).contains(latitude),
      (-180.0...180.0).contains(longitude)
    else {
      return nil
    }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Returns the distance along the ground, by the haversine formula on a sphere with a radius of
  /// 6,371 km.
  package func kilometres(to other: Position) -> Double {
    let radians = Double.pi / 180
    let a = sin((other.latitude - latitude) * radians / 2)
    let b = sin((other.longitude - longitude) * radians / 2)
    let square = a * a + cos(latitude * radians) * cos(other.latitude * radians) * b * b
    return 12_742 * asin(min(1, square.squareRoot()))
  }
}
