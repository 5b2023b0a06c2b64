/// Answers whose bytes arrive wrongly: false lengths, broken heads, slow and cut connections.
extension Fault {
  /// An answer that announces a false or malformed length.
  private static func length(
    _ name: String, _ result: Result,
    _ fields: @escaping @Sendable (_ count: Int) -> [String]
  ) -> Fault {
    Fault("length-\(name)", ["F-H15"], result) { sound, _ in
      .raw([head(["Content-Type: \(sound.type)"] + fields(sound.body.count)) + sound.body])
    }
  }

  /// An answer in chunked encoding. `change` receives the encoded chunks.
  private static func chunks(
    _ name: String, _ result: Result, _ fields: [String] = [],
    _ change: @escaping @Sendable (_ chunks: [[UInt8]], _ random: inout Random) -> [[UInt8]]
  ) -> Fault {
    Fault(name, ["F-H15"], result) { sound, random in
      let fields = ["Content-Type: \(sound.type)", "Transfer-Encoding: chunked"] + fields
      let parts = change(chunked(sound.body, &random), &random)
      return .raw([head(fields) + parts.joined()])
    }
  }

  static let lengths: [Fault] = [
    length("too-large", .unavailable) { ["Content-Length: \($0 + 100)"] },
    // The client ignores the rest of the body.
    length("too-small", .refused) { ["Content-Length: \($0 / 2)"] },
    length("zero", .refused) { _ in ["Content-Length: 0"] },
    length("negative", .unavailable) { _ in ["Content-Length: -5"] },
    length("no-number", .unavailable) { _ in ["Content-Length: many"] },
    length("twice", .unavailable) { ["Content-Length: \($0)", "Content-Length: \($0 + 100)"] },
    chunks("chunked", .harmless) { chunks, _ in chunks },
    // By the protocol the chunks determine the body, and the length is ignored.
    chunks("chunked-and-length", .harmless, ["Content-Length: 1"]) { chunks, _ in chunks },
    chunks("chunk-cut", .unavailable) { chunks, random in
      let last = random.integer(0...chunks.count - 2)
      return chunks[..<last] + [Array(chunks[last].dropLast(3))]
    },
    // All data arrive. Only the mark of their end is missing.
    chunks("chunk-end-missing", .unavailable) { chunks, _ in chunks.dropLast() },
    chunks("chunk-size-garbage", .unavailable) { chunks, random in
      let at = random.integer(0...chunks.count - 2)
      return chunks[..<at] + [Array("zz\r\n".utf8)] + chunks[at...]
    },
    Fault("unannounced-length", ["F-H16"], .harmless) { sound, _ in
      .raw([head(["Content-Type: \(sound.type)"]) + sound.body])
    },
    Fault("unannounced-length-cut", ["F-H16"], .refused) { sound, random in
      .raw([head(["Content-Type: \(sound.type)"]) + cut(sound.body, &random)])
    },
  ]

  static let connections: [Fault] = [
    Fault("closed-at-once", ["F-H15"], .unavailable) { _, _ in .raw([]) },
    Fault("head-garbage", ["F-H15"], .unavailable) { _, random in
      let letters = (0..<200).map { _ in UInt8(random.integer(0x21...0x7E)) }
      return .raw([letters + Array("\r\n\r\n".utf8)])
    },
    // If the head ends at certain bytes, URLSession of Swift 6.3 on Linux ends the whole process
    // ("Transfer completed, but there's no response"). A run that meets this fault needs a process
    // of its own.
    Fault("head-cut", ["F-H15"], .unavailable) { sound, random in
      let head = head(["Content-Type: \(sound.type)"])
      return .raw([Array(head.prefix(random.integer(1...head.count - 3)))])
    },
    Fault("interim-head-only", ["F-H15"], .unavailable) { _, _ in .raw([interimHead]) },
    Fault("interim-head", ["F-H15"], .harmless) { sound, _ in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      return .raw([interimHead + head(fields) + sound.body])
    },
    Fault("head-of-unknown-version", ["F-H15"], .unavailable) { sound, _ in
      .raw([Array("HTTP/7.3 200 OK\r\n\r\n".utf8) + sound.body])
    },
    // The silence lasts longer than any client of the tests waits.
    Fault("silence", ["F-H03"], .unavailable) { _, _ in .silence(seconds: 30) },
    Fault("trickle", ["F-H04"], .unavailable) { sound, _ in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      return .raw([head(fields)] + sound.body.prefix(60).map { [$0] }, pauseMilliseconds: 500)
    },
    Fault("stall", ["F-H04"], .unavailable) { sound, _ in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      return .raw(
        [head(fields) + sound.body.prefix(sound.body.count / 2)], pauseMilliseconds: 30_000)
    },
    // Slow, but complete within a moment.
    Fault("pieces", ["F-H04"], .harmless) { sound, random in
      let fields = ["Content-Type: \(sound.type)", "Content-Length: \(sound.body.count)"]
      let first = random.integer(0...sound.body.count)
      let second = random.integer(first...sound.body.count)
      let body = sound.body
      return .raw(
        [head(fields), Array(body[..<first]), Array(body[first..<second]), Array(body[second...])],
        pauseMilliseconds: 20)
    },
  ]
}

// MARK: - Sizes

/// More than the client's default limit of 16 MB.
let hugeMegabytes = 80

extension Fault {
  static let sizes: [Fault] = [
    Fault("huge-body", ["F-H18"], .refused) { sound, _ in
      // One part is sent many times, so that only the client needs much memory.
      let part = [UInt8](repeating: 0x20, count: 1 << 20)
      let parts = Array(repeating: part, count: hugeMegabytes)
      return .raw([head(["Content-Type: \(sound.type)"])] + parts)
    },
    Fault("huge-length", ["F-H18"], .unavailable) { sound, _ in
      whole(sound.body, type: sound.type, announcing: hugeMegabytes << 20)
    },
    Fault("header-of-a-megabyte", ["F-H18"], .unavailable) { sound, _ in
      whole(sound.body, type: sound.type, ["X-Long: " + String(repeating: "x", count: 1 << 20)])
    },
    Fault("ten-thousand-headers", ["F-H18"], .harmless) { sound, _ in
      whole(sound.body, type: sound.type, (0..<10_000).map { "X-\($0): y" })
    },
  ]
}

/// The status "Continue". Another head must follow.
private let interimHead = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

/// A body in chunks of random size. The empty last chunk ends it.
private func chunked(_ body: [UInt8], _ random: inout Random) -> [[UInt8]] {
  var chunks: [[UInt8]] = []
  var rest = body[...]
  while !rest.isEmpty {
    let part = rest.prefix(random.integer(1...16_384))
    rest = rest.dropFirst(part.count)
    let size = String(part.count, radix: 16)
    chunks.append(Array("\(size)\r\n".utf8) + part + Array("\r\n".utf8))
  }
  return chunks + [Array("0\r\n\r\n".utf8)]
}
