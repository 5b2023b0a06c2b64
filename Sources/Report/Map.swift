import Foundation
import FuelModel
import Views

/// A map that needs no tiles from any server: the coast, and a mark for each place. The ratio of
/// longitude to latitude is right at the middle of the map.
struct Map {
  enum Mark: String, CaseIterable {
    case cheap, usual, dear, place
  }

  struct Dot {
    var position: Position
    var mark: Mark
    var label: String
    /// A text beside the mark, or `nil` for none.
    var name: String?
    /// A link relative to the page that contains the map.
    var link: String
  }

  private let dots: [Dot]
  private let west: Double
  private let north: Double
  private let scale: Double
  private let squeeze: Double
  private let height: Double

  private static let width = 800.0

  /// - Parameter box: the area shown, whatever the marks are. `nil` shows the marks and a margin
  ///   around them.
  init?(_ dots: [Dot], box: (southWest: Position, northEast: Position)? = nil) {
    // A single mark does not show where its place is.
    guard dots.count > 1 else { return nil }
    self.dots = dots
    let latitudes = dots.map(\.position.latitude)
    let longitudes = dots.map(\.position.longitude)
    // With this margin a map covers about ten kilometres at least, even if all marks are close
    // together.
    let south = box?.southWest.latitude ?? latitudes.min()! - 0.05
    let north = box?.northEast.latitude ?? latitudes.max()! + 0.05
    let west = box?.southWest.longitude ?? longitudes.min()! - 0.05
    let east = box?.northEast.longitude ?? longitudes.max()! + 0.05
    let squeeze = cos((south + north) / 2 * .pi / 180)
    let (wide, high) = ((east - west) * squeeze, north - south)
    // The map is never higher than wide.
    let scale = min(Self.width / wide, Self.width / high)
    self.squeeze = squeeze
    self.scale = scale
    self.north = north
    self.west = west - max(0, Self.width / scale - wide) / squeeze / 2
    height = high * scale
  }

  private func x(_ position: Position) -> Double { (position.longitude - west) * squeeze * scale }
  private func y(_ position: Position) -> Double { (north - position.latitude) * scale }

  private func point(_ position: Position) -> String {
    "\(Words.coordinate(x(position))),\(Words.coordinate(y(position)))"
  }

  func svg(_ name: String) -> HTML {
    """
    <svg class="map" viewBox="0 0 800 \(Int(height.rounded()))" role="group" aria-label="\(name)">
    \(coast)\(dots.map(mark))</svg>

    """
  }

  private var coast: [HTML] {
    Coastline.lines.compactMap { line -> HTML? in
      let near = line.points.contains { position in
        (-800.0...1_600.0).contains(x(position)) && (-800.0...height + 800).contains(y(position))
      }
      guard near else { return nil }
      let points = line.points.map(point).joined(separator: " ")
      return line.isBorder
        ? "<polyline class=\"border\" points=\"\(points)\"/>\n"
        : "<polygon class=\"land\" points=\"\(points)\"/>\n"
    }
  }

  /// Marks differ in shape as well as in colour.
  private func mark(_ dot: Dot) -> HTML {
    let (x, y) = (Words.coordinate(x(dot.position)), Words.coordinate(y(dot.position)))
    let shape: HTML =
      switch dot.mark {
      case .cheap: "<circle class=\"cheap\" cx=\"\(x)\" cy=\"\(y)\" r=\"6\"/>"
      case .usual: "<circle class=\"usual\" cx=\"\(x)\" cy=\"\(y)\" r=\"4\"/>"
      case .dear:
        "<path class=\"dear\" d=\"M\(x) \(y)m-4 -4l8 8m0 -8l-8 8\"/>"
      case .place: "<circle class=\"place\" cx=\"\(x)\" cy=\"\(y)\" r=\"5\"/>"
      }
    // A name stands to the left of its mark, except where it would begin outside of the map.
    let side: HTML =
      self.x(dot.position) < Self.width / 4 ? " class=\"east\" dx=\"9\"" : " dx=\"-9\""
    let name: HTML =
      dot.name.map { "<text x=\"\(x)\" y=\"\(y)\"\(side) dy=\"4\">\($0)</text>" as HTML } ?? ""
    return "<a href=\"\(dot.link)\"><title>\(dot.label)</title>\(shape)\(name)</a>\n"
  }
}
