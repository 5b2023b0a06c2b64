package import FuelModel

/// Delivers the batches of an archive's files, read in this process or in a confined one.
package protocol ArchiveSource: Sendable {
  /// Returns the next batch; `nil` after the last file.
  ///
  /// - Throws: `ArchiveRefusal` for a file that is refused as a whole. The next call continues with
  ///   the next file.
  func next() async throws -> ArchiveBatch?
}

/// Reads the files of one archive, batch by batch, into facts and their station records.
///
/// Each distinct text becomes a station record or a fuel once. Every further row with that text
/// costs only the comparison of its bytes. Descriptions and records keep their numbers from file to
/// file.
package actor ArchiveReader: ArchiveSource {
  private var engine: Engine
  private var files: ArraySlice<ArchiveFile>
  /// The file whose next batch follows; `nil` where the next batch begins a file.
  private var open: OpenFile?
  private let mostFacts: Int

  /// - Parameters:
  ///   - now: the present. Stamps that lie too far after it are rejected: more than ten minutes, or
  ///     more than a day for stamps that are days.
  ///   - mostFacts: the number of facts after which a batch of a text file ends; a workbook is
  ///     always one batch. A million facts take 16 MB, and three batches may exist at once.
  package init(
    _ format: ArchiveFormat, files: [ArchiveFile], now: Instant, mostFacts: Int = 1_000_000
  ) {
    engine = Engine(format: format, now: now)
    self.files = files[...]
    self.mostFacts = mostFacts
  }

  private final class OpenFile {
    let stream: ByteStream
    var records: CSVRecords
    init(_ stream: ByteStream) {
      self.stream = stream
      records = CSVRecords(descriptor: stream.descriptor)
    }
  }

  /// Returns the next batch; `nil` after the last file.
  ///
  /// - Throws: `ArchiveRefusal` for a file that is refused as a whole. The next call continues with
  ///   the next file.
  package func next() throws -> ArchiveBatch? {
    if let open { return try more(of: open, isFirst: false) }
    guard let file = files.popFirst() else { return nil }
    engine.begin(file.name)
    let form = try file.form()
    switch form {
    case .csv, .gzip:
      return try more(of: OpenFile(try file.plain(form)), isFirst: true)
    case .workbook(let sheet, let texts):
      return try workbook(file, sheet: sheet, texts: texts)
    case .zip(let members):
      // A zip file with one month is common. One with several files has to be unzipped into a
      // folder.
      guard let member = members.first, members.count == 1 else {
        throw ArchiveRefusal(
          file: file.name, "a zip file with \(members.count) files; unzip it into a folder first")
      }
      guard !member.hasSuffix(".xlsx") else {
        throw ArchiveRefusal(file: file.name, "a workbook inside a zip file; unzip it first")
      }
      return try more(of: OpenFile(try file.member(member)), isFirst: true)
    }
  }

  private func more(of file: OpenFile, isFirst: Bool) throws -> ArchiveBatch {
    open = nil
    let hasEnded: Bool
    do {
      hasEnded = try file.records.read { record in
        try engine.take(record)
        return engine.facts < mostFacts
      }
    } catch let fault as CSVRecords.Fault {
      throw engine.refusal(Self.words(fault))
    }
    if hasEnded {
      guard file.stream.finish() else {
        throw engine.refusal(
          "a damaged gzip or zip file; it may be cut off, so fetch it again")
      }
      try engine.endFile()
    } else {
      guard file.records.bytes < ArchiveFile.mostBytes else {
        throw engine.refusal("more than \(ArchiveFile.mostBytes >> 30) GiB unpacked")
      }
      open = file
    }
    return engine.batch(isFirst: isFirst, isLast: hasEnded, bytes: file.records.bytes)
  }

  private static func words(_ fault: CSVRecords.Fault) -> String {
    switch fault {
    case .unclosedQuote: "a quoted field that does not end"
    case .rowTooLong: "a row longer than a megabyte or of more than 256 fields"
    case .readFailed(let code): "cannot be read (error \(code))"
    }
  }

  private func workbook(_ file: ArchiveFile, sheet: String, texts: String?) throws -> ArchiveBatch {
    do {
      return try checkedWorkbook(file, sheet: sheet, texts: texts)
    } catch let fault as WorkbookRecords.Fault {
      throw engine.refusal(fault.description)
    }
  }

  private func checkedWorkbook(
    _ file: ArchiveFile, sheet: String, texts: String?
  ) throws -> ArchiveBatch {
    var shared: [[UInt8]] = []
    if let texts {
      let stream = try file.member(texts)
      guard let read = try WorkbookTexts.read(stream), stream.finish() else {
        throw engine.refusal("a damaged workbook: its texts are incomplete")
      }
      shared = read
    }
    let stream = try file.member(sheet)
    let fillsDown = engine.format.fillsDown
    // The parser calls the engine back while this actor waits, so the engine is lent and taken
    // back.
    let box = EngineBox(engine)
    engine = Engine(format: engine.format, now: engine.now)
    defer { engine = box.take() }
    let rows = WorkbookRecords(texts: shared, fillsDown: fillsDown) { record in
      try box.engine.take(record)
    }
    box.engine.whenHeaderIsFound = { [unowned rows] in rows.priceColumn = $0 }
    let isWhole = try rows.parse(stream)
    guard isWhole, stream.finish() else {
      throw box.engine.refusal("a damaged workbook: its sheet is incomplete")
    }
    try box.engine.endFile()
    return box.engine.batch(isFirst: true, isLast: true, bytes: 0)
  }

  /// Holds the engine while it is lent to a parser that calls it back.
  private final class EngineBox {
    var engine: Engine
    init(_ engine: Engine) { self.engine = engine }
    func take() -> Engine {
      engine.whenHeaderIsFound = { _ in }
      return engine
    }
  }
}
