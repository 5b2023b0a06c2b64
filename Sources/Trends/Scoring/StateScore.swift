/// How often the state of a market was the one that hindsight gives, and how late each new state
/// was recognised.
package struct StateScore: Sendable, Equatable {
  /// For each label of hindsight, on how many of its days each state was given.
  private var days: [MarketState: [MarketState: Int]] = [:]
  /// For each label, the beginnings of its runs, and how many days later the state was recognised.
  /// A run is consecutive days with one label, directly after a day with another label.
  private var begins: [MarketState: Int] = [:]
  private var delays: [MarketState: [Int]] = [:]

  package init() {}

  /// - Parameters:
  ///   - labels: what hindsight says of each day (`Hindsight.labels`).
  ///   - states: the state given on each of the same days. `nil`: none was given.
  ///   - scored: the indices of the days that count. A run counts by its first day.
  package init(labels: [MarketState?], states: [MarketState?], days scored: Range<Int>) {
    for day in scored {
      guard let label = labels[day] else { continue }
      if let state = states[day] { days[label, default: [:]][state, default: 0] += 1 }
      guard day > 0, let before = labels[day - 1], before != label else { continue }
      begins[label, default: 0] += 1
      let run = labels[day...].prefix { $0 == label }.indices
      if let recognised = run.first(where: { states[$0] == label }) {
        delays[label, default: []].append(recognised - day)
      }
    }
  }

  package static func + (left: StateScore, right: StateScore) -> StateScore {
    var sum = left
    sum.days.merge(right.days) { $0.merging($1, uniquingKeysWith: +) }
    sum.begins.merge(right.begins, uniquingKeysWith: +)
    sum.delays.merge(right.delays) { $0 + $1 }
    return sum
  }

  /// On how many days the state was the label, of all days with both.
  package var right: Score.Share {
    MarketState.allCases.map(recall).reduce(Score.Share(), +)
  }

  /// On how many days hindsight agreed, of the days on which this state was given.
  package func precision(_ state: MarketState) -> Score.Share {
    Score.Share(
      count: count(state, state), of: MarketState.allCases.reduce(0) { $0 + count($1, state) })
  }

  /// On how many days this state was given, of the days that have this label.
  package func recall(_ state: MarketState) -> Score.Share {
    Score.Share(
      count: count(state, state), of: MarketState.allCases.reduce(0) { $0 + count(state, $1) })
  }

  /// How many beginnings of this label were recognised before its run ended, of all of them.
  package func recognised(_ state: MarketState) -> Score.Share {
    Score.Share(count: delays[state]?.count ?? 0, of: begins[state] ?? 0)
  }

  /// The median number of days from the beginning of a run to the day on which it was recognised,
  /// of those that were recognised. `nil` if none was.
  package func daysLate(_ state: MarketState) -> Double? {
    delays[state].map { days in median(days.map { Double($0) }) }
  }

  private func count(_ label: MarketState, _ state: MarketState) -> Int {
    days[label]?[state] ?? 0
  }
}
