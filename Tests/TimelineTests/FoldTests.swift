import FuelModel
import Simulator
import Testing

@testable import Timeline

/// Facts follow from the answers that count, and a change of one answer reaches no further than the
/// next complete list.
struct FoldTests {
  /// An answer as the ledger knows it.
  private struct Entry {
    var answer: Answer
    var counts = true
  }

  private static func instant(_ minute: Int) -> Instant {
    Instant(seconds: 1_780_000_000 + 60 * Int64(minute))
  }

  // MARK: A second program, which looks at one station record and fuel at a time

  /// Returns the facts of the answers that count, written down without sorted lists or windows.
  private static func plainFacts(_ entries: [Entry]) -> Set<Fact> {
    let answers = entries.filter(\.counts).map(\.answer).sorted {
      ($0.takenAt, $0.run) < ($1.takenAt, $1.run)
    }
    var facts: Set<Fact> = []
    for pair in Set(answers.flatMap { $0.lines.map(\.pair) }) {
      var shown: Set<Answer.Line> = []
      var isListed = false
      var list = Instant.distantPast
      for answer in answers {
        let stated = Set(answer.lines.filter { $0.pair == pair })
        let isList = answer.kind == .complete || answer.kind == .partial
        defer { if isList { list = answer.takenAt } }
        if stated.isEmpty {
          if answer.kind == .partial, isListed {
            facts.insert(Fact(kind: .unseen, pair: pair, at: list, run: answer.run))
            isListed = false
          }
          guard answer.kind == .complete else { continue }
          if !shown.isEmpty {
            facts.insert(Fact(kind: .unlisted, pair: pair, at: answer.takenAt, run: answer.run))
          }
          (shown, isListed) = ([], false)
          continue
        }
        for line in stated.subtracting(shown) {
          facts.insert(
            Fact(
              kind: .price, pair: pair,
              at: line.stamp == Answer.Line.unstamped ? answer.takenAt : line.stamp,
              tenths: line.tenths, run: answer.run))
        }
        if isList, !isListed {
          facts.insert(Fact(kind: .listed, pair: pair, at: answer.takenAt, run: answer.run))
          isListed = true
        }
        if answer.kind == .days {
          let days = Set(stated.map(\.stamp))
          shown = shown.filter { !days.contains($0.stamp) }.union(stated)
        } else {
          shown = stated
        }
      }
    }
    return facts
  }

  // MARK: Random changes

  private enum Feed: CaseIterable { case stamped, unstamped, days }

  private static func answer(_ number: Int, of feed: Feed, _ random: inout Random) -> Answer {
    let minute = random.integer(1...60)
    var lines: Set<Answer.Line> = []
    for station in 1...4 where random.chance(0.7) {
      // Some answers state a present price and a next one.
      for _ in 0..<(random.chance(0.15) ? 2 : 1) {
        let stamp: Instant =
          switch feed {
          case .unstamped: random.chance(0.1) ? instant(minute + 60) : Answer.Line.unstamped
          // Up to 400 days old.
          case .stamped:
            random.chance(0.3)
              ? instant(minute - random.integer(0...(400 * 1_440))) : instant(station * 7 % 5)
          case .days: instant(1_440 * random.integer(0...3))
          }
        lines.insert(
          Answer.Line(
            pair: Pair(stationID: Int32(station), fuelID: 1), stamp: stamp,
            tenths: Int32(random.integer(0...3))))
      }
    }
    return Answer(
      run: number, takenAt: instant(minute),
      kind: feed == .days ? .days : random.pick([.complete, .complete, .partial, .update]),
      lines: lines.sorted())
  }

  /// Makes the facts around a changed answer anew from the complete list before it to the one after
  /// it.
  private static func refold(_ facts: inout Set<Fact>, _ entries: [Entry], around changed: Answer) {
    let counted = entries.filter(\.counts).map(\.answer).sorted {
      ($0.takenAt, $0.run) < ($1.takenAt, $1.run)
    }
    let before = counted.last { $0.kind == .complete && $0.takenAt < changed.takenAt }
    let after = counted.first { $0.kind == .complete && $0.takenAt > changed.takenAt }
    func isWithin(_ answer: Answer) -> Bool {
      (before.map { ($0.takenAt, $0.run) < (answer.takenAt, answer.run) } ?? true)
        && (after.map { (answer.takenAt, answer.run) <= ($0.takenAt, $0.run) } ?? true)
    }
    let runs = Set(entries.map(\.answer).filter(isWithin).map(\.run))
    var shown = Shown()
    if let before { _ = shown.take(before) }
    facts = facts.filter { !runs.contains($0.run) }
    for answer in counted where isWithin(answer) { facts.formUnion(shown.take(answer)) }
  }

  @Test("any order of changes leaves the facts of folding everything", arguments: Feed.allCases)
  private func aChangeReachesTheNextCompleteList(feed: Feed) {
    for seed in 0..<400 {
      var random = Random(seed: UInt64(seed), "fold \(feed)")
      var entries: [Entry] = []
      var facts: Set<Fact> = []
      for step in 0..<random.integer(5...40) {
        let changed: Int
        if !entries.isEmpty, random.chance(0.4) {
          changed = random.integer(0...(entries.count - 1))
          // Withdrawn, counted again, or judged otherwise.
          if feed == .days || random.chance(0.6) {
            entries[changed].counts.toggle()
          } else if entries[changed].answer.kind != .update {
            entries[changed].answer.kind =
              entries[changed].answer.kind == .complete ? .partial : .complete
          }
        } else {
          changed = entries.count
          entries.append(Entry(answer: Self.answer(step, of: feed, &random)))
        }
        Self.refold(&facts, entries, around: entries[changed].answer)
        let expected = Self.plainFacts(entries)
        #expect(facts == expected, "seed \(seed), \(feed), step \(step)")
        if facts != expected { return }
      }
    }
  }

  @Test("an answer is what its difference from any other says", arguments: 0..<50)
  func aDifferenceSaysTheAnswer(seed: Int) {
    var random = Random(seed: UInt64(seed), "difference")
    var known = [Answer.Line]()
    for step in 0..<200 {
      let lines = Self.answer(step, of: random.pick(Feed.allCases), &random).lines
      #expect(known.applying(lines.difference(from: known)) == lines)
      #expect(lines.difference(from: lines).isEmpty)
      known = lines
    }
  }

  @Test("a list that arrives in order costs what it changes")
  func onlyChangesAreFacts() {
    func line(_ station: Int, _ minute: Int, _ tenths: Int32) -> Answer.Line {
      Answer.Line(
        pair: Pair(stationID: Int32(station), fuelID: 1), stamp: Self.instant(minute),
        tenths: tenths)
    }
    var shown = Shown()
    let first = Answer(
      run: 1, takenAt: Self.instant(10), kind: .complete,
      lines: [line(1, 1, 1_800), line(2, 2, 1_810)])
    #expect(shown.take(first).count == 4)
    var second = first
    (second.run, second.takenAt) = (2, Self.instant(20))
    #expect(shown.take(second).isEmpty)
    second = Answer(run: 3, takenAt: Self.instant(30), kind: .complete, lines: [line(2, 25, 1_850)])
    #expect(
      Set(shown.take(second)) == [
        Fact(kind: .unlisted, pair: line(1, 0, 0).pair, at: Self.instant(30), run: 3),
        Fact(
          kind: .price, pair: line(2, 0, 0).pair, at: Self.instant(25), tenths: 1_850, run: 3),
      ])
    #expect(shown.listedStations == [2])
  }
}
