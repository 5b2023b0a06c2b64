/// More than the client's default limit of 16 MB.
let hugeMegabytes = 80

/// Answers that are larger than any client should take.
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
