package import FuelModel

/// The time during which one price of a station and fuel is believed.
///
/// Of the last span of a pair the end is not known yet: it is believed until `until`, and for as long as the
/// lists of `seenBy` show it, but never past `lapsesAt`.
package struct Span: Sendable, Equatable {
  package var from: Instant
  /// Of an open span: the end if no list shows it any more.
  package var until: Instant
  /// Until when it would be believed had it been seen all the time. Between `until` and this a price was
  /// reported and is too old to believe.
  package var lapsesAt: Instant
  /// Whether lists to come keep it alive.
  package var isOpen: Bool
  /// Whether a report ended it, at `lapsesAt` if it was not believed for so long. Otherwise it lapsed.
  package var isEnded: Bool
  /// Tenths of a cent per litre; never 0.
  package var price: Int32
  /// The source that reported its beginning, and the one that reported it last.
  package var sourceID: Int16
  package var seenBy: Int16
  /// When its last report began: later than `from` where a price was stated again.
  package var statedAt: Instant
  /// When its last report was first fetched.
  package var learntAt: Instant
  /// Whether it lies so far from the station's other prices that its neighbours are asked.
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

  /// How far it may reach: past this nothing confirms it.
  package var latestEnd: Instant { isOpen ? lapsesAt : until }

  /// Whether it ever held: a last report that was too old when it was made is shown, and holds for no time.
  var isBelieved: Bool { from < latestEnd }

  /// The span with its end as it is believed by what is known: an open one is kept alive by the newest list.
  ///
  /// - Parameters:
  ///   - rules: of its fuel, by source.
  ///   - sightings: by feed, when its complete lists were taken.
  package func believed(rules: [Int16: ReportRules], sightings: [Int16: Coverage]) -> Span {
    guard isOpen, let list = sightings[seenBy]?.last(before: .distantFuture),
      let rule = rules[seenBy]
    else { return self }
    var span = self
    span.until = min(lapsesAt, max(until, list.after(rule.sightLapse)))
    return span
  }
}

/// Why a price is left out of averages, and for how long.
package struct Doubt: Sendable, Equatable {
  package enum Reason: String, Sendable {
    /// Far from the station's own prices before and after, and no neighbour charges about as much.
    case far
    /// One price for every grade of petrol.
    case placeholder
  }

  package var reason: Reason
  package var from: Instant
  package var until: Instant

  package init(reason: Reason, from: Instant, until: Instant) {
    self.reason = reason
    self.from = from
    self.until = until
  }
}

/// Makes the spans of one station and fuel from everything that was reported of it.
///
/// This is the one place that says which price is believed at an instant. The newest report holds, whoever
/// made it; of two for one instant the one told last, then the higher price.
///
/// - Parameters:
///   - evidence: in any order. The result depends on the set only.
///   - rules: by source. Reports of other sources do not count.
///   - sightings: by feed, when its complete lists were taken.
/// - Returns: in order of time, none overlapping another; neighbours differ in price or have a gap.
package func spans(
  of evidence: [Evidence], rules: [Int16: ReportRules], sightings: [Int16: Coverage]
) -> [Span] {
  var reports = reports(of: evidence, rules: rules)
  reports.all.sort { left, right in
    if left.at != right.at { return left.at < right.at }
    if left.toldAt != right.toldAt { return left.toldAt < right.toldAt }
    return left.price < right.price
  }
  var spans: [Span] = []
  for (position, report) in reports.all.enumerated() where report.price > 0 {
    guard let rule = rules[report.sourceID] else { continue }
    let next = position + 1 < reports.all.count ? reports.all[position + 1].at : nil
    if let next, next <= report.at { continue }
    let isListed = reports.isListed(report.recordID, before: next ?? .distantFuture)
    var lapses = min(next ?? .distantFuture, report.stampedAt.after(rule.priceLapse))
    // What was first read later than it began was seen then.
    var seen = max(report.stampedAt, report.learntAt.after(-rule.delay))
    if let next, isListed, let last = sightings[report.sourceID]?.last(before: next) {
      seen = max(seen, last)
    }
    if let covered = rule.covered { lapses = min(lapses, covered.end(from: report.at)) }
    let until = min(lapses, seen.after(rule.sightLapse))
    // What is too old already when it is first reported is no price, but is shown as one that is too old.
    guard report.at < lapses || next == nil else { continue }
    lapses = max(lapses, report.at)
    let isOpen = next == nil && isListed
    var span = Span(
      from: report.at, until: max(until, report.at), lapsesAt: lapses, isOpen: isOpen,
      isEnded: next == lapses, price: report.price, sourceID: report.sourceID,
      seenBy: report.sourceID, statedAt: report.at, learntAt: report.learntAt)
    if let last = spans.last, last.price == span.price, last.until == span.from {
      span.from = last.from
      span.sourceID = last.sourceID
      spans.removeLast()
    }
    spans.append(span)
  }
  return spans
}

/// A price that begins or ends: what was stamped, or what a complete list says by leaving a price out or
/// taking it up again.
private struct Report {
  var recordID: Int32
  var sourceID: Int16
  var at: Instant
  var price: Int32
  /// The stamp that the price carries.
  var stampedAt: Instant
  var learntAt: Instant
  /// When it was learnt last: of two prices under one stamp the one told last holds.
  var toldAt: Instant
}

private struct Reports {
  var all: [Report] = []
  /// By record, in order of time.
  var listings: [Int32: [(at: Instant, isListed: Bool)]] = [:]

  /// One price under one stamp is one report, learnt with the first run that made it and told until the last.
  mutating func fold() {
    all.sort { left, right in
      if left.at != right.at { return left.at < right.at }
      if left.recordID != right.recordID { return left.recordID < right.recordID }
      if left.price != right.price { return left.price < right.price }
      return left.learntAt < right.learntAt
    }
    var kept = 0
    for position in all.indices {
      if kept > 0, all[kept - 1].at == all[position].at,
        all[kept - 1].recordID == all[position].recordID,
        all[kept - 1].price == all[position].price
      {
        all[kept - 1].toldAt = all[position].learntAt
        continue
      }
      all[kept] = all[position]
      kept += 1
    }
    all.removeSubrange(kept...)
  }

  /// Drops prices that a feed without stamps tells again, which go on as they were: a list that came late tells first
  /// what a later one seemed to begin. In order of time.
  mutating func dropRepeated(rules: [Int16: ReportRules]) {
    guard rules.values.contains(where: { !$0.isStamped }) else { return }
    var prices: [Int32: Int32] = [:]
    all.removeAll { report in
      guard rules[report.sourceID]?.isStamped == false else { return false }
      return prices.updateValue(report.price, forKey: report.recordID) == report.price
    }
  }

  func isListed(_ record: Int32, before instant: Instant) -> Bool {
    listings[record]?.last { $0.at < instant }?.isListed ?? false
  }

  func isListed(_ record: Int32, at instant: Instant) -> Bool {
    listings[record]?.last { $0.at <= instant }?.isListed ?? false
  }

  /// Whether another record of the station was taken off a list in a time.
  func isEnded(besides record: Int32, after begin: Instant, until end: Instant) -> Bool {
    listings.contains { other, said in
      other != record && said.contains { !$0.isListed && $0.at > begin && $0.at <= end }
    }
  }
}

private func reports(of evidence: [Evidence], rules: [Int16: ReportRules]) -> Reports {
  var reports = Reports()
  reports.all.reserveCapacity(evidence.count)
  func add(_ evidence: Evidence, price: Int32, stampedAt: Instant) {
    reports.all.append(
      Report(
        recordID: evidence.recordID, sourceID: evidence.sourceID, at: evidence.at,
        price: price, stampedAt: stampedAt, learntAt: evidence.learntAt,
        toldAt: evidence.learntAt))
  }
  var hasListings = false
  for line in evidence where rules[line.sourceID] != nil {
    if line.kind == .price {
      add(line, price: line.price, stampedAt: line.at)
    } else {
      hasListings = true
      reports.listings[line.recordID, default: []].append((line.at, line.kind == .listed))
    }
  }
  reports.fold()
  reports.dropRepeated(rules: rules)
  guard hasListings else { return reports }
  for record in reports.listings.keys {
    // Of two lists of one instant the one that shows more counts.
    reports.listings[record]?.sort { ($0.at, $0.isListed ? 1 : 0) < ($1.at, $1.isListed ? 1 : 0) }
  }
  let stamped = reports.all
  func newest(of records: some Collection<Int32>, at instant: Instant) -> Report? {
    stamped.filter { records.contains($0.recordID) && $0.at <= instant }.max {
      ($0.at, $0.toldAt, $0.price) < ($1.at, $1.toldAt, $1.price)
    }
  }
  for var line in evidence where line.kind != .price {
    guard let rule = rules[line.sourceID] else { continue }
    let before = reports.listings[line.recordID]?.last { $0.at < line.at }
    if line.kind == .unlisted {
      // A list may say again what the one before it says. That ends what was reported in between.
      if let before, !before.isListed,
        !stamped.contains(where: {
          $0.recordID == line.recordID && $0.learntAt.after(-rule.delay) > before.at
            && $0.learntAt.after(-rule.delay) <= line.at
        })
      {
        continue
      }
      // A station that is listed under another record goes on selling at the price of that one.
      let others = reports.listings.keys.filter {
        $0 != line.recordID && reports.isListed($0, at: line.at)
      }
      let other = newest(of: others, at: line.at)
      line.recordID = other?.recordID ?? line.recordID
      line.sourceID = other?.sourceID ?? line.sourceID
      add(line, price: other?.price ?? 0, stampedAt: other?.at ?? line.at)
      continue
    }
    guard let last = newest(of: [line.recordID], at: line.at) else { continue }
    // Being listed for the first time is no report, because the stamp tells when the price began; unless another
    // record of the station was taken off a list since then.
    if before?.isListed ?? !reports.isEnded(besides: line.recordID, after: last.at, until: line.at)
    {
      continue
    }
    add(line, price: last.price, stampedAt: last.at)
  }
  return reports
}
