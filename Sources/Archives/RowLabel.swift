/// The words by which programs and people mark rows that are sums, averages or notes. None of them
/// is the name of a station.
enum RowLabel {
  private static let names: Set<String> = [
    "total", "totals", "grand total", "sub total", "subtotal", "subtotals", "overall",
    "average", "averages", "grand average", "avg", "mean", "median", "sum", "count",
    "minimum", "maximum", "min", "max", "note", "notes", "all", "blank", "all stations",
    "end of report", "summary",
  ]
  /// What programs write into a cell that has no text. 0 is what a formula finds in an empty cell.
  private static let placeholders: Set<String> = ["null", "nan", "none", "na", "n/a", "nil", "0"]
  private static let sums: Set<String> = [
    "total", "totals", "subtotal", "subtotals", "average", "averages", "avg", "mean", "median",
    "sum", "count", "minimum", "maximum", "min", "max",
  ]
  /// The last words of names such as "Sydney average".
  private static let endings: Set<String> = [
    "total", "totals", "subtotal", "average", "averages", "avg", "mean", "median",
  ]
  private static let notes: Set<String> = [
    "note", "notes", "source", "page", "printed", "generated", "extracted", "disclaimer",
    "copyright",
  ]

  /// Whether a text stands for none, such as `NULL`, `#N/A` and `-`.
  static func isPlaceholder(_ text: some StringProtocol) -> Bool {
    text.hasPrefix("#") || placeholders.contains(text.lowercased())
      || !text.contains { $0.isLetter || $0.isNumber }
  }

  /// Whether a text marks its row, whatever else the row contains.
  static func isLabel(_ text: some StringProtocol) -> Bool {
    let words = words(of: text)
    guard let first = words.first else { return false }
    if names.contains(words.joined(separator: " ")) { return true }
    if words.starts(with: ["grand", "total"]) || words.starts(with: ["sub", "total"]) {
      return true
    }
    guard words.count > 1, let last = words.last else { return false }
    if first == "page" { return Int(words[1]) != nil }
    return first == "subtotal" || endings.contains(last)
      || sums.contains(first) && ["of", "for", "price", "all", "per", "by"].contains(words[1])
  }

  /// Whether a text marks its row if the row lacks cells that a record needs.
  static func isLabelOfPart(_ text: some StringProtocol) -> Bool {
    if isLabel(text) { return true }
    let words = words(of: text)
    guard let first = words.first, let last = words.last else { return false }
    return sums.contains(first) || notes.contains(first) || sums.contains(last)
      || words.contains { ["total", "subtotal", "average", "avg"].contains($0) }
  }

  private static func words(of text: some StringProtocol) -> [String] {
    text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
