import Foundation
import FuelModel
import Glibc

/// Colours for a terminal. There are none elsewhere, or if the user turned them off by NO_COLOR or
/// TERM.
struct Style {
  /// The number of columns in a line.
  let width: Int
  private let isColoured: Bool

  init(_ environment: [String: String]) {
    let isTerminal = isatty(STDOUT_FILENO) == 1
    isColoured = isTerminal && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    var size = winsize()
    let isKnown = isTerminal && ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
    let columns = environment["COLUMNS"].flatMap(Int.init) ?? (isKnown ? Int(size.ws_col) : 0)
    width = columns > 0 ? min(max(40, columns), 400) : 101
  }

  /// Wraps words to the width of a line. All lines but the first are indented by the length of
  /// `first`.
  func wrapped(_ text: String, after first: String) -> String {
    let indent = String(repeating: " ", count: first.columns)
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, first.columns + line.columns + 1 + String(word).columns > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return (lines + [line]).joined(separator: "\n" + indent)
  }

  /// A line and, behind it, those of the notes that still fit into the width.
  func line(_ text: String, notes: [String]) -> String {
    var line = text
    var used = text.columns
    for note in notes where used + 2 + note.columns <= width {
      line += "  " + dim(note)
      used += 2 + note.columns
    }
    return line
  }

  func bold(_ text: String) -> String { paint(text, "1") }
  func dim(_ text: String) -> String { paint(text, "2") }
  func good(_ text: String) -> String { paint(text, "32") }
  func bad(_ text: String) -> String { paint(text, "31") }

  private func paint(_ text: String, _ code: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

/// Daily averages as bars, oldest on the left. A missing day is a space. The bars span at least two
/// cents, so that a flat market looks flat.
func spark(_ days: [Double?]) -> String {
  let known = days.compactMap { $0 }
  guard let low = known.min(), let high = known.max() else { return "" }
  let bars = Array("▁▂▃▄▅▆▇█")
  let span = max(high - low, 2)
  return String(days.map { $0.map { bars[min(7, Int(($0 - low) / span * 7.99))] } ?? " " })
}

/// The change of a price, in eight characters. An upward arrow means dearer.
func priceChange(_ value: Double?, _ style: Style) -> String {
  guard let value else { return padded("", 8) }
  let tenths = Cents.tenths(value)
  if tenths > 0 { return style.bad(padded(" ▲\(Cents.text(value))", 8)) }
  if tenths < 0 { return style.good(padded(" ▼\(Cents.text(-value))", 8)) }
  return padded(" =", 8)
}

/// Text filled with spaces to a width in columns.
package func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.columns))
}

func leftPadded(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.columns)) + text
}

extension String {
  var trimmedEnd: String {
    String(reversed().drop(while: { $0 == " " }).reversed())
  }
}

/// How long ago an instant was, in a suitable unit.
func age(_ instant: Instant?, _ now: Instant) -> String {
  guard let instant else { return "never" }
  let seconds = now.seconds - instant.seconds
  return switch seconds {
  case ..<0: "ahead"
  case ..<120: "\(seconds) s ago"
  case ..<7_200: "\(seconds / 60) min ago"
  case ..<172_800: "\(seconds / 3_600) h ago"
  default: "\(seconds / 86_400) days ago"
  }
}
