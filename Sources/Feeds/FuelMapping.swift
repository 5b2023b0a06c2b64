import Configuration
import FuelModel

/// The fuels that the configuration assigns to a feed's codes: `E10`, or with days, such as
/// `P95 until 2026-07-01, P98 from 2026-07-01`. The day that `from` states is included, the day
/// that `until` states is not.
struct FuelMapping: Sendable {
  private struct Meaning {
    var fuel: Fuel
    var from: Day?
    var until: Day?
  }

  private let meanings: [String: [Meaning]]

  init(_ texts: [String: String], place: String) throws(ConfigurationError) {
    var meanings: [String: [Meaning]] = [:]
    for (code, text) in texts {
      for part in text.split(separator: ",") {
        let words = part.split(separator: " ").map(String.init)
        guard let word = words.first, words.count % 2 == 1 else { throw Self.wrong(code, place) }
        guard let fuel = Fuel(rawValue: word) else { throw Self.wrong(code, place, unknown: word) }
        var meaning = Meaning(fuel: fuel)
        for position in stride(from: 1, to: words.count, by: 2) {
          guard let day = Day(words[position + 1]) else { throw Self.wrong(code, place) }
          switch words[position] {
          case "from": meaning.from = day
          case "until": meaning.until = day
          default: throw Self.wrong(code, place)
          }
        }
        meanings[code, default: []].append(meaning)
      }
    }
    self.meanings = meanings
  }

  func fuel(_ code: String, on day: Day) -> Fuel? {
    meanings[code]?.first { meaning in
      meaning.from.map { $0 <= day } ?? true && meaning.until.map { day < $0 } ?? true
    }?.fuel
  }

  /// - Parameter unknown: a word that stands where a fuel was expected.
  private static func wrong(
    _ code: String, _ place: String, unknown: String? = nil
  ) -> ConfigurationError {
    var expected = "a fuel such as E10, or E10 from 2026-07-01, or U91 until 2026-07-01"
    if let unknown {
      let fuels = Fuel.allCases.map(\.rawValue)
      expected +=
        ", and '\(unknown.prefix(40))' is no fuel; "
        + (nearest(to: unknown, in: fuels).map { "did you mean '\($0)'?" }
          ?? "one of \(fuels.joined(separator: ", "))")
    }
    return .wrongValue(key: "fuels.\(code)", place: place, expected: expected)
  }
}
