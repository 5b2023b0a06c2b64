package import FuelModel

/// The validity span of a price: the time during which one price of a station and fuel is believed.
///
/// The end of a station and fuel's last span may still be open. An open span is believed until
/// `until`, and beyond that for as long as the lists of `seenBy` show the price, but never past
/// `lapsesAt`.
package struct Span: Sendable, Equatable {
  package var from: Instant
  /// The end of the span. Of an open span, the end if no further list shows the price.
  package var until: Instant
  /// Until when the price would be believed if it had been seen all the time. Between `until` and
  /// this instant the price counts as reported but too old to believe.
  package var lapsesAt: Instant
  /// Whether future lists can extend the span.
  package var isOpen: Bool
  /// Whether a later report ended the price. That report lies at `lapsesAt`, even where belief in
  /// the price ended earlier. If false, the price lapsed.
  package var isEnded: Bool
  /// Tenths of a cent per litre; never 0.
  package var price: Int32
  /// The source that reported the beginning of the price, and the source that reported it last.
  package var sourceID: Int16
  package var seenBy: Int16
  /// The instant of the last report of the price. It is later than `from` where the price was
  /// stated again.
  package var statedAt: Instant
  /// When the last report of the price was first fetched.
  package var learntAt: Instant
  /// Whether the price lies so far from the station's other prices that it has to be compared with
  /// those of the neighbours.
  package var isSuspect = false
  package var doubt: Doubt?

  package init(
    from: Instant, until: Instant, lapsesAt: Instant, isOpen: Bool, isEnded: Bool, price: Int32,
    sourceID: Int16, seenBy: Int16, statedAt: Instant, learntAt: Instant
  ) {
    self.from = from
    self.until = until
    self.lapsesAt = lapsesAt
    self.isOpen = isOpen
    self.isEnded = isEnded
    self.price = price
    self.sourceID = sourceID
    self.seenBy = seenBy
    self.statedAt = statedAt
    self.learntAt = learntAt
  }

  /// The latest possible end of the span. No further list can extend it beyond this.
  package var latestEnd: Instant { isOpen ? lapsesAt : until }

  /// Whether the price was ever believed. A last report that was already too old when it was made
  /// is shown, but its span has no length.
  var isBelieved: Bool { from < latestEnd }

  /// Returns the span with the end that follows from the known lists: an open span is extended by
  /// the newest complete list.
  ///
  /// - Parameters:
  ///   - rules: the rules for its fuel, by source.
  ///   - sightings: by feed, the times during which its lists follow one another.
  package func believed(rules: [Int16: ReportRules], sightings: [Int16: Coverage]) -> Span {
    guard isOpen, let list = sightings[seenBy]?.last(before: .distantFuture),
      let rule = rules[seenBy]
    else { return self }
    var span = self
    span.until = min(lapsesAt, max(until, list.after(rule.sightLapse)))
    return span
  }
}

/// Makes the validity spans of one station and fuel from everything that was reported about them.
///
/// This function alone decides which price is believed at an instant. The newest report holds,
/// whichever source made it, but that of an archive only until the first complete list after it
/// that shows another price, or leaves out what its feed has reported. Of two reports for the same
/// instant, the one that was reported last holds; if that is equal too, that of a feed rather than
/// that of an archive; and of several the one with the higher price.
///
/// - Parameters:
///   - evidence: in any order. The result depends only on the set of the evidence.
///   - rules: by source. Reports of sources without rules do not count.
///   - sightings: by feed, the times during which its lists follow one another.
///   - lists: by feed and in order, when complete lists were taken: at least the first one after
///     each report of an archive.
/// - Returns: the spans in order of time, without overlap. Adjoining spans differ in price.
package func spans(
  of evidence: [Evidence], rules: [Int16: ReportRules], sightings: [Int16: Coverage],
  lists: [Int16: [Instant]] = [:]
) -> [Span] {
  var reports = reports(of: evidence, rules: rules)
  reports.sort(rules)
  reports.addShown(by: lists, rules: rules)
  var spans: [Span] = []
  for (position, report) in reports.all.enumerated() where report.price > 0 {
    guard let rule = rules[report.sourceID] else { continue }
    let next = position + 1 < reports.all.count ? reports.all[position + 1].at : nil
    if let next, next <= report.at { continue }
    let listing = reports.listing(of: report.recordID, before: next ?? .distantFuture)
    let unseen = listing.flatMap {
      reports.unseen(report.recordID, since: $0.at, before: next ?? .distantFuture)
    }
    let isListed = listing?.isListed ?? false && unseen == nil
    var lapses = min(next ?? .distantFuture, report.lapse(by: rule))
    // A price that was first read after it had begun was seen at the time of that reading.
    var seen = max(report.stampedAt, report.learntAt.after(-rule.delay))
    if listing?.isListed ?? false, let unseen,
      let last = sightings[report.sourceID]?.last(before: unseen.after(1))
    {
      seen = max(seen, min(last, unseen))
    }
    if let next, isListed, let last = sightings[report.sourceID]?.last(before: next) {
      seen = max(seen, last)
    }
    let until = min(lapses, seen.after(rule.sightLapse))
    // A price that is already too old when it is first reported gets a span only if nothing follows
    // it, so that it is shown as too old.
    guard report.at < lapses || next == nil else { continue }
    lapses = max(lapses, report.at)
    let isOpen = next == nil && isListed
    var span = Span(
      from: report.at, until: max(until, report.at), lapsesAt: lapses, isOpen: isOpen,
      isEnded: next == lapses, price: report.price, sourceID: report.sourceID,
      seenBy: report.sourceID, statedAt: report.statedAt ?? report.at, learntAt: report.learntAt)
    if let last = spans.last, last.price == span.price, last.until == span.from {
      span.from = last.from
      span.sourceID = last.sourceID
      spans.removeLast()
    }
    spans.append(span)
  }
  return spans
}

/// The beginning or the end of a price: either a stamped report, or what follows from a complete
/// list that leaves a price out, or from a list that shows it again.
private struct Report {
  var recordID: Int32
  var sourceID: Int16
  var at: Instant
  var price: Int32
  /// The stamp that the price carries.
  var stampedAt: Instant
  var learntAt: Instant
  /// When the last unbroken series of reports of the price began. Of two prices with one stamp, the
  /// one reported last holds.
  var reportedAt: Instant
  /// When the price was reported last, where that is not `at`.
  var statedAt: Instant?

  /// Until when the price would be believed if it had been seen all the time.
  func lapse(by rule: ReportRules) -> Instant {
    min(stampedAt.after(rule.priceLapse), rule.covered?.end(from: at) ?? .distantFuture)
  }
}

private struct Reports {
  var all: [Report] = []
  /// By station record, in order of time: the reports that state prices with their stamps.
  var stamped: [Int32: [Report]] = [:]
  /// By station record, in order of time: where lists show it again, and where complete ones leave
  /// it out.
  var listings: [Int32: [(at: Instant, isListed: Bool)]] = [:]
  /// By station record: when the last list was taken before lists that do not show it and are not
  /// complete.
  var unseen: [Int32: [Instant]] = [:]
  /// By station record of `listings`: its feed.
  var feeds: [Int32: Int16] = [:]

  mutating func sort(_ rules: [Int16: ReportRules]) {
    all.sort { left, right in
      if left.at != right.at { return left.at < right.at }
      if left.reportedAt != right.reportedAt { return left.reportedAt < right.reportedAt }
      let isArchived = rules[left.sourceID]?.covered != nil
      if isArchived != (rules[right.sourceID]?.covered != nil) { return isArchived }
      return left.price < right.price
    }
  }

  /// Merges equal prices with the same stamp of one station record into one report. The report
  /// keeps the `learntAt` of its first run. Its `reportedAt` is the `learntAt` of the run that began
  /// the last unbroken series of such reports: how many rows a series has depends on which answers
  /// count.
  mutating func fold() {
    all.sort { left, right in
      if left.at != right.at { return left.at < right.at }
      if left.recordID != right.recordID { return left.recordID < right.recordID }
      if left.learntAt != right.learntAt { return left.learntAt < right.learntAt }
      return left.price < right.price
    }
    var kept = 0
    // Where the reports of the present stamp and record begin, and the price of the last row.
    var begin = 0
    var last: Int32?
    for position in all.indices {
      let report = all[position]
      if begin == kept || all[begin].at != report.at || all[begin].recordID != report.recordID {
        begin = kept
        last = nil
      }
      if last == report.price { continue }
      last = report.price
      if let known = all[begin..<kept].firstIndex(where: { $0.price == report.price }) {
        all[known].reportedAt = report.learntAt
      } else {
        all[kept] = report
        kept += 1
      }
    }
    all.removeSubrange(kept...)
  }

  /// Drops reports in which a feed without stamps repeats the price before them, because that price
  /// simply continues. Such a repetition arises where a list shows again what one before left out,
  /// and in facts from before answers were kept. The reports must be in order of time.
  mutating func dropRepeated(rules: [Int16: ReportRules]) {
    guard rules.values.contains(where: { !$0.isStamped }) else { return }
    var prices: [Int32: Int32] = [:]
    all.removeAll { report in
      guard rules[report.sourceID]?.isStamped == false else { return false }
      return prices.updateValue(report.price, forKey: report.recordID) == report.price
    }
  }

  /// Returns when a station record that lists showed again at an instant was last seen by the lists
  /// before another instant; `nil` where the newest of these shows it.
  func unseen(_ record: Int32, since listed: Instant, before instant: Instant) -> Instant? {
    unseen[record]?.filter { $0 >= listed && $0 < instant }.min()
  }

  func isListed(_ record: Int32, at instant: Instant) -> Bool {
    listings[record]?.last { $0.at <= instant }?.isListed ?? false
  }

  /// Whether a list left out another station record of the station, after `begin` and no later than
  /// `end`.
  func isEnded(besides record: Int32, after begin: Instant, until end: Instant) -> Bool {
    listings.contains { other, statements in
      other != record && statements.contains { !$0.isListed && $0.at > begin && $0.at <= end }
    }
  }
}

private func reports(of evidence: [Evidence], rules: [Int16: ReportRules]) -> Reports {
  var reports = Reports()
  reports.all.reserveCapacity(evidence.count)
  for line in evidence where rules[line.sourceID] != nil {
    if line.kind == .price {
      reports.add(line, price: line.price, stampedAt: line.at)
    } else if line.kind == .unseen {
      reports.unseen[line.recordID, default: []].append(line.at)
    } else {
      reports.listings[line.recordID, default: []].append((line.at, line.kind == .listed))
      reports.feeds[line.recordID] = line.sourceID
    }
  }
  reports.fold()
  reports.dropRepeated(rules: rules)
  guard !reports.listings.isEmpty else { return reports }
  for record in reports.listings.keys {
    // Of two lists taken at one instant, the one that shows the price counts.
    reports.listings[record]?.sort { ($0.at, $0.isListed ? 1 : 0) < ($1.at, $1.isListed ? 1 : 0) }
  }
  reports.stamped = Dictionary(grouping: reports.all, by: \.recordID)
  for line in evidence {
    guard let rule = rules[line.sourceID] else { continue }
    switch line.kind {
    case .unlisted: reports.end(line, delay: rule.delay)
    case .listed: reports.resume(line)
    case .price, .unseen: break
    }
  }
  return reports
}

extension Reports {
  fileprivate mutating func add(_ evidence: Evidence, price: Int32, stampedAt: Instant) {
    all.append(
      Report(
        recordID: evidence.recordID, sourceID: evidence.sourceID, at: evidence.at,
        price: price, stampedAt: stampedAt, learntAt: evidence.learntAt,
        reportedAt: evidence.learntAt))
  }

  /// Adds what follows from a list that leaves a price out.
  fileprivate mutating func end(_ line: Evidence, delay: Int64) {
    // A list that leaves out what the list before it left out adds nothing, unless a price was
    // reported between the two. Then it ends that price.
    if let before = listing(of: line.recordID, before: line.at), !before.isListed,
      !(stamped[line.recordID] ?? []).contains(where: {
        $0.learntAt.after(-delay) > before.at && $0.learntAt.after(-delay) <= line.at
      })
    {
      return
    }
    // A station that is still listed under another station record goes on selling at that record's
    // price.
    let others = listings.keys.filter { $0 != line.recordID && isListed($0, at: line.at) }
    let other = newest(of: others, at: line.at)
    var line = line
    line.recordID = other?.recordID ?? line.recordID
    line.sourceID = other?.sourceID ?? line.sourceID
    add(line, price: other?.price ?? 0, stampedAt: other?.at ?? line.at)
  }

  /// Adds what follows from a list that shows a price.
  fileprivate mutating func resume(_ line: Evidence) {
    guard let last = newest(of: [line.recordID], at: line.at) else { return }
    // Being listed for the first time is not a report, because the stamp states when the price
    // began. It is one if a list has left out another record of the station since that stamp.
    let before = listing(of: line.recordID, before: line.at)
    if before?.isListed ?? !isEnded(besides: line.recordID, after: last.at, until: line.at) {
      return
    }
    add(line, price: last.price, stampedAt: last.at)
  }

  /// Adds what complete lists show that are later than reports of an archive. The reports must be in
  /// order.
  fileprivate mutating func addShown(by lists: [Int16: [Instant]], rules: [Int16: ReportRules]) {
    let lists = lists.filter { feeds.values.contains($0.key) }
    guard !lists.isEmpty else { return }
    var found: [Report] = []
    for (position, report) in all.enumerated() {
      guard let rule = rules[report.sourceID], rule.covered != nil else { continue }
      let next = position + 1 < all.count ? all[position + 1].at : .distantFuture
      found += shown(by: lists, after: report, until: report.lapse(by: rule), next, rules)
    }
    guard !found.isEmpty else { return }
    all += found
    sort(rules)
  }

  /// Returns what complete lists show between a report of an archive and the next report. Another
  /// price, or none, holds from that list on, whatever its stamp. The same price goes on with the
  /// lists when the archive is no longer believed.
  private func shown(
    by lists: [Int16: [Instant]], after archived: Report, until lapse: Instant, _ next: Instant,
    _ rules: [Int16: ReportRules]
  ) -> [Report] {
    let firsts = lists.compactMapValues { lists in
      lists[lists.prefixCount { $0 < archived.at }...].first.flatMap { $0 < next ? $0 : nil }
    }
    guard let first = firsts.values.min() else { return [] }
    // Later lists show something else only where one of them shows or leaves out another record.
    let changes = (listings.values.joined().map(\.at) + [lapse]).filter { $0 > first && $0 < next }
    var found: [Report] = []
    for at in Set(firsts.values).union(changes).sorted() {
      let records = feeds.filter { firsts[$0.value].map { $0 <= at } ?? false }.keys
      let listed = records.filter { isListed($0, at: at) }
      guard var shown = newest(of: listed, at: at) ?? gap(of: records, at: at),
        let rule = rules[shown.sourceID]
      else { continue }
      if let last = found.last {
        if shown.price == last.price, shown.stampedAt == last.stampedAt { continue }
      } else if shown.price == archived.price {
        guard at >= lapse, at < shown.lapse(by: rule) else { continue }
      }
      shown.learntAt = max(shown.learntAt, at.after(rule.delay))
      if found.isEmpty, at == lapse, first < lapse {
        shown.statedAt = archived.at
        shown.learntAt = archived.learntAt
      }
      shown.at = at
      shown.reportedAt = at
      found.append(shown)
    }
    return found
  }

  /// Returns that a list leaves out what its feed has reported before, unless another feed shows the
  /// station.
  private func gap(of records: some Sequence<Int32>, at list: Instant) -> Report? {
    guard let record = records.filter({ listings[$0]?.contains { $0.at <= list } ?? false }).min(),
      let feed = feeds[record], !listings.keys.contains(where: { isListed($0, at: list) })
    else { return nil }
    return Report(
      recordID: record, sourceID: feed, at: list, price: 0, stampedAt: list, learntAt: list,
      reportedAt: list)
  }

  func listing(of record: Int32, before instant: Instant) -> (at: Instant, isListed: Bool)? {
    listings[record]?.last { $0.at < instant }
  }

  private func newest(of records: some Sequence<Int32>, at instant: Instant) -> Report? {
    records.sorted().compactMap { record in
      guard let reports = stamped[record] else { return nil }
      let end = reports.prefixCount { $0.at <= instant }
      guard end > 0 else { return nil }
      let begin = reports.prefixCount { $0.at < reports[end - 1].at }
      return reports[begin..<end].max { ($0.reportedAt, $0.price) < ($1.reportedAt, $1.price) }
    }.max { ($0.at, $0.reportedAt, $0.price) < ($1.at, $1.reportedAt, $1.price) }
  }
}
