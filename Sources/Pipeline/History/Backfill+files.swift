import Archives
import Foundation

/// The digests of files, by which a load recognises them.
extension Backfill {
  /// Computes the BLAKE2 digest of each file in hex. A file that cannot be read has none. BLAKE2 is
  /// the quickest of the digests that every machine has a program for.
  static func digests(_ all: [String]) throws -> [String: String] {
    var digests: [String: String] = [:]
    // Two processes run at a time, each with no more names than any command line allows.
    let size = min(200, max(1, (all.count + 1) / 2))
    let batches = stride(from: 0, to: all.count, by: size).map { begin in
      Array(all[begin..<min(begin + size, all.count)])
    }
    for begin in stride(from: 0, to: batches.count, by: 2) {
      let running = try batches[begin..<min(begin + 2, batches.count)].map { paths in
        // Lines end with NUL, so that no name needs escaping.
        try ByteStream(["b2sum", "--length=256", "--zero", "--"] + paths)
      }
      for stream in running {
        let lines = String(decoding: try stream.all(), as: UTF8.self)
        // A file that cannot be read has no line; the other files have theirs.
        _ = try stream.finish()
        for line in lines.split(separator: "\0") {
          let parts = line.split(separator: " ", maxSplits: 1)
          guard parts.count == 2 else { continue }
          digests[String(parts[1].dropFirst())] = String(parts[0])
        }
      }
    }
    return digests
  }
}
