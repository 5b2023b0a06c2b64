package import Foundation

/// Answers of all providers and files of archives.
///
/// Invented ones are part of the repository, in the forms in which the providers write. Recorded
/// ones belong to the providers and are read as well where somebody has them in a folder beside the
/// checkout. Both have the same file names. Figures of the invented ones were counted by a program
/// that shares nothing with the one under test.
package struct Samples: Sendable, CustomStringConvertible {
  package let areRecorded: Bool
  private let feeds: URL
  private let archives: URL

  package static let invented: Samples = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
    return Samples(
      areRecorded: false, feeds: root.appending(path: "feeds"),
      archives: root.appending(path: "archives"))
  }()

  /// The invented samples, and the recorded ones if they are there: the arguments of a test.
  package static let all: [Samples] = {
    let root = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../shared").standardized
    let recorded = Samples(
      areRecorded: true, feeds: root.appending(path: "feeds/samples"),
      archives: root.appending(path: "archives/samples"))
    let areThere = [recorded.feeds, recorded.archives].allSatisfy {
      FileManager.default.fileExists(atPath: $0.path)
    }
    return areThere ? [invented, recorded] : [invented]
  }()

  package var description: String { areRecorded ? "recorded" : "invented" }

  /// Returns the paths of all answers.
  package func answers() throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: feeds.path).filter { $0.contains("/") }
      .sorted()
  }

  package func hasAnswer(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: feeds.appending(path: path).path)
  }

  /// Returns the bytes of an answer, decompressed where its name ends in .gz.
  package func answer(_ path: String) throws -> [UInt8] {
    try Self.bytes(of: feeds.appending(path: path))
  }

  /// Returns where a file or a folder of an archive is.
  package func archive(_ path: String) -> URL { archives.appending(path: path) }

  /// Returns the bytes of a file, decompressed where its name ends in .gz.
  package static func bytes(of file: URL) throws -> [UInt8] {
    guard file.path.hasSuffix(".gz") else { return [UInt8](try Data(contentsOf: file)) }
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-dc", file.path]
    let pipe = Pipe()
    gzip.standardOutput = pipe
    try gzip.run()
    let bytes = [UInt8](pipe.fileHandleForReading.readDataToEndOfFile())
    gzip.waitUntilExit()
    guard gzip.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
    return bytes
  }
}
