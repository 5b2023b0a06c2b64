package import FuelModel
package import Store
package import Timeline

/// Judges the lists of a feed. Each list is compared with the lists around it, and compared again
/// when one of those arrives late or no longer counts.
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

  /// Judges a list that is not stored yet. Where it is the newest one, refused ones included, no
  /// other list has to be judged again. Where it is still, it states what the lists before it do,
  /// and may be frozen.
  func judgement(
    of list: ListSummary
  ) throws -> (ListJudgement, isNewest: Bool, isStill: Bool) {
    let others = try store.ledger.lists(
      of: source, from: list.takenAt.after(-rules.window), until: list.takenAt)
    return (
      rules.judgement(of: list, among: others.map(\.summary)),
      others.allSatisfy { $0.summary.takenAt <= list.takenAt },
      others.allSatisfy {
        $0.summary.takenAt <= list.takenAt.after(-Freeze.least) || $0.judgement.refusal != nil
          || $0.judgement.isRepeat || $0.summary.content == list.content
      }
    )
  }

  /// Judges again which lists are frozen, after lists that were taken between two instants came,
  /// went or were judged otherwise.
  ///
  /// - Returns: when the first list was taken that begins to be frozen or ceases to be; `nil`: none
  ///   does.
  static func judgeFrozen(
    _ store: Store, of source: SourceID, from: Instant, until: Instant
  ) throws -> Instant? {
    var first: Instant?
    var ends = until
    while true {
      let lists = try store.ledger.statedLists(
        of: source, from: from, until: ends.after(Freeze.memory))
      let judged = zip(lists, Freeze.judged(lists.map(\.list), from: from))
        .filter { $0.0.list != $0.1 }
      try store.ledger.set(judged.map(\.0.run), frozenSince: judged.map(\.1.frozenSince))
      first = first ?? judged.first?.1.takenAt
      // What is frozen now, or no longer, belongs to another habit of the lists after it.
      guard let last = judged.last?.1.takenAt, last > ends else { return first }
      ends = last
    }
  }

  /// Judges again the lists taken at an instant, and the later ones whose judgement may depend on
  /// them. Belongs to a transaction that makes facts afterwards.
  ///
  /// - Returns: the lists that are judged otherwise, when the first list was taken that begins to be
  ///   frozen or ceases to be, and the lists that were refused when they arrived, were not stored, and
  ///   would be believed now.
  func judgeAgain(
    around instant: Instant
  ) throws -> (changed: [ChangedRun], turnedFrom: Instant?, unread: [RunID]) {
    let ends = instant.after(rules.window)
    let lists = try store.ledger.lists(of: source, from: instant.after(-rules.window), until: ends)
    let next = lists.first { $0.summary.takenAt > instant }?.summary.takenAt ?? instant
    let summaries = lists.map(\.summary)
    var changed: [ChangedRun] = []
    var unread: [RunID] = []
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
      // The facts of a list from before answers were kept could not follow.
      guard list.isKept || !list.isStored else { continue }
      try store.ledger.set(judgement, of: list)
      changed.append(ChangedRun(list.run, takenAt: list.summary.takenAt))
    }
    try store.ledger.noteToRead(unread)
    let last = changed.map(\.takenAt).max() ?? instant
    let turnedFrom = try Self.judgeFrozen(
      store, of: source, from: instant, until: max(instant, last))
    return (changed, turnedFrom, unread)
  }

  /// Finds the lists of a feed whose stored judgement differs from the one that the lists around
  /// them lead to.
  ///
  /// - Returns: one line of text for each such list.
  package static func faults(
    of feed: String, in store: Store, rules: ListRules
  ) throws -> [String] {
    // Lists from before the chain of digests keep the judgement of the program of their time.
    guard let number = try store.ledger.number(of: feed),
      let oldest = try store.ledger.firstLinkedRun()
    else {
      return []
    }
    var faults: [String] = []
    var begins: Instant?
    // Lists are read in parts, so that those of several years are not in memory at once.
    while let first = try store.ledger.firstList(of: number, from: begins) {
      let ends = first.after(part)
      let lists = try store.ledger.lists(of: number, from: first.after(-rules.window), until: ends)
      let summaries = lists.map(\.summary)
      for list in lists
      where list.run.number >= oldest.number && (list.isKept || !list.isStored)
        && list.summary.takenAt >= first
        && list.summary.takenAt < ends
      {
        let judgement = rules.judgement(of: list.summary, among: summaries)
        // A list that was refused when it arrived was not stored, so nothing of it could count.
        if list.judgement.refusal != nil && !list.isStored && judgement.refusal == nil { continue }
        if judgement.refusal != list.judgement.refusal || judgement.isComplete != list.isComplete
          || judgement.isRepeat != list.judgement.isRepeat
        {
          faults.append(
            "run \(list.run) of \(feed) is stored as \(words(list.judgement, list.isComplete)), "
              + "but by the lists around it is \(words(judgement, judgement.isComplete)); "
              + "bowser ingest --reprocess \(list.run) judges it again, also by changed limits of the feed"
          )
        }
      }
      begins = ends
    }
    let stated = try store.ledger.statedLists(of: number, from: .distantPast, until: .distantFuture)
    let judged = Freeze.judged(stated.map(\.list), from: .distantPast)
    for ((run, list), judged) in zip(stated, judged) where list != judged {
      func words(_ list: StatedList) -> String {
        list.frozenSince.map { "frozen since \($0)" } ?? "not frozen"
      }
      faults.append(
        "run \(run) of \(feed) is stored as \(words(list)), but by the lists around it is "
          + words(judged) + "; bowser aggregate --rebuild judges it again")
    }
    return faults
  }

  private static let part: Int64 = 14 * 86_400_000_000

  private static func words(_ judgement: ListJudgement, _ isComplete: Bool) -> String {
    if let refusal = judgement.refusal { return "refused (\(refusal))" }
    return isComplete ? "complete" : judgement.isRepeat ? "a repeat" : "not complete"
  }

  /// Judges again the lists after a refused one, which still takes part in the judgement of others.
  /// This is the last step of the transaction that records the refusal. Where it changes what is
  /// believed, the refused run gets a number in the order of commits.
  ///
  /// - Returns: lists that were refused when they arrived, were not stored, and would be believed
  ///   now.
  package func judgeAgain(beside refused: ListSummary, of run: RunID) throws -> [RunID] {
    let (changed, turnedFrom, unread) = try judgeAgain(around: refused.takenAt)
    var refold = Refold(store, of: source)
    try TimelineUpdate(store, now: now).make(
      refold.follow(changed, turnedFrom: turnedFrom, now: now).windows)
    if !changed.isEmpty || turnedFrom != nil { try store.ledger.numberChange(run) }
    return unread
  }

  /// Judges again which lists of all feeds are frozen, and notes the spans that change with that.
  package static func restoreFrozen(in store: Store, now: Instant) throws {
    for (source, _) in try store.ledger.feeds() {
      try store.transaction {
        try store.spans.lockTimeline()
        let turnedFrom = try judgeFrozen(
          store, of: source, from: .distantPast, until: .distantFuture)
        var refold = Refold(store, of: source)
        try store.due.touch(refold.follow([], turnedFrom: turnedFrom, now: now).windows)
      }
    }
  }

  /// Withdraws a run, or counts it again. Runs in a transaction of its own.
  ///
  /// - Returns: lists that were refused when they arrived, were not stored, and would be believed
  ///   now.
  package func decide(
    _ run: RunID, takenAt: Instant, counts: Bool, reason: String
  ) throws -> [RunID] {
    try store.transaction {
      try store.spans.lockTimeline()
      try store.ledger.set(run, counts: counts)
      let (changed, turnedFrom, unread) = try judgeAgain(around: takenAt)
      var refold = Refold(store, of: source)
      try TimelineUpdate(store, now: now).make(
        refold.follow(
          [ChangedRun(run, takenAt: takenAt)] + changed, turnedFrom: turnedFrom, now: now
        ).windows)
      try store.ledger.note(run, counts: counts, reason: reason, at: now)
      if counts { try store.ledger.noteToRead([run]) }
      return unread
    }
  }
}
