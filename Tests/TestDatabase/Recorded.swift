package import Foundation

/// Recorded answers of the real providers, in a folder beside the checkout where somebody has them.
package enum Recorded {
  /// The folder; `nil`: there is none, and tests that need it print a message and are skipped.
  package static let folder: URL? = {
    let url = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../shared/feeds/samples").standardized
    return FileManager.default.fileExists(atPath: url.path) ? url : nil
  }()

  package static var isMissing: Bool {
    if folder == nil { print("skipped: no recorded answers beside this checkout") }
    return folder == nil
  }

  /// Returns the bytes of a file, decompressed where its name ends in .gz.
  package static func bytes(_ path: String) throws -> [UInt8] {
    guard let url = folder?.appending(path: path) else { throw CocoaError(.fileNoSuchFile) }
    guard path.hasSuffix(".gz") else { return [UInt8](try Data(contentsOf: url)) }
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-dc", url.path]
    let pipe = Pipe()
    gzip.standardOutput = pipe
    try gzip.run()
    let bytes = [UInt8](pipe.fileHandleForReading.readDataToEndOfFile())
    gzip.waitUntilExit()
    return bytes
  }
}
