import Foundation

/// DuckDB, which computes the same daily averages in its own best form: a program of
/// `Sources/bench/Peers`, which a Python interpreter runs as a process of its own.
struct Peer {
  let version: String
  private let words: [String]

  /// What a program made of the price changes.
  struct Averages: Decodable {
    var rows: Int
    /// The mean of all averages, in cents per litre.
    var mean: Double

    var text: String { "\(rows), mean \(String(format: "%.3f", mean)) c/L" }
  }

  /// Fails where neither of two interpreters can import it: the one that `config/cluster tools`
  /// makes, and the caller's.
  init?(_ bench: Bench) {
    for python in [".build/tools/python/bin/python", "python3"] {
      let words = [python, "Sources/bench/Peers/averages_duckdb.py"]
      guard let done = try? bench.run(words + ["version"]) else { continue }
      self.words = words
      version = done.output.trimmingCharacters(in: .whitespacesAndNewlines)
      return
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
