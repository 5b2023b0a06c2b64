package import FuelModel
package import Store
import Timeline

/// Makes the facts of a feed follow from the answers that count, where these have changed.
///
/// A change reaches from the newest complete list before it to the oldest one after it, because
/// after a complete list a feed shows that list, whatever it showed before. The answers of this
/// window are folded again, and what differs from the stored facts is written. After an answer that
/// is newer than all others, the fold goes on from what the feed showed before.
package struct Refold {
  private let store: Store
  private let source: SourceID
  /// What answers state, as far as they have been read.
  private var lines: [RunID: [Answer.Line]] = [:]

  init(_ store: Store, of source: SourceID) {
    self.store = store
    self.source = source
  }

  /// Returns what a feed shows before an answer that is not kept yet, and whether no answer is kept
  /// that was taken later. Folds the answers up to an instant, from the newest complete list on.
  mutating func before(_ instant: Instant) throws -> (shown: Shown, isNewest: Bool) {
    let counted = try store.answers.answers(of: source, from: instant, until: instant).filter(
      \.counts)
    let earlier = Self.fromLastList(in: counted.filter { $0.takenAt <= instant }, before: instant)
    var shown = Shown()
    try read(earlier) { _ = shown.take($1) }
    return (shown, counted.allSatisfy { $0.takenAt <= instant })
  }

  /// Keeps what an answer states.
  mutating func keep(_ stated: [Answer.Line], of run: RunID, documents: [String]) throws {
    try store.answers.keep(stated, of: run, source: source, documents: documents, known: &lines)
  }

  /// Stores the facts of a kept answer that is newer than all others, and makes anew all that hangs
  /// on them beside spans.
  ///
  /// - Parameter shown: what the feed shows before it.
  /// - Returns: as `follow` does.
  func append(
    _ answer: KeptAnswer, to shown: Shown, now: Instant
  ) throws -> (facts: FactChanges, windows: [Window]) {
    var shown = shown
    var seen: Set<Fact> = []
    let facts = answer.counts ? shown.take(stated(answer)) : []
    return try write(
      FactChanges(new: facts.filter { seen.insert($0).inserted }, answers: [answer]),
      after: [answer.run], isAppended: true, now: now)
  }

  /// Makes the facts anew that hang on some answers: kept, withdrawn, judged otherwise. Makes anew
  /// all that hangs on facts beside spans.
  ///
  /// - Parameters:
  ///   - runs: the runs of these answers. Without any, facts stay as they are.
  ///   - turnedFrom: when the first list was taken that begins to be frozen or ceases to be.
  /// - Returns: how the facts change, and the station records and fuels whose spans change, with the
  ///   instant from which they do.
  mutating func follow(
    _ runs: [ChangedRun], turnedFrom: Instant?, now: Instant
  ) throws -> (facts: FactChanges, windows: [Window]) {
    let instants = runs.map(\.takenAt)
    guard let first = instants.min(), let last = instants.max() else {
      let same = FactChanges(new: [], answers: [])
      return turnedFrom == nil
        ? (same, []) : try write(same, after: [], turnedFrom: turnedFrom, now: now)
    }
    let days = try store.answers.days(toldBy: runs.map(\.run), of: source)
    let answers =
      try days.map { try store.answers.answers(of: source, about: $0) }
      ?? store.answers.answers(of: source, from: first, until: last)
    return try write(
      difference(answers, from: first, days: days.map { Set($0) }), after: runs.map(\.run),
      turnedFrom: turnedFrom, now: now)
  }

  /// Writes how facts change, and makes anew all that hangs on facts beside spans.
  private func write(
    _ changes: FactChanges, after runs: [RunID], isAppended: Bool = false,
    turnedFrom: Instant? = nil, now: Instant
  ) throws -> (facts: FactChanges, windows: [Window]) {
    try store.answers.write(changes, of: source)
    let windows = try store.ledger.propagate(
      changes, of: source, after: runs, isAppended: isAppended, turnedFrom: turnedFrom, now: now)
    return (changes, windows)
  }

  /// Compares the stored facts of answers with those that follow from them.
  ///
  /// - Parameters:
  ///   - answers: in order, from a complete list before `from` on.
  ///   - days: for a feed that reports whole days, the days that are compared.
  private mutating func difference(
    _ answers: [KeptAnswer], from: Instant, days: Set<Instant>?
  ) throws -> FactChanges {
    let counted = Self.fromLastList(in: answers.filter(\.counts), before: from)
    var shown = Shown()
    var facts: Set<Fact> = []
    try read(counted) { kept, answer in
      var answer = answer
      if let days { answer.lines.removeAll { !days.contains($0.stamp) } }
      let stated = shown.take(answer)
      if kept.takenAt >= from, !kept.isAdopted { facts.formUnion(stated) }
    }
    var stored = try store.answers.facts(
      of: answers.filter { $0.takenAt >= from && !$0.isAdopted }.map(\.run), source: source)
    if let days { stored = stored.filter { days.contains($0.at) } }
    return FactChanges(
      new: Array(facts.lazy.filter { !stored.contains($0) }),
      gone: Array(stored.subtracting(facts)),
      answers: answers)
  }

  /// Leaves out the answers before the newest complete list that was taken before an instant.
  private static func fromLastList(
    in counted: [KeptAnswer], before instant: Instant
  ) -> ArraySlice<KeptAnswer> {
    counted[(counted.lastIndex { $0.kind == .complete && $0.takenAt < instant } ?? 0)...]
  }

  // How many answers are read at a time. Lists that are not complete may follow one another for
  // weeks, and each may have tens of thousands of lines.
  private static let atOnce = 32

  /// Reads answers in order, a part of them at a time.
  private mutating func read(
    _ answers: some RandomAccessCollection<KeptAnswer>,
    _ body: (KeptAnswer, Answer) throws -> Void
  ) throws {
    var rest = answers[...]
    while !rest.isEmpty {
      let part = rest.prefix(Self.atOnce)
      rest = rest.dropFirst(part.count)
      let unread = part.map(\.run).filter { lines[$0] == nil }
      lines.merge(try store.answers.lines(of: unread)) { _, new in new }
      for answer in part {
        try body(answer, stated(answer))
      }
      if !rest.isEmpty { lines = [:] }
    }
  }

  /// Returns what an answer states that has been read.
  private func stated(_ answer: KeptAnswer) -> Answer {
    Answer(
      run: answer.run.number, takenAt: answer.takenAt, kind: answer.kind,
      lines: lines[answer.run] ?? [])
  }

  // MARK: All answers

  /// Makes the facts of all feeds anew.
  package static func restore(_ store: Store, now: Instant) throws {
    for (source, _) in try store.ledger.feeds() {
      var next: Instant? = .distantPast
      while let begins = next {
        // In parts, so that no ingest has to wait for all of them.
        next = try store.transaction {
          try store.spans.lockTimeline()
          let (changes, next) = try difference(of: source, in: store, from: begins)
          guard !changes.isEmpty else { return next }
          try store.due.touch(
            Refold(store, of: source).write(changes, after: [], now: now).windows)
          return next
        }
      }
    }
  }

  /// Finds the stored facts that do not follow from the answers of their feeds, and those that are
  /// missing.
  ///
  /// - Returns: one line of text for each run.
  package static func faults(in store: Store) throws -> [String] {
    try store.ledger.feeds().flatMap { source, feed in
      var counts: [Int: (missing: Int, invented: Int)] = [:]
      var next: Instant? = .distantPast
      while let begins = next {
        let (changes, following) = try difference(of: source, in: store, from: begins)
        for fact in changes.new { counts[fact.run, default: (0, 0)].missing += 1 }
        for fact in changes.gone { counts[fact.run, default: (0, 0)].invented += 1 }
        next = following
      }
      return counts.sorted { $0.key < $1.key }.map { run, count in
        "run \(run) of \(feed): \(count.missing) facts of its answer are missing, and "
          + "\(count.invented) are stored that do not follow from it; "
          + "bowser aggregate --rebuild makes them anew"
      }
    }
  }

  /// Compares the stored facts of some answers of a feed with those that follow.
  ///
  /// - Parameter begins: the first of the answers is taken then or later.
  /// - Returns: also the instant from which the next answers are compared; `nil` where none is left.
  private static func difference(
    of source: SourceID, in store: Store, from begins: Instant
  ) throws -> (FactChanges, next: Instant?) {
    let (part, next) = try store.answers.answers(of: source, after: begins, atMost: 48)
    guard let first = part.first?.takenAt else {
      return (FactChanges(new: [], answers: []), next)
    }
    var refold = Refold(store, of: source)
    let days = try store.answers.days(toldBy: part.map(\.run), of: source)
    let answers =
      try days.map { try store.answers.answers(of: source, about: $0) }
      ?? store.answers.answers(of: source, from: first, until: first).filter { $0.takenAt < first }
      + part
    return (try refold.difference(answers, from: first, days: days.map { Set($0) }), next)
  }
}
