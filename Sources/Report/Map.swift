import Foundation
import FuelModel
import Views

/// A map that needs no tiles from any server: the coast, prices as labels, names of places and a
/// scale. It is drawn for the width of a phone. A label that would cover another one is left out, so
/// what comes first is what is shown; a price without a label is a dot.
struct Map {
  /// What a price is compared with its region; labels differ in shape as well as in colour.
  enum Mark: String {
    case cheap, usual, dear
  }

  /// A price on the map.
  struct Label {
    var position: Position
    var mark: Mark
    var text: String
    /// What the label is of, for who hears the page or points at it.
    var title: String
    /// A link relative to the page that contains the map.
    var link: String
  }

  /// The name of a place, and where it is.
  typealias Name = (position: Position, text: String)

  private typealias Point = (x: Double, y: Double)

  /// The left, right, top and bottom side of what is drawn in an area already.
  private typealias Box = (left: Double, right: Double, top: Double, bottom: Double)

  private let labels: [Label]
  private let names: [Name]
  /// How many labels come before the names of places.
  private let first: Int
  private let west: Double
  private let north: Double
  private let scale: Double
  private let squeeze: Double
  private let height: Double

  private static let width = 300.0
  /// The least height of a target for fingers.
  private static let target = 24.0

  /// - Parameters:
  ///   - labels: the most important first.
  ///   - names: the largest place first.
  ///   - first: how many labels come before the names of places.
  init?(_ labels: [Label], names: [Name], first: Int = 12) {
    // A single mark does not show where its place is.
    guard labels.count > 1 else { return nil }
    self.labels = labels
    self.names = names
    self.first = first
    let latitudes = labels.map(\.position.latitude)
    let longitudes = labels.map(\.position.longitude)
    // With this margin a map covers about five kilometres at least, and no label is cut.
    let margin = max(0.02, (longitudes.max()! - longitudes.min()!) * 0.09)
    let (south, north) = (latitudes.min()! - margin, latitudes.max()! + margin)
    let (west, east) = (longitudes.min()! - margin, longitudes.max()! + margin)
    let squeeze = cos((south + north) / 2 * .pi / 180)
    let (wide, high) = ((east - west) * squeeze, north - south)
    // The map is never higher than wide.
    let scale = min(Self.width / wide, Self.width / high)
    self.squeeze = squeeze
    self.scale = scale
    height = max(high * scale, Self.width / 2)
    self.north = north + (height / scale - high) / 2
    self.west = west - (Self.width / scale - wide) / squeeze / 2
  }

  private func point(_ position: Position) -> Point {
    ((position.longitude - west) * squeeze * scale, (north - position.latitude) * scale)
  }

  func svg(_ name: String) -> HTML {
    // The bar of the scale comes first.
    var taken: [Box] = [(0, Self.width / 3 + 16, height - 30, height)]
    var dots: [Point] = []
    func mark(_ labels: ArraySlice<Label>) -> [HTML] {
      labels.compactMap { label in
        let point = point(label.position)
        guard let box = free(point, Double(label.text.count) * 6.6 + 10, Self.target, &taken)
        else {
          dots.append(point)
          return nil
        }
        return drawing(label, box)
      }
    }
    let marksFirst = mark(labels.prefix(first))
    let places = names.compactMap { self.name(of: $0, &taken) }
    let marks = marksFirst + mark(labels.dropFirst(first))
    let path = dots.map { "M\(Words.coordinate($0.x)) \(Words.coordinate($0.y))h0" }.joined()
    return """
      <svg class="map" viewBox="0 0 \(Int(Self.width)) \(Int(height.rounded()))" role="group" aria-label="\(name)">
      <path class="land" d="\(outline(Coastline.land))"/>
      <path class="lake" d="\(outline(Coastline.lakes))"/>
      <path class="border" d="\(outline(Coastline.borders.map { $0 + $0.reversed() }))"/>
      <path class="dots" d="\(path)"/>
      \(places)\(marks)\(bar)</svg>

      """
  }

  /// Takes a box around a point, unless it would cover another one or leave the map.
  private func free(
    _ point: Point, _ width: Double, _ height: Double, _ taken: inout [Box]
  ) -> Box? {
    let box = (point.x - width / 2, point.x + width / 2, point.y - height / 2, point.y + height / 2)
    guard box.0 >= 0, box.1 <= Self.width, box.2 >= 0, box.3 <= self.height,
      taken.allSatisfy({
        box.0 >= $0.right || box.1 <= $0.left || box.2 >= $0.bottom || box.3 <= $0.top
      })
    else { return nil }
    taken.append(box)
    return box
  }

  private func drawing(_ label: Label, _ box: Box) -> HTML {
    let middle = Words.coordinate((box.left + box.right) / 2)
    return """
      <a href="\(label.link)" class="\(label.mark.rawValue)"><title>\(label.title)</title>\
      <rect x="\(Words.coordinate(box.left))" y="\(Words.coordinate(box.top))" width="\(Words.coordinate(box.right - box.left))" height="24" rx="\(label.mark == .dear ? 2 : 12)"/>\
      <text x="\(middle)" y="\(Words.coordinate(box.top + 16))">\(label.text)</text></a>

      """
  }

  /// The name of a place below, above, at or beside its middle, wherever there is room on the map.
  private func name(of name: Name, _ taken: inout [Box]) -> HTML? {
    let point = point(name.position)
    let width = Double(name.text.count) * 6 + 2
    let side = width / 2 + 24
    let middles = [
      (0, 19.0), (0, -19), (0, 0), (side, 0), (-side, 0), (side, -13), (-side, -13), (side, 13),
      (-side, 13), (side, 24), (-side, 24), (0, -33), (0, 33),
    ]
    for (right, down) in middles {
      // A name at the edge moves inwards.
      let x = min(max(point.x + right, width / 2), Self.width - width / 2)
      let y = point.y + down
      if let box = free((x, y), width, 13, &taken) {
        return
          "<text class=\"name\" x=\"\(Words.coordinate(x))\" y=\"\(Words.coordinate(box.bottom - 3))\">\(name.text)</text>\n"
      }
    }
    return nil
  }

  /// A bar of a round number of kilometres, at most a third of the map wide.
  private var bar: HTML {
    let unit = scale / 111.2
    let length =
      [1_000.0, 500, 200, 100, 50, 20, 10, 5, 2].first { $0 * unit <= Self.width / 3 } ?? 1
    let end = Words.coordinate(8 + length * unit)
    let base = Words.coordinate(height - 8)
    return """
      <path class="bar" d="M8 \(base)v-4v4H\(end)v-4"/><text class="name" x="\(Words.coordinate(8 + length * unit / 2))" y="\(Words.coordinate(height - 14))">\(Int(length)) km</text>

      """
  }

  // MARK: Outlines

  /// The part of some outlines that lies on the map, as a path.
  private func outline(_ rings: [[Position]]) -> String {
    rings.map { ring in
      var path = ""
      var last: Point = (.infinity, .infinity)
      // Points closer together than a pixel are one.
      for point in clipped(ring.map(point))
      where abs(point.x - last.x) > 0.8 || abs(point.y - last.y) > 0.8 {
        path +=
          "\(path.isEmpty ? "M" : " ")\(Words.coordinate(point.x)) \(Words.coordinate(point.y))"
        last = point
      }
      return path.isEmpty ? "" : path + "z"
    }.joined()
  }

  /// A ring without what lies outside of the map and a margin, cut at one side after another.
  private func clipped(_ ring: [Point]) -> [Point] {
    let margin = 9.0
    let sides: [(Point) -> Double] = [
      { $0.x + margin }, { Self.width + margin - $0.x }, { $0.y + margin },
      { height + margin - $0.y },
    ]
    return sides.reduce(ring) { ring, depth in
      var kept: [Point] = []
      guard var last = ring.last else { return kept }
      for point in ring {
        let (before, here) = (depth(last), depth(point))
        if (before >= 0) != (here >= 0) {
          let share = before / (before - here)
          kept.append((last.x + share * (point.x - last.x), last.y + share * (point.y - last.y)))
        }
        if here >= 0 { kept.append(point) }
        last = point
      }
      return kept
    }
  }
}
