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
  /// What only views show of the station, by its name, such as `["phone": "03 9000 0000"]`.
  package var details: [String: String]

  /// - Parameter details: by name; a detail that is `nil` is left out.
  package init(
    code: String, state: State, name: String, brand: String? = nil, address: String,
    suburb: String? = nil, postcode: String? = nil, position: Position? = nil,
    isPublic: Bool = true, details: [String: String?] = [:]
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
    self.details = details.compactMapValues { $0 }
  }

  package var timeZone: Zone { state.timeZone(postcode: postcode) }
}

// The frame of a station record stands beside its fields, because a field that the frame leaves out
// is lost without an error.
extension Station {
  func write(to frame: inout FrameWriter) {
    frame.write(code: code)
    frame.write(state.code)
    frame.write(name.plain)
    frame.write(optional: brand?.plain)
    frame.write(address.plain)
    frame.write(optional: suburb?.plain)
    frame.write(optional: postcode?.plain)
    frame.write(position != nil)
    if let position {
      frame.write(position.latitude)
      frame.write(position.longitude)
    }
    frame.write(isPublic)
    frame.write(each: details.sorted { $0.key < $1.key }) { frame, detail in
      frame.write(detail.key)
      frame.write(detail.value.plain)
    }
  }

  init(from frame: inout FrameReader) throws {
    let code = try frame.code()
    guard let state = Australia.state(try frame.plain()) else {
      throw FrameReader.Broken("an unknown state")
    }
    self.init(
      code: code, state: state, name: try frame.plain(), brand: try frame.optionalPlain(),
      address: try frame.plain(), suburb: try frame.optionalPlain(),
      postcode: try frame.optionalPlain())
    if try frame.boolean() {
      let (latitude, longitude) = (try frame.double(), try frame.double())
      guard let position = Position(latitude: latitude, longitude: longitude) else {
        throw FrameReader.Broken("an invalid position")
      }
      self.position = position
    }
    isPublic = try frame.boolean()
    let named = try frame.each { (try $0.plain(), try $0.plain()) }
    details = Dictionary(named) { first, _ in first }
    guard details.count == named.count, named.count <= InputLimit.details.value else {
      throw FrameReader.Broken("invalid details of a station")
    }
  }
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

  /// The point of a sphere with a radius of 1 that lies in this direction from the centre of the
  /// earth.
  package var direction: SIMD3<Double> {
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    return [cos(north) * cos(east), cos(north) * sin(east), sin(north)]
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
