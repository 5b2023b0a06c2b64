import Foundation

/// Answers with a content encoding, true or false.
extension Fault {
  /// An answer with a content encoding. `change` receives the body as gzip.
  private static func gzip(
    _ name: String, _ result: Result, encoding: String = "gzip",
    _ change: @escaping @Sendable (_ zipped: [UInt8], _ random: inout Random) throws -> [UInt8]
  ) -> Fault {
    Fault(name, ["F-H17"], result) { sound, random in
      do {
        let body = try change(try zipped(sound.body), &random)
        return whole(body, type: sound.type, ["Content-Encoding: \(encoding)"])
      } catch {
        return .text(501, "this fault needs gzip: \(error)")
      }
    }
  }

  /// An answer with a plain body whose header names a content encoding.
  private static func mislabelled(_ name: String, _ encoding: String) -> Fault {
    Fault(name, ["F-H17"], .unavailable) { sound, _ in
      whole(sound.body, type: sound.type, ["Content-Encoding: \(encoding)"])
    }
  }

  static let compressions: [Fault] = [
    gzip("gzip", .harmless) { zipped, _ in zipped },
    // Raw deflate without header and trailer. Some servers send it as "deflate", against the
    // standard.
    gzip("deflate-raw", .harmless, encoding: "deflate") { zipped, _ in
      Array(zipped.dropFirst(10).dropLast(8))
    },
    // The client delivers the part as if it were the whole body. Only the document shows that it is
    // cut.
    gzip("gzip-truncated", .refused) { zipped, random in
      Array(zipped.prefix(random.integer(zipped.count / 4...zipped.count * 3 / 4)))
    },
    gzip("gzip-bad-checksum", .unavailable) { zipped, _ in
      var zipped = zipped
      zipped[zipped.count - 8] ^= 0xFF
      return zipped
    },
    gzip("gzip-trailing-junk", .unavailable) { zipped, _ in zipped + Array("junk after it".utf8) },
    gzip("gzip-twice", .refused) { zipped, _ in try Simulator.zipped(zipped) },
    gzip("gzip-unnamed", .refused, encoding: "identity") { zipped, _ in zipped },
    mislabelled("gzip-in-name-only", "gzip"),
    mislabelled("brotli-in-name-only", "br"),
    mislabelled("unknown-encoding", "shrunk"),
    gzip("gzip-bomb", .refused) { _, _ in try bomb.get() },
  ]
}

// MARK: - gzip

/// A body as gzip without name and date, so that the bytes are always the same.
func zipped(_ body: [UInt8]) throws -> [UInt8] {
  // The input is a file. With pipes at both ends, this process and gzip could wait for each other.
  let plain = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  try Data(body).write(to: plain)
  defer {
    // If this fails, a small file remains in a folder that the system empties.
    try? FileManager.default.removeItem(at: plain)
  }
  return try output(of: "gzip -9 -n -c '\(plain.path)'")
}

/// Zeros that decompress to more than any client accepts. Made once, on first use.
private let bomb = Result {
  try output(of: "head -c \(hugeMegabytes << 20) /dev/zero | gzip -9 -n")
}

private func output(of command: String) throws -> [UInt8] {
  let shell = Process()
  shell.executableURL = URL(filePath: "/bin/sh")
  shell.arguments = ["-c", command]
  let pipe = Pipe()
  shell.standardOutput = pipe
  try shell.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  shell.waitUntilExit()
  guard shell.terminationStatus == 0 else {
    throw Server.Failure(description: "status \(shell.terminationStatus) of: \(command)")
  }
  return [UInt8](data)
}
