package import FuelModel

/// What one answer of a feed states, and of which instant. An answer is kept whole, and everything
/// else follows from the answers that count.
package struct Answer: Sendable {
  /// How much of what a feed shows an answer states.
  package enum Kind: Int, Sendable {
    /// A list of everything that the feed offers. What it leaves out is not offered.
    case complete = 0
    /// A list whose gaps prove nothing.
    case partial = 1
    /// Prices of whole days. They add to what other answers state about other days.
    case days = 2
    /// Some of what the feed offers, such as what is new.
    case update = 3
  }

  /// What an answer states about a station record and fuel. It may state several prices: the
  /// present one and the next one.
  package struct Line: Hashable, Sendable, Comparable {
    package var pair: Pair
    /// When the price begins; `Line.unstamped` where the feed does not say.
    package var stamp: Instant
    /// Tenths of a cent per litre; 0: not offered.
    package var tenths: Int32

    /// Stands for a stamp that is not stated. Such a price begins when it is first seen.
    package static let unstamped = Instant.distantPast

    package init(pair: Pair, stamp: Instant, tenths: Int32) {
      self.pair = pair
      self.stamp = stamp
      self.tenths = tenths
    }

    package static func < (left: Line, right: Line) -> Bool {
      if left.pair.number != right.pair.number { return left.pair.number < right.pair.number }
      if left.stamp != right.stamp { return left.stamp < right.stamp }
      return left.tenths < right.tenths
    }
  }

  /// The number of the run that brought it.
  package var run: Int
  /// The instant whose state it shows.
  package var takenAt: Instant
  package var kind: Kind
  /// Sorted, each once.
  package var lines: [Line]

  package init(run: Int, takenAt: Instant, kind: Kind, lines: [Line]) {
    self.run = run
    self.takenAt = takenAt
    self.kind = kind
    self.lines = lines
  }
}

/// Something new that an answer states: a price, or that a list shows a station record and fuel
/// again, or does not show it any more.
package struct Fact: Hashable, Sendable {
  package var kind: Evidence.Kind
  package var pair: Pair
  /// When the price begins; when the list was taken; or when the last list was taken that showed the
  /// station record and fuel.
  package var at: Instant
  /// Tenths of a cent per litre. Lists: 0.
  package var tenths: Int32
  /// The number of the run whose answer states it.
  package var run: Int

  package init(kind: Evidence.Kind, pair: Pair, at: Instant, tenths: Int32 = 0, run: Int) {
    self.kind = kind
    self.pair = pair
    self.at = at
    self.tenths = tenths
    self.run = run
  }
}

/// What a feed shows after some of its answers. After a complete list it shows that list, whatever
/// it showed before. So an answer that comes late, or no longer counts, changes no fact beyond the
/// next complete list.
package struct Shown: Sendable {
  /// Sorted, each once.
  private var lines: [Answer.Line] = []
  private enum Listing { case none, listed, unseen }
  /// For each line, whether lists show its station record and fuel.
  private var listings: [Listing] = []
  /// When the newest list was taken.
  private var listedAt = Instant.distantPast

  package init() {}

  /// The station records that lists show, or did before lists that are not complete.
  package var listedStations: Set<Int32> {
    Set(zip(lines, listings).lazy.filter { $1 != .none }.map(\.0.pair.stationID))
  }

  /// Goes on to the next answer, and returns the facts that it brings. Answers are taken in the
  /// order of `takenAt`, and those of one instant in the order of their runs.
  ///
  /// A price is a fact where the feed did not show it under that stamp. That a list shows a station
  /// record and fuel is a fact where the lists before did not. That it leaves one out is a fact where
  /// the feed showed it: it is not offered if the list is complete, and is not seen if it is not.
  package mutating func take(_ answer: Answer) -> [Fact] {
    var facts: [Fact] = []
    var next = Shown()
    next.lines.reserveCapacity(max(lines.count, answer.lines.count))
    next.listings.reserveCapacity(max(lines.count, answer.lines.count))
    let isList = answer.kind == .complete || answer.kind == .partial
    next.listedAt = isList ? answer.takenAt : listedAt
    walk(lines, answer.lines, byDay: answer.kind == .days) { known, stated in
      guard let first = stated.first else {
        let pair = lines[known.lowerBound].pair
        if answer.kind == .complete {
          facts.append(Fact(kind: .unlisted, pair: pair, at: answer.takenAt, run: answer.run))
          return
        }
        next.lines += lines[known]
        if answer.kind == .partial, listings[known.lowerBound] == .listed {
          facts.append(Fact(kind: .unseen, pair: pair, at: listedAt, run: answer.run))
          next.listings += repeatElement(.unseen, count: known.count)
        } else {
          next.listings += listings[known]
        }
        return
      }
      let listing = known.first.map { listings[$0] } ?? .none
      for line in answer.lines[stated] where !lines[known].contains(line) {
        facts.append(
          Fact(
            kind: .price, pair: line.pair,
            at: line.stamp == Answer.Line.unstamped ? answer.takenAt : line.stamp,
            tenths: line.tenths, run: answer.run))
      }
      if isList, listing != .listed {
        facts.append(
          Fact(
            kind: .listed, pair: answer.lines[first].pair, at: answer.takenAt, run: answer.run))
      }
      next.lines += answer.lines[stated]
      next.listings += repeatElement(isList ? .listed : listing, count: stated.count)
    }
    self = next
    return facts
  }
}

extension [Answer.Line] {
  /// Returns what has to be said beside a former answer to say this one: all lines of the station
  /// records and fuels that differ. One that is left out has a line with the price `gone`.
  package func difference(from base: [Answer.Line]) -> [Answer.Line] {
    var difference: [Answer.Line] = []
    walk(base, self) { before, after in
      if after.isEmpty {
        difference.append(
          Answer.Line(
            pair: base[before.lowerBound].pair, stamp: Answer.Line.unstamped, tenths: Self.gone))
      } else if base[before] != self[after] {
        difference += self[after]
      }
    }
    return difference
  }

  /// Returns the answer that a difference says beside this one.
  package func applying(_ difference: [Answer.Line]) -> [Answer.Line] {
    guard !difference.isEmpty else { return self }
    var lines: [Answer.Line] = []
    lines.reserveCapacity(count + difference.count)
    walk(self, difference) { before, after in
      if after.isEmpty {
        lines += self[before]
      } else if difference[after.lowerBound].tenths != Self.gone {
        lines += difference[after]
      }
    }
    return lines
  }

  /// A digest of what the lines state (FNV-1a over their numbers).
  package var content: Int64 {
    var digest: UInt64 = 0xcbf2_9ce4_8422_2325
    for line in self {
      for number in [line.pair.number, line.stamp.microseconds, Int64(line.tenths)] {
        digest = (digest ^ UInt64(bitPattern: number)) &* 0x0000_0100_0000_01b3
        digest ^= digest >> 29
      }
    }
    return Int64(bitPattern: digest)
  }

  /// Stands for the price of what is left out.
  package static var gone: Int32 { -1 }
}

/// Calls `body` for each station record and fuel of two sorted lists, in order, with the positions of
/// its lines in both.
///
/// - Parameter byDay: whether lines with different stamps are taken one by one.
private func walk(
  _ left: [Answer.Line], _ right: [Answer.Line], byDay: Bool = false,
  _ body: (Range<Int>, Range<Int>) -> Void
) {
  var (l, r) = (0, 0)
  while l < left.count || r < right.count {
    let first = l == left.count || (r < right.count && right[r] < left[l]) ? right[r] : left[l]
    func end(_ lines: [Answer.Line], from begin: Int) -> Int {
      var end = begin
      while end < lines.count, lines[end].pair == first.pair,
        !byDay || lines[end].stamp == first.stamp
      { end += 1 }
      return end
    }
    let ends = (end(left, from: l), end(right, from: r))
    body(l..<ends.0, r..<ends.1)
    (l, r) = ends
  }
}
