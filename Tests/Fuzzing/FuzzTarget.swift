import Archives
import Configuration
import Feeds
package import Foundation
import FuelModel

/// What is tried with bytes of any kind. A fault is a crash: of the product, or of an expectation here.
package enum FuzzTarget: String, CaseIterable, Sendable {
  case fuelCheck = "nsw-fuelcheck"
  case fuelPricesDirect = "qld-fpd"
  case fuelPricesDirectSites = "qld-fpd-sites"
  case fuelWatch = "wa-fuelwatch"
  case fairFuel = "vic-fairfuel"
  case myFuel = "nt-myfuel"
  case frame, batch, text, escapes
  case csvNSW = "csv-nsw"
  case csvQLD = "csv-qld"
  case csvWA = "csv-wa"
  case workbook
  case workbookTexts = "workbook-texts"

  /// Where the samples lie that mutations begin with.
  package static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../..").standardized.path

  private static let sources: [Source] = {
    do {
      return try Catalogue.sources(in: root + "/config", environment: [:])
    } catch {
      fatalError("\(error)")
    }
  }()

  private static let now = Instant(seconds: 1_788_145_200)  // 2026-08-31T03:00:00Z

  private static func fixture(_ path: String) -> [UInt8] {
    guard
      let data = FileManager.default.contents(atPath: "\(root)/Tests/FeedsTests/Fixtures/\(path)")
    else { fatalError("no fixture \(path)") }
    return [UInt8](data)
  }

  private static let beside: [String: [UInt8]] = [
    "fuel-prices-direct/brands.json", "fuel-prices-direct/regions.json",
    "fuel-prices-direct/sites.json",
    "fuel-prices-direct/prices.json", "fairfuel/brands.json",
  ].reduce(into: [:]) { $0[$1] = fixture($1) }

  private func document(_ name: String, _ bytes: [UInt8]) -> Document {
    Document(name: name, bytes: bytes, fetchedAt: Self.now)
  }

  private func kept(_ path: String) -> Document {
    document(
      String(path.split(separator: "/")[1].prefix { $0 != "." }), Self.beside[path] ?? [])
  }

  /// Sound input, from which mutations begin.
  package var seeds: [[UInt8]] {
    switch self {
    case .fuelCheck: [Self.fixture("fuelcheck/prices.json")]
    case .fuelPricesDirect: [Self.fixture("fuel-prices-direct/prices.json")]
    case .fuelPricesDirectSites: [Self.fixture("fuel-prices-direct/sites.json")]
    case .fuelWatch: [Self.fixture("fuel-watch/today-1.xml")]
    case .fairFuel: [Self.fixture("fairfuel/prices.json")]
    case .myFuel: [Self.fixture("myfuel/page.html")]
    case .frame: [Self.soundFrame]
    case .batch: [Self.soundBatch]
    case .text, .escapes:
      [
        Array(
          "Caf\u{e9} e\u{301} \"a\"\u{301},\u{4E} <b> 'x'\\ \u{202E}evil\u{0}\r\n\t\u{200B}".utf8),
        Array("Shell Coles Express, 12 Main St".utf8),
      ]
    case .workbook: [Self.sheet]
    case .workbookTexts:
      [Array("<sst><si><t>U91</t></si><si><r><t>E1</t></r><rPh/></si></sst>".utf8)]
    case .csvNSW:
      [
        Array(
          """
          ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price
          "Metro ""Fuel"" Auburn","1 High St, Auburn",Auburn,2144,Metro Fuel,U91,2/01/2024 00:01,179.9
          Metro Fuel Auburn,1 High St,Auburn,2144,Metro Fuel,E10,2024-01-03 10:11:12,1779
          """.utf8)
      ]
    case .csvQLD:
      [
        Array(
          """
          SiteId,Site_Name,Site_Brand,Sites_Address_Line_1,Site_Suburb,Site_State,Site_Post_Code,Site_Latitude,Site_Longitude,Fuel_Type,Price,TransactionDateutc
          61401007,Liberty Rural,Liberty,1 High St,Roma,QLD,4455,-26.5,148.7,Unleaded,1899,01/01/2024 00:12
          """.utf8)
      ]
    case .csvWA:
      [
        Array(
          """
          PUBLISH_DATE,TRADING_NAME,BRAND_DESCRIPTION,PRODUCT_DESCRIPTION,PRODUCT_PRICE,ADDRESS,LOCATION,POSTCODE,AREA_DESCRIPTION,REGION_DESCRIPTION
          01/01/2024,Caltex,Caltex,ULP,179.9,1 High St,PERTH,6000,Metro,Metro
          """.utf8)
      ]
    }
  }

  private static let sheet = Array(
    """
    <?xml version="1.0"?><worksheet><sheetData><row>\(cells(
      "ServiceStationName", "Address", "Suburb", "Postcode", "Brand", "FuelCode", "PriceUpdatedDate",
      "Price"))</row><row>\(cells(
        "Shell", "1 High St", "Auburn", "2144", "Shell", "E10", "01/04/2020 07:49", "121.9"))</row>
    <row><c r="A3" t="s"><v>0</v></c><c r="F3" t="s"><v>1</v></c><c r="H3"><v>1779</v></c></row>
    </sheetData></worksheet>
    """.utf8)

  private static func cells(_ texts: String...) -> String {
    texts.map { "<c t=\"inlineStr\"><is><t>\($0)</t></is></c>" }.joined()
  }

  /// A reading as a reader answers it.
  private static let soundFrame: [UInt8] = {
    do {
      let document = Document(
        name: "prices", bytes: fixture("fuelcheck/prices.json"), fetchedAt: now)
      return try ReadingRequest(.reading, [document]).carriedOut(for: source("nsw-fuelcheck"))
    } catch {
      fatalError("\(error)")
    }
  }()

  private static func source(_ feed: String) -> Source {
    guard let source = sources.first(where: { $0.feed == feed }) else { fatalError("no \(feed)") }
    return source
  }

  /// How many changed inputs take about a second.
  package var shortCount: Int {
    switch self {
    case .workbook, .workbookTexts: 50
    case .myFuel: 200
    case .frame, .batch, .text, .escapes: 10_000
    default: 500
    }
  }

  /// Inputs that are kept: those that broke something once.
  package func corpus() throws -> [URL] {
    let folder = URL(filePath: "\(Self.root)/Tests/Fuzzing/Corpus/\(rawValue)")
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
  }

  /// Tries one input.
  ///
  /// - Returns: whether it was taken, in part at least.
  @discardableResult
  package func run(_ bytes: [UInt8]) async -> Bool {
    switch self {
    case .fuelCheck: read([document("prices", bytes)], "nsw-fuelcheck")
    case .fuelPricesDirect:
      read(
        ["brands", "regions", "sites"].map { kept("fuel-prices-direct/\($0).json") }
          + [document("prices", bytes)], "qld-fpd")
    case .fuelPricesDirectSites:
      read(
        ["brands", "regions", "prices"].map { kept("fuel-prices-direct/\($0).json") }
          + [document("sites", bytes)], "qld-fpd")
    case .fuelWatch: read([document("today-1", bytes)], "wa-fuelwatch")
    case .fairFuel: read([kept("fairfuel/brands.json"), document("prices", bytes)], "vic-fairfuel")
    case .myFuel: read([document("page", bytes)], "nt-myfuel")
    case .frame: believe(bytes, Self.source("nsw-fuelcheck"))
    case .batch: believeBatch(bytes)
    case .text: checkText(String(decoding: bytes, as: UTF8.self))
    case .escapes: escapes(String(decoding: bytes, as: UTF8.self))
    case .workbook:
      await load(Workbook.zip([("xl/worksheets/sheet1.xml", bytes)]), "nsw-fuelcheck")
    case .workbookTexts:
      await load(
        Workbook.zip([("xl/worksheets/sheet1.xml", Self.sheet), ("xl/sharedStrings.xml", bytes)]),
        "nsw-fuelcheck")
    case .csvNSW: await load(bytes, "nsw-fuelcheck")
    case .csvQLD: await load(bytes, "qld-fuel-prices")
    case .csvWA: await load(bytes, "wa-fuelwatch")
    }
  }

  // MARK: Documents

  /// Reads documents as a run does: by the side that reads, and then by the side that asked.
  private func read(_ documents: [Document], _ feed: String) -> Bool {
    let source = Self.source(feed)
    do {
      let answer = try ReadingRequest(.reading, documents).carriedOut(for: source)
      let codes = try ReadingRequest(.codes, documents).carriedOut(for: source)
      do {
        _ = try ReadingRequest.codes(from: codes)
      } catch is FeedError {}
      let reading = try ReadingRequest.reading(from: answer)
      check(reading, source)
      return !reading.observations.isEmpty
    } catch is FeedError {
      return false
    } catch {
      // What our own side answers is always understood.
      fatalError("\(feed): \(error)")
    }
  }

  private func believe(_ bytes: [UInt8], _ source: Source) -> Bool {
    do {
      let reading = try ReadingRequest.reading(from: bytes)
      check(reading, source)
      return true
    } catch {
      return false
    }
  }

  private func check(_ reading: Reading, _ source: Source) {
    let distinct = reading.distinct(takenAt: Self.now, horizon: source.horizon)
    precondition(
      distinct.received == distinct.observations.count + distinct.duplicates
        + distinct.rejects.count,
      "counts do not add up")
    for station in distinct.stations {
      precondition((1...InputLimit.codeBytes.value).contains(station.code.utf8.count), "a code")
      for text in [station.name, station.address, station.brand ?? "", station.suburb ?? ""] {
        checkPlain(text)
      }
    }
    for reject in distinct.rejects {
      precondition(reject.raw.utf8.count <= InputLimit.rejectBytes.value, "a reject is too long")
      precondition(!reject.raw.utf8.contains(0), "a NUL in a reject")
    }
    for observation in distinct.observations {
      precondition((1...InputLimit.codeBytes.value).contains(observation.stationCode.utf8.count))
      if let price = observation.price { precondition((1...30_000).contains(price.tenths)) }
    }
  }

  // MARK: Texts

  private func checkPlain(_ text: String) {
    precondition(text.unicodeScalars.count <= InputLimit.scalars.value, "a long text")
    for scalar in text.unicodeScalars {
      precondition(scalar.value >= 0x20 && scalar.value != 0x7F, "a control character")
      precondition(!(0x202A...0x202E).contains(scalar.value), "a change of direction")
      precondition(!(0x2066...0x2069).contains(scalar.value), "a change of direction")
    }
  }

  private func checkText(_ text: String) -> Bool {
    let plain = text.plain
    checkPlain(plain)
    precondition(Array(plain.plain.utf8) == Array(plain.utf8), "plain once and twice differ")
    for limit in [0, 1, 2, 3, 7, 100] {
      let cut = text.cut(toBytes: limit)
      precondition(cut.utf8.count <= limit && text.utf8.starts(with: cut.utf8), "a cut")
      precondition(text.line(ofBytes: limit).utf8.count <= limit, "a line")
    }
    return !plain.isEmpty
  }

  private func escapes(_ text: String) -> Bool {
    checkEscapes(text)
    return true
  }

  // MARK: Archives

  private static func written(_ batch: ArchiveBatch) -> [UInt8] {
    var frame = FrameWriter()
    batch.write(to: &frame)
    return frame.bytes
  }

  private static func believed(
    _ bytes: [UInt8], _ known: inout ArchiveNumbers, _ zone: Zone
  ) throws -> ArchiveBatch {
    var frame = FrameReader(bytes)
    let batch = try ArchiveBatch(from: &frame, known: &known, zone: zone)
    guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of a batch") }
    return batch
  }

  /// What a reader of archives answers that was taken over by its file.
  private func believeBatch(_ bytes: [UInt8]) -> Bool {
    var known = ArchiveNumbers()
    do {
      var batch = try Self.believed(bytes, &known, .sydney)
      var before = ArchiveNumbers()
      (before.descriptions, before.records) = (7, 5)
      batch.number(after: before)
      for facts in batch.months.values {
        for fact in facts {
          precondition((5..<5 + known.records).contains(fact.record) && fact.tenths <= 30_000)
        }
      }
      return true
    } catch {
      return false
    }
  }

  private static let soundBatch: [UInt8] = {
    var batch = ArchiveBatch(file: "a.csv", isFirst: true, isLast: true)
    let month = Month(Day(year: 2024, month: 1, day: 1) ?? Day(sinceEpoch: 0))
    batch.newDescriptions = (0..<2).map {
      ArchiveDescription(
        station: Station(
          code: "s\($0)", state: .nsw, name: "Caf\u{E9} \($0)", brand: "Shell",
          address: "1 High St",
          suburb: "Auburn", postcode: "2144", position: Position(latitude: -33.8, longitude: 151),
          details: ["phone": "02 9000 0000"]),
        record: $0)
    }
    batch.months[month] = (0..<4).map {
      ArchiveFact(
        record: $0 / 2, fuel: 1, seconds: 757_400_000 + UInt32($0) * 3_600, tenths: 1_799,
        position: UInt32($0))
    }
    batch.sightings = (0..<2).map { .init(stationDescription: $0, month: month, days: 3) }
    batch.rejects = [Reject(.priceUnreadable, raw: "a|b")]
    batch.received = 5
    return written(batch)
  }()

  private func load(_ bytes: [UInt8], _ id: String) async -> Bool {
    guard let format = ArchiveFormat.all.first(where: { $0.id == id }) else { fatalError(id) }
    let path = FileManager.default.temporaryDirectory.appending(path: "fuzz-\(UUID()).csv").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    guard FileManager.default.createFile(atPath: path, contents: Data(bytes)) else {
      fatalError("no room for \(path)")
    }
    let reader = ArchiveReader(format, files: [ArchiveFile(path)], now: Self.now, mostFacts: 1_000)
    do {
      var facts = 0
      var known = ArchiveNumbers()
      while let read = try await reader.next() {
        let batch = try Self.believed(Self.written(read), &known, format.zone)
        facts += batch.months.values.reduce(0) { $0 + $1.count }
        for reject in batch.rejects {
          precondition(reject.raw.utf8.count <= InputLimit.rejectBytes.value, "a long reject")
        }
      }
      return facts > 0
    } catch is ArchiveRefusal {
      return false
    } catch is CSVFileError {
      return false
    } catch {
      fatalError("\(id): \(error)")
    }
  }
}
