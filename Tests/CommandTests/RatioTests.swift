import Foundation
import Testing

/// The picture of the benchmark shows what was recorded. `bench` draws it from a file of results.
struct RatioTests {
  private static func draw(_ results: String) async throws -> String {
    let beside = CommandTests.process([], "", [:]).executableURL?.deletingLastPathComponent()
    let result = try await tool(beside?.appending(path: "bench").path ?? "", ["draw", results])
    try #require(result.code == 0, "\(result.err)")
    return result.out
  }

  /// docs/bench/ratios.svg is the picture of docs/bench/results.jsonl, and docs/benchmarks.md shows
  /// it.
  @Test func thePageShowsTheRecordedResults() async throws {
    let docs = IntegrationTests.root + "/docs"
    let drawn = try await Self.draw(docs + "/bench/results.jsonl")
    let kept = try String(contentsOfFile: docs + "/bench/ratios.svg", encoding: .utf8)
    let isSame = drawn == kept
    #expect(isSame, "docs/benchmarks.md says how ratios.svg is drawn again")
    let page = try String(contentsOfFile: docs + "/benchmarks.md", encoding: .utf8)
    #expect(page.contains("](bench/ratios.svg)"))
  }

  /// Returns an invented run as a line of a file of results.
  ///
  /// - Parameters:
  ///   - load: a ratio of rates, which should be high.
  ///   - average: a ratio of times, which should be low.
  private static func run(_ commit: String, on processor: String, load: Double, average: Double)
    -> String
  {
    let figures = """
      {"what":"load, of L","here":"1 krow/s","ratio":\(load),"goal":{"wanted":0.7,"hold":0.5}},\
      {"what":"memory","here":"71 MB","limit":"150 MB"},\
      {"what":"averages, of <b>","here":"1 s","ratio":\(average),"goal":{"wanted":1.2,"hold":2}}
      """
    return """
      {"commit":"\(commit)","date":"2026-07-01T10:00:00Z",\
      "machine":{"cores":2,"memory":24,"processor":"\(processor)"},"versions":{"PostgreSQL":"15.1"},\
      "parts":[{"name":"part","rows":10,"seconds":1.5,"loadBefore":0.25,"loadAfter":2,\
      "figures":[\(figures)]}]}

      """
  }

  /// Each ratio has a panel, and each run a dot in it: at the height of its ratio, and marked where
  /// it is beyond what the goal allows. Only runs of one machine are joined by a line.
  @Test func everyRunIsADot() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    let lines = [
      Self.run("first", on: "this", load: 0.6, average: 1.5),
      Self.run("second", on: "this", load: 0.4, average: 2.5),
      Self.run("third", on: "that", load: 0.55, average: 1),
    ]
    try lines.joined(separator: "").write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let picture = try await Self.draw(path)
    let dots = picture.split(separator: "\n").filter { $0.hasPrefix("<circle") }
    try #require(dots.count == 6)
    #expect(dots[0].hasPrefix(#"<circle class="dot" cx="24.0" cy="61.7""#), "\(dots[0])")
    #expect(dots[1].hasPrefix(#"<circle class="missed" cx="197.0" cy="82.4""#), "\(dots[1])")
    #expect(dots[2].hasPrefix(#"<circle class="dot" cx="370.0" cy="66.9""#), "\(dots[2])")
    #expect(dots[1].contains("<title>0.4, second, 2026-07-01T10:00:00Z, this, load 0.25 before"))
    let missed = dots[3...].map { $0.contains(#"class="missed""#) }
    #expect(missed == [false, true, false])
    #expect(picture.components(separatedBy: "<polyline").count - 1 == 4)
    #expect(picture.contains("goal ≥ 0.7<") && picture.contains("hold ≤ 2<"))
    #expect(picture.contains("averages, of &lt;b&gt;<") && !picture.contains("memory"))
  }
}
