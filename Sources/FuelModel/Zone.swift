package import Foundation

/// A time zone by its IANA name. The rules come from the system's zone data.
package struct Zone: RawRepresentable, Hashable, Sendable {
  package let rawValue: String

  /// - Returns: `nil` for a zone that is not in the system's zone data.
  package init?(rawValue: String) {
    guard TimeZone(identifier: rawValue) != nil else { return nil }
    self.rawValue = rawValue
  }

  /// Makes a zone that is in every system's zone data.
  private init(known name: String) { rawValue = name }

  package static let utc = Zone(known: "UTC")
  package static let sydney = Zone(known: "Australia/Sydney")
  package static let melbourne = Zone(known: "Australia/Melbourne")
  package static let brisbane = Zone(known: "Australia/Brisbane")
  package static let adelaide = Zone(known: "Australia/Adelaide")
  package static let darwin = Zone(known: "Australia/Darwin")
  package static let perth = Zone(known: "Australia/Perth")
  package static let hobart = Zone(known: "Australia/Hobart")
  package static let brokenHill = Zone(known: "Australia/Broken_Hill")
  package static let lordHowe = Zone(known: "Australia/Lord_Howe")

  /// Why a local time is not exactly one instant.
  package enum Ambiguity: Error, Equatable {
    /// The clocks skipped this time.
    case nonexistent
    /// The clocks showed this time twice.
    case twice(first: Instant, second: Instant)
  }

  /// Whether this machine has zone data, and the data include daylight saving time.
  package static var isDataPresent: Bool {
    isComplete(TimeZone(identifier: Zone.sydney.rawValue))
  }

  /// Whether a time zone, that of Sydney, was found and has daylight saving time.
  package static func isComplete(_ sydney: TimeZone?) -> Bool {
    guard let sydney else { return false }
    // 2026-01-01 is in summer (UTC+11), 2026-07-01 in winter (UTC+10).
    return sydney.secondsFromGMT(for: Date(timeIntervalSince1970: 1_767_225_600)) == 39_600
      && sydney.secondsFromGMT(for: Date(timeIntervalSince1970: 1_782_864_000)) == 36_000
  }

  /// Returns the offset from UTC at an instant, in seconds; positive values are east of Greenwich.
  package func offset(at instant: Instant) -> Int {
    guard let zone = TimeZone(identifier: rawValue) else {
      preconditionFailure("no zone data for \(rawValue): install tzdata")
    }
    return zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant.seconds)))
  }

  /// Returns the local calendar day at an instant, and the seconds that the local clock shows.
  package func local(_ instant: Instant) -> (day: Day, secondsOfDay: Int) {
    Instant(seconds: instant.seconds + Int64(offset(at: instant))).utc
  }

  /// Returns the instant of a local wall-clock time. This function is the program's only conversion
  /// from local time.
  ///
  /// - Throws: `Ambiguity` where the clocks skip or repeat that time.
  package func instant(_ day: Day, hour: Int, minute: Int = 0, second: Int = 0)
    throws(Ambiguity) -> Instant
  {
    let wall = Int64(day.sinceEpoch * 86_400 + hour * 3600 + minute * 60 + second)
    // The offsets a day before and a day after include both sides of any change.
    let offsets = Set([-86_400, 86_400].map { offset(at: Instant(seconds: wall + $0)) })
    let candidates = offsets.map { Instant(seconds: wall - Int64($0)) }
      .filter { offset(at: $0) == Int(wall - $0.seconds) }.sorted()
    switch candidates.count {
    case 0: throw .nonexistent
    case 1: return candidates[0]
    default: throw .twice(first: candidates[0], second: candidates[1])
    }
  }
}
