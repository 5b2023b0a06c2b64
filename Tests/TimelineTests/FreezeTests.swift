import FuelModel
import Simulator
import Testing

@testable import Timeline

/// Which lists of a feed are frozen follows from the set of its lists, and a change of one list
/// reaches no further than four weeks after the lists that are judged otherwise.
struct FreezeTests {
  private static func instant(_ hour: Int) -> Instant {
    Instant(seconds: 1_780_000_000 + 3_600 * Int64(hour))
  }

  private struct List: Hashable {
    var hour: Int
    var content: Int64
  }

  // MARK: A second program, which judges each list by itself

  /// For how many hours lists state the same up to each list; only where that is frozen.
  private final class Plain {
    private let lists: [List]
    private var known: [Int: Int?] = [:]

    init(_ lists: [List]) {
      self.lists = lists.sorted { ($0.hour, $0.content) < ($1.hour, $1.content) }
    }

    func frozen() -> [List: Int] {
      var found: [List: Int] = [:]
      for (index, list) in lists.enumerated() { found[list] = hours(index) }
      return found
    }

    private func hours(_ index: Int) -> Int? {
      if let hours = known[index] { return hours }
      let list = lists[index]
      let others = lists[..<index].last { $0.content != list.content }
      let first = others.map { lists.lastIndex(of: $0)! + 1 } ?? 0
      let still = list.hour - lists[first].hour
      let isFrozen = still >= 24 && habit(first).map { still >= 3 * $0 } ?? false
      known[index] = isFrozen ? still : .some(nil)
      return isFrozen ? still : nil
    }

    /// Returns how long the feed went without a change at most, before a list that changes something.
    private func habit(_ next: Int) -> Int? {
      var lasting: [Int] = []
      for index in 0..<next where lists[index].content != lists[index + 1].content {
        let near = lists[...index].reversed().prefix { $0.content == lists[index].content }
          .prefix { $0.hour > lists[next].hour - 28 * 24 }
        guard let first = near.last, hours(index) == nil else { continue }
        let silence = lists[index + 1].hour - lists[index].hour
        lasting.append(lists[index].hour - first.hour + (silence <= 24 ? silence : 0))
      }
      return lasting.count >= 10 ? lasting.max() : nil
    }
  }

  // MARK: Random lists

  /// Returns the lists of a feed that changes every few hours, rests at times, and freezes at times.
  private static func lists(_ random: inout Random) -> Set<List> {
    var lists: Set<List> = []
    var hour = 0
    var content: Int64 = 0
    let rests = random.real(0...0.1)
    while lists.count < 250 {
      hour += random.integer(1...8)
      if random.chance(rests) { hour += random.integer(12...100) }
      if random.chance(0.8) { content += random.chance(0.1) ? -1 : 1 }
      lists.insert(List(hour: hour, content: content))
      // A second list of the same instant.
      if random.chance(0.02) { lists.insert(List(hour: hour, content: content + 7)) }
      guard lists.count > 15, random.chance(0.05) else { continue }
      for _ in 0..<random.integer(2...60) {
        hour += random.integer(2...20)
        lists.insert(List(hour: hour, content: content))
      }
    }
    return lists
  }

  private static func stated(_ lists: Set<List>) -> [StatedList] {
    lists.map { StatedList(takenAt: instant($0.hour), content: $0.content) }
      .sorted { ($0.takenAt, $0.content) < ($1.takenAt, $1.content) }
  }

  private static func plain(_ lists: Set<List>) -> [StatedList] {
    let frozen = Plain(Array(lists)).frozen()
    return lists.sorted { ($0.hour, $0.content) < ($1.hour, $1.content) }.map { list in
      StatedList(
        takenAt: instant(list.hour), content: list.content,
        frozenSince: frozen[list].map { instant(list.hour - $0) })
    }
  }

  @Test("F-F04: a second program finds the same lists frozen")
  func theSetOfListsDecides() {
    var (few, many) = (0, 0)
    for seed in 0..<300 {
      var random = Random(seed: UInt64(seed), "freezes")
      let lists = Self.lists(&random)
      let judged = Freeze.judged(Self.stated(lists), from: .distantPast)
      #expect(judged == Self.plain(lists), "seed \(seed)")
      let count = judged.count { $0.frozenSince != nil }
      few += count == 0 ? 1 : 0
      many += count > 20 ? 1 : 0
    }
    #expect(few > 5 && many > 50)
  }

  @Test("F-F04: a list that comes late, or goes, leads to what judging all lists leads to")
  func aChangeIsBounded() {
    for seed in 0..<200 {
      var random = Random(seed: UInt64(seed), "freezes")
      let whole = Self.lists(&random)
      var lists = whole
      var stored = Freeze.judged(Self.stated(lists), from: .distantPast)
      for _ in 0..<10 {
        let changed = random.pick(whole.sorted { ($0.hour, $0.content) < ($1.hour, $1.content) })
        if lists.remove(changed) == nil { lists.insert(changed) }
        var next = Self.stated(lists)
        for index in next.indices {
          next[index].frozenSince =
            stored.first {
              $0.takenAt == next[index].takenAt && $0.content == next[index].content
            }?.frozenSince
        }
        let at = Self.instant(changed.hour)
        // Everything from the first list on that is needed.
        let last = next.last { $0.takenAt < at }
        let other = next.last { $0.takenAt < at && $0.content != last?.content }
        let from = other.map { $0.takenAt.after(-Freeze.memory) } ?? .distantPast
        let begins = next.firstIndex { $0.takenAt >= from } ?? next.endIndex
        stored = next[..<begins] + Freeze.judged(Array(next[begins...]), from: at)
        #expect(stored == Freeze.judged(Self.stated(lists), from: .distantPast), "seed \(seed)")
      }
    }
  }

  // MARK: Single rules

  /// Returns after how many hours a feed is frozen that changed at these hours, and then no more.
  private func freezes(_ changes: [Int], reads: Int = 1) -> Int? {
    let end = 3_000
    let hours = Set(changes + (changes[changes.count - 1]..<end).filter { $0 % reads == 0 })
    let lists = hours.sorted().map { hour in
      StatedList(
        takenAt: Self.instant(hour), content: Int64(changes.count { $0 <= hour }))
    }
    let first = Freeze.judged(lists, from: .distantPast).first { $0.frozenSince != nil }
    return first.map { Int($0.takenAt.seconds - Self.instant(changes.last!).seconds) / 3_600 }
  }

  @Test("F-F04: after a day at least, and after three times the habit")
  func theHabitDecides() {
    #expect(freezes(Array(0...20)) == 24)
    #expect(freezes((0...20).map { 8 * $0 }) == 24)
    #expect(freezes((0...20).map { 10 * $0 }) == 30)
    // One pause as long as a holiday.
    #expect(freezes(Array(0...20) + Array(40...60)) == 60)
  }

  @Test("F-F04: a feed of which few changes are known is believed")
  func aNewFeedHasNoHabit() {
    #expect(freezes(Array(0...9)) == nil)
    #expect(freezes(Array(0...10)) == 24)
    // The changes of more than four weeks ago are forgotten.
    #expect(freezes(Array(0...20) + (1...8).map { 20 + 100 * $0 }) == nil)
  }
}
