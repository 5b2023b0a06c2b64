import Foundation

/// Price days, numbered from 1970, and which sources cover them.
extension PlainModel {
  func day(of instant: Second, in state: String) -> Int {
    guard let days = world.states[state] else { return 0 }
    return Int(floor(Double(instant + offset(days.zone, at: instant) - days.startsAt) / 86_400))
  }

  /// Returns when a price day begins. It ends where the next one begins.
  func begin(of day: Int, in state: String) -> Second {
    guard let days = world.states[state] else { return 0 }
    if let known = begins[state]?[day] { return known }
    let local = day * 86_400 + days.startsAt
    let guess = local - offset(days.zone, at: local - 36_000)
    let begin = local - offset(days.zone, at: guess)
    begins[state, default: [:]][day] = begin
    return begin
  }

  private func offset(_ zone: String, at instant: Second) -> Int {
    if zones[zone] == nil { zones[zone] = TimeZone(identifier: zone) }
    return zones[zone]?.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant))) ?? 0
  }

  /// Returns the first and the last day of the month that contains a day.
  static func month(of day: Int) -> (first: Int, last: Int) {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let date = Date(timeIntervalSince1970: Double(day) * 86_400)
    guard let month = calendar.dateInterval(of: .month, for: date) else { return (day, day) }
    return (
      Int(month.start.timeIntervalSince1970) / 86_400,
      Int(month.end.timeIntervalSince1970) / 86_400 - 1
    )
  }

  package static func text(day: Int) -> String { String(text(day * 86_400).prefix(10)) }

  // MARK: Archives

  /// The days that the files of an archive cover: in each month from the first day to the last one
  /// on which a price began. Where that is one of the last four days of the month, all of the month
  /// counts.
  func archivedDays(_ name: String) -> [ClosedRange<Int>] {
    if let known = archived[name] { return known }
    guard let archive = world.archives[name] else { return [] }
    var last: [Int: Int] = [:]
    for row in world.rows where row.archive == name {
      let day = day(of: row.at, in: archive.state)
      let first = Self.month(of: day).first
      last[first] = max(last[first] ?? day, day)
    }
    let days = last.sorted { $0.key < $1.key }.map { first, last in
      first...(last >= Self.month(of: first).last - 3 ? Self.month(of: first).last : last)
    }
    archived[name] = days
    return days
  }

  /// Returns the first instant from an instant on that no archive of the scheme covers. From its
  /// first run on, the feed covers everything.
  func coveredUntil(_ archive: Archive, from instant: Second) -> Second {
    var end = instant
    while true {
      if let first = firstRun(archive.feed), end >= first { return .max }
      let reaching = archived(of: archive.feed).filter { $0.from <= end && end < $0.until }
      guard let further = reaching.map(\.until).max() else { return end }
      end = further
    }
  }

  /// The times that the files of a scheme's archives cover.
  private func archived(of feed: String) -> [(from: Second, until: Second)] {
    if let known = reach[feed] { return known }
    let found = world.archives.filter { $0.value.feed == feed }.flatMap { name, archive in
      archivedDays(name).map {
        (
          from: begin(of: $0.lowerBound, in: archive.state),
          until: begin(of: $0.upperBound + 1, in: archive.state)
        )
      }
    }
    reach[feed] = found
    return found
  }

  /// When the first run of a feed that counts was taken.
  func firstRun(_ feed: String) -> Second? { lists[feed]?.counted.first?.takenAt }

  // MARK: Coverage

  /// Returns whether a source of a state leaves nothing open about a day. A feed covers it by a list
  /// that was believed on it; an update states only some prices. Files of an archive cover it if they
  /// include it and all days before it on which a price that still holds can have begun.
  func isSettled(_ state: String, _ fuel: String, on day: Int) -> Bool {
    let sources = Set(
      world.feeds.filter { $0.value.state == state }.map(\.key)
        + world.archives.filter { $0.value.state == state }.map(\.key))
    return sources.contains { source in
      if let archive = world.archives[source] {
        let lapse = archive.priceLapseByFuel[fuel] ?? archive.priceLapse
        let before = (lapse + 86_399) / 86_400
        return (day - before...day).allSatisfy { each in
          archivedDays(source).contains { $0.contains(each) }
        }
      }
      guard let feed = world.feeds[source], let lists = lists[source] else { return false }
      let begins = begin(of: day, in: feed.state)
      let ends = begin(of: day + 1, in: feed.state)
      // A list covers the time from when it was taken until it is no longer believed.
      return lists.confirming.contains {
        $0.takenAt <= world.madeAt && $0.takenAt < ends
          && min($0.takenAt + feed.sightLapse, world.madeAt + 1) > begins
      }
    }
  }
}
