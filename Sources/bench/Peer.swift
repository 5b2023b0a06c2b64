import Foundation

/// Another program that computes the same daily averages in its own best form: a program of
/// `Sources/bench/Peers`, which a Python interpreter runs as a process of its own.
struct Peer {
  let name: String
  let version: String
  private let words: [String]

  /// What a program made of the price changes.
  struct Averages: Decodable {
    var rows: Int
    /// The mean of all averages, in cents per litre.
    var mean: Double

    var text: String { "\(rows), mean \(String(format: "%.3f", mean)) c/L" }
  }

  /// The peers, each with its name in Python.
  static let all = [(name: "DuckDB", module: "duckdb"), (name: "polars", module: "polars")]

  /// Returns a peer if one of two interpreters can import it: the one that `config/cluster tools`
  /// makes, or the caller's.
  static func find(_ name: String, module: String, _ bench: Bench) -> Peer? {
    for python in [".build/tools/python/bin/python", "python3"] {
      let words = [python, "Sources/bench/Peers/averages_\(module).py"]
      guard let done = try? bench.run(words + ["version"]) else { continue }
      let version = done.output.trimmingCharacters(in: .whitespacesAndNewlines)
      return Peer(name: name, version: version, words: words)
    }
    return nil
  }

  /// Computes the averages from the files in the folder of the benchmark. Only the computation is
  /// timed, and not the conversion of the facts to Parquet before it.
  ///
  /// - Throws: an error if the program fails.
  func run(_ bench: Bench) throws -> (finished: Bench.Finished, averages: Averages) {
    _ = try bench.run(words + ["prepare", bench.folder])
    let done = try bench.run(words + ["run", bench.folder])
    return (done, try JSONDecoder().decode(Averages.self, from: Data(done.output.utf8)))
  }
}
