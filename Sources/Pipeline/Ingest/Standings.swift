package import Feeds
package import FuelModel
package import Store
package import Timeline

/// What is thought of the lists of a feed, each held against those around it, and again when one of them comes late or
/// goes.
package struct Standings {
  private let store: Store
  private let source: SourceID
  private let rules: ListRules
  private let now: Instant

  package init(_ store: Store, of source: SourceID, rules: ListRules, now: Instant) {
    self.store = store
    self.source = source
    self.rules = rules
    self.now = now
  }

  /// What is thought of a list that is not stored yet, and whether it is the newest: then no other has to be judged
  /// again.
  func judgement(of list: ListSummary) throws -> (ListJudgement, isNewest: Bool) {
    let others = try store.lists(
      of: source, from: list.takenAt.after(-rules.window), until: list.takenAt
    ).map(\.summary)
    return (
      rules.judgement(of: list, among: others),
      others.allSatisfy { $0.takenAt <= list.takenAt }
    )
  }

  /// Judges again the lists at an instant and those after it for which it matters; part of a transaction that notes
  /// changes.
  ///
  /// - Parameter lastListed: when the newest complete list was taken before anything of this changed.
  /// - Returns: lists that were refused when they arrived, left nothing, and would be believed now.
  @discardableResult
  package func judgeAgain(around instant: Instant, lastListed: Instant?) throws -> [RunID] {
    let ends = instant.after(rules.window)
    let lists = try store.lists(of: source, from: instant.after(-rules.window), until: ends)
    let next = lists.first { $0.summary.takenAt > instant }?.summary.takenAt ?? instant
    let summaries = lists.map(\.summary)
    var changed: [RunID] = []
    var unread: [RunID] = []
    var isRefused = false
    for list in lists
    where list.summary.takenAt >= instant
      && (list.summary.takenAt < ends || list.summary.takenAt <= next)
    {
      let judgement = rules.judgement(of: list.summary, among: summaries)
      if judgement == list.judgement && judgement.isComplete == list.isComplete { continue }
      if list.judgement.refusal != nil && judgement.refusal == nil && !list.isStored {
        unread.append(list.run)
        continue
      }
      try store.set(judgement, of: list)
      changed.append(list.run)
      isRefused = isRefused || judgement.refusal != nil
    }
    if !changed.isEmpty {
      try store.settleStandings(of: source, runs: changed, lastListed: lastListed, now: now)
      // What only a list told that is refused now is not known.
      if isRefused { try store.forgetGhosts(of: source) }
    }
    try store.noteToRead(unread)
    return unread
  }

  /// The lists of a feed whose stored standing is not what the lists around them say, by the rules of the
  /// configuration: a line each.
  package static func faults(of source: Source, in store: Store) throws -> [String] {
    try faults(of: source.feed, in: store, rules: source.listRules)
  }

  package static func faults(
    of feed: String, in store: Store, rules: ListRules
  ) throws -> [String] {
    // Lists from before there was a chain stand as the program of their time judged them.
    guard let number = try store.number(of: feed), let oldest = try store.firstLinkedRun() else {
      return []
    }
    var faults: [String] = []
    var begins: Instant?
    // Parts, so that the lists of years are not in memory at once.
    while let first = try store.firstList(of: number, from: begins) {
      let ends = first.after(part)
      let lists = try store.lists(of: number, from: first.after(-rules.window), until: ends)
      let summaries = lists.map(\.summary)
      for list in lists
      where list.run.number >= oldest.number && list.summary.takenAt >= first
        && list.summary.takenAt < ends
      {
        let judgement = rules.judgement(of: list.summary, among: summaries)
        // One that was refused when it came left nothing that could count.
        if list.judgement.refusal != nil && !list.isStored && judgement.refusal == nil { continue }
        if judgement.refusal != list.judgement.refusal || judgement.isComplete != list.isComplete {
          faults.append(
            "run \(list.run) of \(feed) is \(words(list.judgement, list.isComplete)), "
              + "and by the lists around it \(words(judgement, judgement.isComplete))")
        }
      }
      begins = ends
    }
    return faults
  }

  private static let part: Int64 = 14 * 86_400_000_000

  private static func words(_ judgement: ListJudgement, _ isComplete: Bool) -> String {
    if let refusal = judgement.refusal { return "refused (\(refusal))" }
    return isComplete ? "complete" : "not complete"
  }

  /// Judges again the lists after one that was refused, which is still a list beside which others are judged; a
  /// transaction of its own.
  ///
  /// - Returns: lists that were refused when they arrived, left nothing, and would be believed now.
  package func judgeAgain(beside refused: ListSummary) throws -> [RunID] {
    try store.transaction {
      try store.lockTimeline()
      try store.noteChanges()
      let unread = try judgeAgain(
        around: refused.takenAt, lastListed: store.lastListed(of: source))
      try TimelineUpdate(store, now: now).make(store.takeChanged())
      return unread
    }
  }

  /// Takes a run back, or counts it again; a transaction of its own.
  ///
  /// - Returns: lists that were refused when they arrived, left nothing, and would be believed now.
  package func decide(
    _ run: RunID, takenAt: Instant, counts: Bool, reason: String
  ) throws -> [RunID] {
    try store.transaction {
      try store.lockTimeline()
      let lastListed = try store.lastListed(of: source)
      try store.noteChanges()
      try store.set(run, counts: counts)
      try store.settleStandings(of: source, runs: [run], lastListed: lastListed, now: now)
      let unread = try judgeAgain(around: takenAt, lastListed: lastListed)
      try store.forgetGhosts(of: source)
      try TimelineUpdate(store, now: now).make(store.takeChanged())
      try store.note(run, counts: counts, reason: reason, at: now)
      if counts { try store.noteToRead([run]) }
      return unread
    }
  }
}
