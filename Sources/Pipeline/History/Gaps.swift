package import Archives
import Configuration
package import FuelModel
package import Store

/// Consecutive days for which neither an archive nor a feed has reported anything.
package struct Gap: Equatable, Sendable {
  package var feed: String
  package var from: Day
  package var to: Day
  /// The command that can fill the gap, and where its files come from; `nil` if none can.
  package var command: String?

  /// The number of missing days.
  package var dayCount: Int { to.sinceEpoch - from.sinceEpoch + 1 }
}

/// Finds the missing days of each feed up to yesterday. They are counted from the first day of its
/// archive, or from the first day of which anything is known if that is earlier.
///
/// - Parameters:
///   - known: the days about which a feed or an archive has reported.
///   - feeds: `kept` is the name by which `bowser backfill` loads answers of the feed that somebody
///     else has kept; `nil` if there are none.
package func gaps(
  _ known: [KnownDay], feeds: [(feed: String, zone: Zone, kept: String?)], archives: [Archive],
  now: Instant
) -> [Gap] {
  feeds.flatMap { feed, zone, kept -> [Gap] in
    let archive = archives.first { $0.feed == feed }
    let days = Set(known.filter { $0.scheme == feed }.map(\.day))
    guard let first = [archive?.from, days.min()].compactMap({ $0 }).min() else { return [] }
    let yesterday = zone.local(now).day + -1
    var gaps: [Gap] = []
    var day = first
    while day <= yesterday {
      if !days.contains(day) {
        // An archive cannot fill every day. Days that it can fill and days that it cannot fill form
        // separate gaps, because their commands differ.
        let isArchived = archive.map { $0.from <= day && day <= $0.until ?? day } ?? false
        let command =
          isArchived
          ? archive.map { "bowser backfill \($0.id) FILES, from \($0.settings.page)" }
          : kept.map { "bowser backfill \($0) FILES, if the answers were kept" }
        if let last = gaps.last, last.to + 1 == day, last.command == command {
          gaps[gaps.count - 1].to = day
        } else {
          gaps.append(Gap(feed: feed, from: day, to: day, command: command))
        }
      }
      day = day + 1
    }
    return gaps
  }
}
