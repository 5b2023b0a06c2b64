import Feeds
import Foundation
import FuelModel
import HTTP
import Pipeline
import Postgres
import Simulator
import Store
import TestDatabase
import Testing

/// Runs every fault of the simulator, by its name there, through a whole run: tests what the run
/// ends as, and that nothing of the answer is stored.
///
/// F-H03, F-H04, F-H05, F-H06, F-H08, F-H09, F-H10, F-H11, F-H12, F-H13, F-H14, F-H15, F-H16,
/// F-H17, F-H18, F-P01, F-P02, F-P03, F-P06, F-P07, F-P08, F-J01, F-J02, F-J03, F-J04, F-J05,
/// F-J07, F-J08, F-P05, F-P09, F-X01, F-X02, F-X03, F-X05, F-X06, F-X07, F-X08, F-X10, F-Z02,
/// F-Z03, F-Z05, F-Z07, F-Z08, F-Z12.
struct FaultTests {
  /// Faults that end the process on this platform. CommandTests runs them in a separate process.
  static let deadly: Set<String> = ["head-cut"]

  @Test(.longer, arguments: ["nsw-fuelcheck", "wa-fuelwatch"])
  func everyFaultEndsAsItShould(feed: String) async throws {
    let format = feed == "wa-fuelwatch" ? "xml" : "json"
    try await TestDatabase.with { target in
      let bench = try Bench(
        target, environment: ["BOWSER_NSW_FUELCHECK_SNAPSHOT_MINUTES": "1"])
      let connection = try Connection(target)
      try await bench.ingest(feed, at: Bench.end - .seconds(86_400 * 3))
      var random = Random(seed: 7, "faults", feed)
      var met = 0
      var at = Bench.end - .seconds(86_400 * 2)
      let faults = Fault.all.filter {
        ($0.format == nil || $0.format == format) && !Self.deadly.contains($0.name)
      }
      // The short form runs every twelfth fault, a different twelfth for each feed.
      let step = Long.count(short: 12, long: 1)
      for index in stride(from: format == "xml" ? step / 2 : 0, to: faults.count, by: step) {
        let fault = faults[index]
        met += 1
        at = at + .seconds(600)
        let before = try bench.stored()
        let seed = random.integer(0...1_000_000)
        bench.misbehave { request in
          guard !request.path.contains("accesstoken"),
            case .text(let status, let body, let type, _) = bench.feeds.answer(request)
          else { return nil }
          var random = Random(seed: UInt64(seed), "fault", fault.name)
          return fault.spoil((status, Array(body.utf8), type), &random)
        }
        let result: Fault.Result?
        do {
          try await bench.ingest(
            feed, at: at, attempts: 2,
            // An answer may take its time on a busy machine. A server that hangs need not get that
            // time.
            timeoutSeconds: fault.result == .unavailable ? 3 : 240)
          result = .harmless
        } catch let error as FeedError {
          switch error {
          case .unavailable, .addressRefused: result = .unavailable
          case .notAllowed: result = .notAllowed
          case .comeBack, .outOfTime: result = .comeBack
          case .malformed, .refused: result = .refused
          }
        } catch is Refusal {
          result = .refused
        } catch {
          Issue.record("\(fault.name): \(error)")
          continue
        }
        #expect(result == fault.result, "\(fault.name)")
        if result != .harmless {
          // The rejects of a refused run are kept, and nothing else.
          let after = try bench.stored()
          #expect(Set(after).isSuperset(of: before), "\(fault.name) lost something")
          #expect(after.count - before.count < 2_000, "\(fault.name)")
          #expect(
            try bench.lines(
              """
              SELECT outcome IN ('refused', 'failed') AS a, stored, error IS NOT NULL AS b,
                received = stored + unchanged + duplicate + rejected AS c
              FROM fuel_v1.ingest_runs ORDER BY run_id DESC LIMIT 1
              """) == ["t|0|t|t"], "\(fault.name)")
        }
        bench.misbehave(nil)
        // The next fault must be reached even if this one asked for a pause.
        try connection.execute("UPDATE fuel.source SET not_before_at = NULL")
      }
      #expect(faults.count > 90 && met >= faults.count / step)
      #expect(
        try connection.lines(
          "SELECT count(*) FROM fuel.price WHERE run_id IN (SELECT run_id FROM fuel.run WHERE outcome IN ('refused', 'failed'))"
        )
          == ["0"])
      // After all faults the feed works as before.
      #expect(try await bench.ingest(feed, at: Bench.end).counts.received > 50)
    }
  }
}
