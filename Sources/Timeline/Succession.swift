package import FuelModel

/// How a feed's list goes on with a newer price of a station record that the lists before it showed.
package struct Succession: Sendable, Equatable {
  /// The stamp of the price that the feed showed before.
  package var stampedBefore: Instant
  /// When the newest complete list before this one was taken. It showed the station record.
  package var listedAt: Instant
  package var report: Evidence

  package init(stampedBefore: Instant, listedAt: Instant, report: Evidence) {
    self.stampedBefore = stampedBefore
    self.listedAt = listedAt
    self.report = report
  }
}

/// Makes the last spans of a station and fuel again after a feed's list has gone on with a newer
/// price. The last span says what was reported last, so nothing else has to be read.
///
/// - Parameters:
///   - last: the last span before the report.
///   - rules: by source.
///   - sightings: by feed, the times during which its complete lists follow one another.
/// - Returns: the last span as it ends now and the one that follows it, or one span where the price
///   is the same; `nil` where the last span does not say enough.
package func spans(
  after last: Span, _ succession: Succession, rules: [Int16: ReportRules],
  sightings: [Int16: Coverage]
) -> [Span]? {
  let report = succession.report
  // The span was reported last by the price that the feed showed before, and by nothing else since,
  // such as another source, or a list without the station.
  guard last.isOpen, last.seenBy == report.sourceID, last.statedAt == succession.stampedBefore,
    report.price > 0, report.at > last.statedAt, let rule = rules[report.sourceID], rule.isStamped,
    // Another record of the station may have been listed again at that very instant.
    last.lapsesAt == last.statedAt.after(rule.priceLapse)
  else { return nil }
  var before = report
  before.at = last.statedAt
  before.price = last.price
  before.learntAt = last.learntAt
  let listed = Evidence(
    kind: .listed, recordID: report.recordID, sourceID: report.sourceID, at: succession.listedAt,
    learntAt: succession.listedAt)
  var made = spans(of: [before, listed, report], rules: rules, sightings: sightings)
  // Where the new price began before the list, lists before that one may have shown the old price
  // too. That matters only if belief in the old price ended before the new one.
  guard let first = made.first, first.from == before.at,
    succession.listedAt < report.at || first.latestEnd >= report.at
  else { return nil }
  made[0].from = last.from
  made[0].sourceID = last.sourceID
  return made
}
