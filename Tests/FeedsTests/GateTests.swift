import Feeds
import Foundation
import FuelModel
import Simulator
import Testing

/// Hostile documents are refused before much work is done on them. Each document is read as its
/// provider's parser reads it.
struct GateTests {
  private static let source = try? Sample.source("nsw-fuelcheck")

  private static func station(_ code: String, name: String = "Shell") -> String {
    """
    {"brandid":"1","stationid":"\(code)","brand":"Shell","code":"\(code)","name":"\(name)",
    "address":"1 High St, SYDNEY NSW 2000","location":{"latitude":-33.86,"longitude":151.2},"state":"NSW"}
    """
  }

  private static func price(_ code: String, fuel: String = "U91") -> String {
    """
    {"stationcode":"\(code)","fueltype":"\(fuel)","price":189.9,"lastupdated":"02/07/2026 03:00:00"}
    """
  }

  private static func document(
    _ stations: [String], _ prices: [String], more: String = ""
  ) -> String {
    "{\"stations\":[\(stations.joined(separator: ","))],\"prices\":[\(prices.joined(separator: ","))]\(more)}"
  }

  private static let stations = (1...10).map { station("\($0)") }
  private static let prices = (1...10).map { price("\($0)") }

  private func read(_ text: String) throws -> Reading.Distinct {
    let source = try #require(Self.source)
    let now = try #require(Instant(iso: "2026-07-02T12:00:00Z"))
    let document = Document(name: "prices", bytes: Array(text.utf8), fetchedAt: now)
    return try source.provider.parse([document], of: source).distinct(
      takenAt: now, horizon: source.horizon)
  }

  /// F-N23: a key is the same key, with or without escapes.
  @Test(arguments: ["pri\\u0063e", "\\u0070rice", "\\u0070\\u0072\\u0069\\u0063\\u0065"])
  func keysByEscapeStandTwice(key: String) throws {
    let text = Self.document(Self.stations, Self.prices).replacing(
      "\"price\":189.9", with: "\"price\":189.9,\"\(key)\":250.0")
    let error = #expect(throws: FeedError.self) { try read(text) }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.contains("appears twice"), "\(message)")
  }

  /// The seconds of processor time that this thread has used. Unlike time by the clock, they hardly
  /// depend on what else runs.
  private func secondsOfThisThread() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// F-N18: an object with many keys is refused, in less than quadratic time.
  @Test func manyKeysAreRefused() throws {
    let keys = (0..<400_000).map { "\"k\($0)\":0" }.joined(separator: ",")
    let began = secondsOfThisThread()
    let error = #expect(throws: FeedError.self) {
      try read(Self.document([], [], more: "," + keys))
    }
    #expect("\(error!)".contains("keys"), "\(error!)")
    #expect(secondsOfThisThread() - began < 5)
  }

  /// F-N16, F-N18: a name of several megabytes that is a single character with combining marks is
  /// refused. A shorter one is cut to a number of Unicode scalars.
  @Test func marksWithoutEnd() throws {
    let huge = String(repeating: "\u{301}", count: 5_000_000)
    #expect(throws: FeedError.self) {
      try read(Self.document([Self.station("1", name: "a" + huge)], Self.prices))
    }
    let mixed = "a" + String(repeating: "\u{301}\u{323}", count: 300_000)
    let began = secondsOfThisThread()
    let reading = try read(
      Self.document(
        [Self.station("1", name: mixed)],
        Self.prices + [Self.price(mixed), Self.price("1", fuel: mixed)]))
    #expect(secondsOfThisThread() - began < 10)
    #expect(reading.stations[0].name.unicodeScalars.count <= 1 + InputLimit.marks.value)
    #expect(reading.observations.count + reading.rejects.count == 12)
  }

  /// F-N17: a record whose code is empty or too long for an index is rejected, and its station is
  /// not kept.
  @Test func codesAreCodes() throws {
    let long = "1" + String(repeating: "x\u{301}\u{301}\u{301}\u{301}", count: 3_000)
    for code in [long, "\\u0000", "\u{200b}"] {
      let reading = try read(
        Self.document(
          [Self.station(code)] + Self.stations.dropFirst(),
          [Self.price(code)] + Self.prices.dropFirst()))
      #expect(reading.stations.allSatisfy { !$0.code.isEmpty && $0.code.utf8.count <= 1_000 })
      #expect(reading.received == 10)
      #expect(reading.observations.count + reading.rejects.count == 10)
    }
    let fuel = "Z" + String(repeating: "y\u{301}", count: 9_000)
    let reading = try read(
      Self.document(Self.stations, Self.prices + [Self.price("1", fuel: fuel)]))
    #expect(reading.rejects.map(\.reason) == [.unknownFuel])
    #expect(reading.rejects.allSatisfy { $0.raw.utf8.count <= 2_000 })
  }

  /// F-N15: the kept text of a rejected record contains no NUL.
  @Test func rejectsHoldNoNUL() throws {
    let bad = "{\"stationcode\":\"\\u0000evil\",\"fueltype\":null,\"price\":\"x\\u0000y\"}"
    let reading = try read(Self.document(Self.stations, Self.prices + [bad]))
    #expect(reading.rejects.count == 1)
    #expect(reading.rejects.allSatisfy { !$0.raw.utf8.contains(0) && $0.raw.contains("evil") })
  }

  /// F-N20: a document type is refused, whatever character follows its keyword.
  @Test(arguments: ["", "\u{483}", "\u{5bf}", "\u{93e}", "\u{200d}"])
  func documentTypesAreRefused(mark: String) throws {
    let source = try Sample.source("wa-fuelwatch")
    let text = """
      <?xml version="1.0" encoding="UTF-8"?><!DOCTYPE\(mark)rss [<!ENTITY x "ENT">]><rss version="2.0"><channel>
      <item><title>189.9: A&x;B</title></item></channel></rss>
      """
    let document = Document(
      name: "today-1", bytes: Array(text.utf8), fetchedAt: Instant(seconds: 0))
    let error = #expect(throws: FeedError.self) {
      try source.provider.parse([document], of: source)
    }
    #expect("\(error!)".contains("document type"), "\(error!)")
  }

  /// F-N41: empty instructions, tags that hide their end in quotes, and excessive nesting are
  /// refused before a parser sees them, however the bytes are split into pieces.
  @Test(arguments: [
    ("<?xml?><rss/>", "a processing instruction without content"),
    ("<rss><?a?></rss>", "a processing instruction without content"),
    (
      "<?xml version=\"1.0\"><?a?><rss/>", "an XML declaration that does not end with ?>"
    ),
    ("<rss a=\">\(String(repeating: " b=''", count: 3_000))/>", "a tag of more than 8192 bytes"),
    ("<rss \(String(repeating: " b=''", count: 3_000))/>", "a tag of more than 8192 bytes"),
    (String(repeating: "<a>", count: 65), "more than 64 nested elements"),
    (String(repeating: " ", count: 65_537), "no element in the first 65536 bytes"),
    ("<?xml version='1.0' encoding = 'UTF-7'?><rss/>", "declares an encoding other than UTF-8"),
    ("<rss version=\"2.0><?a?></rss>", "a tag inside a tag"),
    ("<rss <?a?>", "a tag inside a tag"),
    ("x<rss/>", "text before the first element"),
    ("<rss><!ELEMENT a></rss>", "a document type is refused"),
    ("<rss><!-></rss>", "a document type is refused"),
    (String(repeating: "<a/>", count: 101), "more than 100 elements"),
    (
      "<rss><![CDATA[\(String(repeating: "x", count: 2_097_153))",
      "a text of more than 2097152 bytes"
    ),
  ])
  func theGateOfBytesRefuses(text: String, reason: String) {
    for size in [1, 7, 1 << 22] {
      #expect(passing(text, inPiecesOf: size) == reason)
    }
  }

  /// F-N41: a name that is not UTF-8 would crash the parser, so it is refused before.
  @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3]])
  func theGateOfBytesRefusesWhatIsNotUTF8(bytes: [UInt8]) {
    for size in [1, 2, 3, 5, 100] {
      #expect(
        passing(Array("<rss".utf8) + bytes + Array("/>".utf8), inPiecesOf: size) == "not UTF-8")
    }
  }

  @Test func theGateOfBytesLetsSoundDocumentsThrough() {
    let sound = [
      "\u{FEFF}<?xml version='1.0' encoding='utf-8'?>\u{20}<!-- \u{E9}\u{20AC}\u{1F600} -->\n<!-- > <a --><rss a='>' b=\"/\"><a/><![CDATA[<]]]></rss>",
      "<?xml-stylesheet href='a'?>" + String(repeating: "<a>", count: 64)
        + String(repeating: "</a>", count: 64) + String(repeating: "<a></a>", count: 30),
    ]
    for text in sound {
      for size in [1, 3, 1_000] { #expect(passing(text, inPiecesOf: size) == nil, "\(text)") }
    }
  }

  private func passing(_ text: String, inPiecesOf size: Int) -> String? {
    passing(Array(text.utf8), inPiecesOf: size)
  }

  private func passing(_ bytes: [UInt8], inPiecesOf size: Int) -> String? {
    var gate = XMLGate(elements: 100)
    for start in stride(from: 0, to: bytes.count, by: size) {
      let piece = bytes[start..<min(start + size, bytes.count)]
      if let reason = piece.withUnsafeBufferPointer({ gate.refusal(of: $0) }) { return reason }
    }
    return nil
  }

  /// F-N18: a tag with thousands of attributes is refused before a parser compares all of them with
  /// each other.
  @Test func manyAttributesAreRefused() throws {
    let source = try Sample.source("wa-fuelwatch")
    let attributes = (0..<400_000).map { "a\($0)=\"x\"" }.joined(separator: " ")
    let text = "<rss version=\"2.0\"><channel><item \(attributes)></item></channel></rss>"
    let document = Document(
      name: "today-1", bytes: Array(text.utf8), fetchedAt: Instant(seconds: 0))
    let began = secondsOfThisThread()
    let error = #expect(throws: FeedError.self) {
      try source.provider.parse([document], of: source)
    }
    #expect("\(error!)".contains("a tag of more than"), "\(error!)")
    #expect(secondsOfThisThread() - began < 5)
  }

  /// `plain` changes nothing when it is applied a second time, whatever the text.
  @Test func plainTextStaysAsItIs() {
    var random = Random(seed: 14, "plain text")
    let pieces: [ClosedRange<UInt32>] = [
      0x00...0x7F, 0x300...0x36F, 0x900...0x97F, 0xAC00...0xD7A3, 0x1100...0x11FF, 0x200B...0x206F,
      0xFB1D...0xFB4F, 0x340...0x345, 0x1D15E...0x1D164, 0xD4E...0xD4E, 0x0...0x10FFFF,
    ]
    for _ in 0..<20_000 {
      var text = String.UnicodeScalarView()
      let range = pieces[random.integer(0...pieces.count - 1)]
      for _ in 0..<random.integer(0...300) {
        let other = random.integer(0...3) == 0
        let from = other ? pieces[random.integer(0...pieces.count - 1)] : range
        if let scalar = Unicode.Scalar(
          UInt32(random.integer(Int(from.lowerBound)...Int(from.upperBound))))
        {
          text.append(scalar)
        }
      }
      let plain = String(text).plain
      #expect(plain.plain == plain && plain.unicodeScalars.count <= InputLimit.scalars.value)
      #expect(
        Array(plain.plain.utf8) == Array(plain.utf8), "\(text.map { String($0.value, radix: 16) })")
    }
  }
}
