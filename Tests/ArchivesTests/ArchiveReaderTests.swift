import Foundation
import FuelModel
import Testing

@testable import Archives

/// What the readers of archive files read and what they refuse.
struct ArchiveReaderTests {
  /// F-H17: unpacking of a small file ends with an error once it exceeds the limit for an answer,
  /// instead of filling the memory.
  @Test func whatUnpacksWithoutEndIsRefused() throws {
    let zeros = try ByteStream(["head", "-c", "300000000", "/dev/zero"])
    #expect(throws: ByteStream.TooLarge.self) { try zeros.all() }
    #expect(try ByteStream(["head", "-c", "3000000", "/dev/zero"]).all().count == 3_000_000)
  }

  static let now = Instant(seconds: 1_782_900_000)  // 2026-07-01T10:00:00Z

  static func format(_ id: String) -> ArchiveFormat {
    ArchiveFormat.all.first { $0.id == id }!
  }

  /// Everything that a file states. Each line holds the code of the station record, the fuel, the
  /// instant and the price in tenths of a cent.
  struct Outcome {
    var lines: [String] = []
    var rejects: [String] = []
    var examples: [String] = []
    var received = 0
    var duplicates = 0
    var batches = 0
    var stations: [Station] = []
    var sightings: [ArchiveBatch.Sighting] = []
    var warnings: [String] = []
  }

  private static func text(of batch: ArchiveBatch) -> String {
    var rest = batch
    rest.months = [:]
    return "\(rest) \(batch.months.sorted { $0.key < $1.key })"
  }

  static func read(_ id: String, path: String, mostFacts: Int = 1_000_000) async throws -> Outcome {
    let reader = ArchiveReader(
      format(id), files: [ArchiveFile(path)], now: now, mostFacts: mostFacts)
    var outcome = Outcome()
    var codes: [Int: String] = [:]
    var known = ArchiveNumbers()
    while let read = try await reader.next() {
      // Batches are encoded like this between the process that reads and the one that stores.
      var written = FrameWriter()
      read.write(to: &written)
      var frame = FrameReader(written.bytes)
      let batch = try ArchiveBatch(
        from: &frame, known: &known, zone: format(id).zone)
      #expect(frame.isAtEnd && Self.text(of: batch) == Self.text(of: read))
      outcome.batches += 1
      for description in batch.newDescriptions {
        codes[description.record] = description.station.code
        outcome.stations.append(description.station)
      }
      for (_, facts) in batch.months.sorted(by: { $0.key < $1.key }) {
        for fact in facts {
          let fuel = Fuel.allCases.first { $0.id == fact.fuel }!
          outcome.lines.append(
            "\(codes[fact.record]!) \(fuel.rawValue) \(fact.effectiveAt) \(fact.tenths)")
        }
      }
      outcome.rejects += batch.rejects.map(\.reason.rawValue)
      outcome.examples += batch.rejects.map(\.raw)
      outcome.received += batch.received
      outcome.duplicates += batch.duplicates
      outcome.sightings += batch.sightings
      outcome.warnings += batch.warnings
    }
    return outcome
  }

  static func read(_ id: String, _ text: String, mostFacts: Int = 1_000_000) async throws -> Outcome
  {
    try await read(id, bytes: Array(text.utf8), mostFacts: mostFacts)
  }

  static func read(_ id: String, bytes: [UInt8], mostFacts: Int = 1_000_000) async throws -> Outcome
  {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await read(id, path: file.path, mostFacts: mostFacts)
  }

  /// Returns why a file is refused.
  static func refusal(_ id: String, _ text: String) async -> String {
    await refusal(id, bytes: Array(text.utf8))
  }

  static func refusal(_ id: String, bytes: [UInt8]) async -> String {
    do {
      _ = try await read(id, bytes: bytes)
      return "accepted"
    } catch let refusal as ArchiveRefusal {
      return refusal.reason
    } catch {
      return "\(error)"
    }
  }

  static let header =
    "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
  static func row(_ time: String, _ price: String, fuel: String = "U91", name: String = "BP Kiama")
    -> String
  {
    "\(name),\"1 Main St, Kiama NSW 2533\",Kiama,2533,BP,\(fuel),\(time),\(price)\n"
  }

  static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// Batches have a bounded size, whatever the size of the file. Together they hold the same as one
  /// batch.
  @Test func aLargeFileComesInBatches() async throws {
    var text = Self.header
    for second in 0..<500 {
      text += Self.row(
        "2025-01-02 03:\(Self.two(second / 60)):\(Self.two(second % 60))", "145.\(second % 10)",
        name: "S\(second % 7)")
    }
    let whole = try await Self.read("nsw-fuelcheck", text)
    let batches = try await Self.read("nsw-fuelcheck", text, mostFacts: 90)
    #expect(whole.batches == 1)
    #expect(batches.batches == 6)
    #expect(batches.lines.sorted() == whole.lines.sorted())
    #expect(batches.received == 500)
  }

  // MARK: Containers

  /// The type of a file is recognised by its content, not by its name.
  @Test func unpacksGzipAndZip() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let plain = folder.appending(path: "month.csv").path
    try Data((Self.header + Self.row("2025-01-02 03:04:05", "145.9")).utf8)
      .write(to: URL(filePath: plain))
    let gzip = Process()
    gzip.executableURL = URL(filePath: "/usr/bin/env")
    gzip.arguments = ["gzip", "-k", plain]
    try gzip.run()
    gzip.waitUntilExit()
    #expect(try await Self.read("nsw-fuelcheck", path: plain + ".gz").lines.count == 1)
    // A truncated file is refused as a whole, even if rows were read before.
    let whole = try Data(contentsOf: URL(filePath: plain + ".gz"))
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [UInt8](whole.dropLast(9)))
        == "a damaged gzip or zip file; it may be cut off, so fetch it again")
    let book = try Data(contentsOf: URL(filePath: Self.fixture("nsw-plain.xlsx")))
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [UInt8](book.dropLast(300)))
        == "a damaged zip file or workbook; it may be cut off, so fetch it again")
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [0xD0, 0xCF, 0x11, 0xE0, 0, 0]).contains(
        "old Excel"))
    #expect(await Self.refusal("nsw-fuelcheck", bytes: [0xFF, 0xFE, 0x41, 0]).contains("UTF-16"))
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: Array("a,b\r1,2\r".utf8)).contains("old Mac"))
    #expect(
      await Self.refusal("nsw-fuelcheck", bytes: [0, 0x8B, 0x41, 0x0A]).contains("unpack it"))
    #expect(
      await Self.refusal("qld-fuel-prices", bytes: [UInt8](book)).contains("no header of qld"))
  }

  /// Every configured archive has a format, and every format is configured.
  @Test func everyFormatIsConfigured() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config").standardized.path
    let archives = try Archive.all(in: folder, environment: [:])
    #expect(Set(archives.map(\.id)) == Set(ArchiveFormat.all.map(\.id)))
  }
}
