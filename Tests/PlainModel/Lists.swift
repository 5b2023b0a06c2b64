extension PlainModel {
  /// Which runs of a feed count, and which lists are complete. What a complete list leaves out is not
  /// offered.
  struct Lists {
    enum Standing { case refused, incomplete, complete }

    /// Runs that are neither withdrawn nor refused, oldest first.
    private(set) var counted: [Run] = []
    /// The complete lists, which end the prices that they leave out.
    private(set) var complete: [Run] = []
    /// All lists that count.
    private(set) var seen: [Run] = []
    /// Those that confirm the prices that they show: they are not frozen.
    private(set) var confirming: [Run] = []

    init(of runs: [Run], feed: Feed) {
      let present = runs.filter { !$0.isWithdrawn }.sorted { $0.takenAt < $1.takenAt }
      let lists = present.filter(\.isList)
      for run in present {
        guard run.isList else {
          counted.append(run)
          continue
        }
        switch Self.standing(of: run, among: lists, feed: feed) {
        case .refused: continue
        case .incomplete:
          if Self.isRepeat(run, among: lists, feed: feed) { continue }
          counted.append(run)
          seen.append(run)
        case .complete:
          counted.append(run)
          seen.append(run)
          complete.append(run)
        }
      }
      let frozen = Self.frozen(seen)
      confirming = seen.filter { !frozen.contains($0.takenAt) }
    }

    /// A time during which lists say the same.
    private struct Still {
      var lists: [Second]
      /// How long it may last before its lists are frozen; `nil`: the feed has no habit yet.
      var limit: Int?

      var frozen: [Second] { lists.filter { $0 - lists[0] >= limit ?? .max } }
    }

    /// Returns when the lists were taken that say nothing else for a day, and for three times as long
    /// as there ever was no change in the four weeks before. Former freezes do not count, and neither
    /// does a time for which nobody read the feed.
    private static func frozen(_ lists: [Run]) -> Set<Second> {
      var stills: [Still] = []
      for (index, list) in lists.enumerated() {
        if index > 0, said(lists[index - 1]) == said(list) {
          stills[stills.count - 1].lists.append(list.takenAt)
        } else {
          stills.append(Still(lists: [list.takenAt], limit: limit(after: stills, at: list.takenAt)))
        }
      }
      return Set(stills.flatMap(\.frozen))
    }

    private static func limit(after stills: [Still], at begins: Second) -> Int? {
      let since = begins - 28 * 86_400
      let known = zip(stills, stills.dropFirst().map(\.lists[0]) + [begins]).compactMap {
        (still, next) -> Int? in
        let lists = still.lists.filter { $0 > since }
        guard still.frozen.isEmpty, let first = lists.first, let last = lists.last else {
          return nil
        }
        return (next - last <= 86_400 ? next : last) - first
      }
      return known.count < 10 ? nil : max(86_400, 3 * (known.max() ?? 0))
    }

    /// Returns the lists that say something about a fuel of a station record: those that name it, and
    /// the complete ones that do not.
    func said(_ code: String, _ fuel: String) -> [Run] {
      seen.filter { list in
        isComplete(list) || list.lines.contains { $0.code == code && $0.fuel == fuel }
      }
    }

    func isComplete(_ list: Run) -> Bool { complete.contains { $0.takenAt == list.takenAt } }

    /// Judges a list by earlier lists, even refused ones: by those within the time for which a
    /// sighting is believed. If there is none, the newest earlier list decides only whether the list
    /// is refused.
    static func standing(of list: Run, among lists: [Run], feed: Feed) -> Standing {
      let before = lists.filter { $0.takenAt < list.takenAt }
      let near = before.filter { $0.takenAt > list.takenAt - feed.sightLapse }
      var longest: Run?
      for other in near where longest.map({ length(other) >= length($0) }) ?? true {
        longest = other
      }
      guard let longest = longest ?? before.last else { return .complete }
      if Double(length(list)) < feed.refuseBelow * Double(length(longest)) - 1e-6 {
        return .refused
      }
      if near.isEmpty { return .complete }
      if Double(length(list)) < feed.partialBelow * Double(length(longest)) - 1e-6 {
        return .incomplete
      }
      if lacksFuel(list, beside: longest) || lacksBrand(list, beside: longest) {
        return .incomplete
      }
      let older = near.map { olderShare(list, than: $0) }.max() ?? 0
      if older > 0.2, (older * Double(length(list))).rounded() > 20 { return .incomplete }
      return isRepeat(list, among: lists, feed: feed) ? .incomplete : .complete
    }

    /// Whether a list says just what an older one said while something else was said in between: the
    /// feed shows the past, and nothing in it is news. A list in which a price is back that was left
    /// out is longer than the list before it. Where nothing is stamped, prices may go back to what
    /// they were, but not after ten other lists. A single other list between two equal ones may be a
    /// mistake that was mended, unless stamps went back.
    private static func isRepeat(_ list: Run, among lists: [Run], feed: Feed) -> Bool {
      let near = lists.filter {
        $0.takenAt < list.takenAt && $0.takenAt > list.takenAt - feed.sightLapse
      }
      let own = said(list)
      guard length(list) >= 20, let newest = near.last(where: { said($0) != own }),
        let same = near.last(where: { said($0) == own && $0.takenAt < newest.takenAt })
      else { return false }
      let isLonger = length(list) > length(newest)
      let between = Set(near.filter { $0.takenAt > same.takenAt }.map(said)).subtracting([own])
        .count
      guard let stamp = marks(list).last else { return !isLonger && between >= 10 }
      let older = near.map { olderShare(list, than: $0) }.max() ?? 0
      let showsThePast = older > 0.2 && (older * Double(length(list))).rounded() > 20
      return (showsThePast || between >= 2)
        && (!isLonger || stamp < marks(newest).last ?? .min)
    }

    private static func said(_ list: Run) -> Set<String> {
      Set(list.lines.map { "\($0.code) \($0.fuel) \($0.tenths) \($0.stamp ?? -1)" })
    }

    /// The number of stations and fuels in a list.
    private static func length(_ list: Run) -> Int {
      Set(list.lines.map { "\($0.code) \($0.fuel)" }).count
    }

    private static func lacksFuel(_ list: Run, beside other: Run) -> Bool {
      let fuels = Set(list.lines.map(\.fuel))
      return Set(other.lines.map(\.fuel)).contains { fuel in
        !fuels.contains(fuel) && other.lines.count { $0.fuel == fuel } >= 10
      }
    }

    /// Whether a large brand is missing, and its stations with it. If a chain only has a new name, the
    /// list has as many stations as before.
    private static func lacksBrand(_ list: Run, beside other: Run) -> Bool {
      let codes = Set(list.lines.map(\.code))
      let others = Set(other.lines.map(\.code))
      let brands = Set(codes.compactMap { list.brands[$0] })
      return Set(others.compactMap { other.brands[$0] }).contains { brand in
        let size = others.count { other.brands[$0] == brand }
        return size >= 10 && !brands.contains(brand) && codes.count < others.count - size / 2
      }
    }

    /// Returns how much more of this list than of an earlier list has stamps up to some minute: the
    /// greatest difference of the two shares. In correct lists stamps only become newer, so the share
    /// up to a minute cannot grow. Only the stamps at every twentieth of each list are compared.
    private static func olderShare(_ list: Run, than other: Run) -> Double {
      let own = marks(list)
      let others = marks(other)
      guard !own.isEmpty, !others.isEmpty else { return 0 }
      func share(_ marks: [Int], until mark: Int) -> Double {
        Double(marks.count { $0 <= mark }) / Double(marks.count)
      }
      return own.map { share(own, until: $0) - share(others, until: $0) }.max() ?? 0
    }

    /// The stamps at every twentieth of a list, in minutes.
    private static func marks(_ list: Run) -> [Int] {
      let stamps = list.lines.compactMap { $0.stamp.map { $0 / 60 } }.sorted()
      guard !stamps.isEmpty else { return [] }
      return (0...20).map { stamps[(stamps.count - 1) * $0 / 20] }
    }
  }
}
