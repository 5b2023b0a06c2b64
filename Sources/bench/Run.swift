import Foundation

/// What one run of the benchmark measured, and under which conditions. As JSON it is one line of
/// `docs/bench/results.jsonl`.
struct Run: Encodable {
  /// The processor, the number of cores, and the memory in gibibytes.
  struct Machine: Encodable {
    var processor: String
    var cores: Int
    var memory: Int
  }

  struct Part: Encodable {
    var name: String
    /// The number of prices that the part loads or computes with.
    var rows = 0
    var seconds = 0.0
    /// The load average of the last minute, before and after the part. Before a part it contains
    /// what the parts before it caused.
    var loadBefore: Double
    var loadAfter = 0.0
    var figures: [Figure] = []
  }

  struct Figure: Encodable {
    var what: String
    /// What was measured, with its unit.
    var here: String
    /// The same as a ratio to the yardstick that `what` names.
    var ratio: Double?
    var goal: Goal?
  }

  /// Which ratio is wanted, and the one beyond which the design is wrong. Ratios of rates should be
  /// high, so that `wanted` is more than `hold`. Ratios of times should be low.
  struct Goal: Encodable {
    var wanted: Double
    var hold: Double
  }

  /// When the run began, in UTC: 2026-07-01T10:00:00Z.
  var date = Date().ISO8601Format()
  /// The commit of the program that was measured, with `+` where files differed from it.
  var commit = "unknown"
  var machine = Machine.this
  /// The versions of the server and of DuckDB, by name. DuckDB has none where it is not installed.
  var versions: [String: String] = [:]
  var parts: [Part] = []

  /// The run as one line of JSON.
  func line() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

extension Run.Machine {
  static var this: Run.Machine {
    let processor = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("model name") }?
      .split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) }
    return Run.Machine(
      processor: processor ?? "unknown processor", cores: ProcessInfo.processInfo.processorCount,
      memory: Int((Double(ProcessInfo.processInfo.physicalMemory) / 1_073_741_824).rounded()))
  }

  /// The load average of the last minute, as the kernel states it.
  static func load() throws -> Double {
    let text = try String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
    return text.split(separator: " ").first.flatMap { Double($0) } ?? 0
  }
}

/// Returns a number with three significant digits and without zeros at the end.
func short(_ number: Double) -> String { String(format: "%.3g", number) }
