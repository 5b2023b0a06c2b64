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
  private var open: Open?
  private let mostFacts: Int

  /// - Parameters:
  ///   - now: the present. Stamps that lie too far after it are rejected: more than ten minutes, or
  ///     more than a day for stamps that are days.
  ///   - mostFacts: the number of facts after which a batch of a text file ends; a sheet of a
  ///     workbook is always one batch. A million facts take 16 MB, and three batches may exist at
  ///     once.
  package init(
    _ format: ArchiveFormat, files: [ArchiveFile], now: Instant, mostFacts: Int = 1_000_000
  ) {
    engine = Engine(format: format, now: now)
    self.files = files[...]
    self.mostFacts = mostFacts
  }

  private enum Open {
    case text(OpenFile)
    case workbook(OpenWorkbook)
  }

  /// A workbook of which some sheets are read.
  private struct OpenWorkbook {
    var file: ArchiveFile
    var parts: WorkbookParts
    var texts: [[UInt8]] = []
    /// The sheets that contain a header, and are not read yet.
    var sheets: ArraySlice<WorkbookParts.Sheet> = []
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
  package func next() throws -> ArchiveBatch? {
    switch open {
    case .text(let file): return try more(of: file, isFirst: false)
    case .workbook(let workbook): return try nextSheet(of: workbook, isFirst: false)
    case nil: break
    }
    guard let file = files.popFirst() else { return nil }
    engine.begin(file.name)
    let form = try file.form()
    switch form {
    case .csv, .gzip:
      return try more(of: OpenFile(try file.plain(form)), isFirst: true)
    case .workbook(let members):
      do {
        return try nextSheet(of: try workbook(file, members), isFirst: true)
      } catch let fault as WorkbookRecords.Fault {
        throw engine.refusal(fault.description)
      }
    case .zip(let members):
      return try more(of: OpenFile(try file.member(try onlyMember(members))), isFirst: true)
    }
  }

  /// A zip file with one month is common. One with several files has to be unzipped into a folder.
  private func onlyMember(_ members: [String]) throws -> String {
    guard let member = members.first else { throw engine.refusal("a zip file without a file") }
    guard members.count == 1 else {
      throw engine.refusal(
        "a zip file with \(members.count) files; unzip it into a folder first, then type bowser "
          + "backfill \(engine.format.id) FOLDER")
    }
    guard ![".xlsx", ".xlsm", ".xls", ".ods"].contains(where: member.lowercased().hasSuffix) else {
      throw engine.refusal("a workbook inside a zip file; unzip it first")
    }
    return member
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
      guard try file.stream.finish() else {
        throw engine.refusal(
          "a damaged gzip or zip file; it may be cut off, so fetch it again")
      }
      if let end = file.records.cutEnd {
        engine.warnings.append(
          "the last row has no line end and stops at '\(end)', shorter than in any other row: the "
            + "file may be cut off, so compare it with the original")
      }
      try engine.endFile()
    } else {
      guard file.records.bytes < ArchiveFile.mostBytes else {
        throw engine.refusal("more than \(ArchiveFile.mostBytes >> 30) GiB unpacked")
      }
      open = .text(file)
    }
    return engine.batch(isFirst: isFirst, isLast: hasEnded, bytes: file.records.bytes)
  }

  private static func words(_ fault: CSVRecords.Fault) -> String {
    switch fault {
    case .unclosedQuote:
      "a quoted field that does not end: the file may be cut off, or a \" in a text is not doubled"
    case .rowTooLong: "a row longer than a megabyte or of more than 256 fields"
    case .readFailed(let code): "cannot be read (error \(code))"
    }
  }

  // MARK: Workbooks

  private func workbook(_ file: ArchiveFile, _ members: [String]) throws -> OpenWorkbook {
    var workbook = OpenWorkbook(file: file, parts: try WorkbookParts(file, members: members))
    guard workbook.parts.sheets.count <= InputLimit.workbookSheets.value else {
      throw engine.refusal("more than \(InputLimit.workbookSheets.value) sheets")
    }
    if let texts = workbook.parts.texts {
      let stream = try file.member(texts)
      let shared = WorkbookRecords()
      guard try shared.parse(stream), try stream.finish() else {
        throw engine.refusal("a damaged workbook: its texts are incomplete")
      }
      workbook.texts = shared.texts
    }
    workbook.sheets = workbook.parts.sheets[...]
    let hidden = workbook.parts.hiddenSheets.map { "'\($0)'" }.joined(separator: ", ")
    let isHidden = hidden.isEmpty ? nil : "hidden sheets are left out: \(hidden)"
    guard workbook.sheets.count > 1 || isHidden != nil else { return workbook }
    let others = try leaveOthers(&workbook)
    guard !workbook.sheets.isEmpty else {
      let all = others + [isHidden].compactMap { $0 }
      throw engine.refusal(
        "no header of \(engine.format.id) in any visible sheet"
          + all.map { "; " + $0 }.joined())
    }
    engine.warnings += others + [isHidden].compactMap { $0 }
    return workbook
  }

  /// Leaves out the sheets without a header, of which some workbooks have several: notes, charts,
  /// summaries.
  ///
  /// - Returns: what these sheets contain.
  private func leaveOthers(_ workbook: inout OpenWorkbook) throws -> [String] {
    var others: [String] = []
    for sheet in workbook.sheets {
      var probe = engine
      probe.beginSheet(sheet.name, is1904: false)
      var first: String?
      var count = 0
      let rows = WorkbookRecords(texts: workbook.texts) { record in
        if try probe.header(in: record) != nil { throw HeaderFound() }
        first =
          first
          ?? record.fields.indices.map { record.text($0).plain }.filter { !$0.isEmpty }
          .joined(separator: ", ")
        count += 1
        if count == Engine.mostRowsBeforeHeader { throw NoHeader() }
      }
      do {
        _ = try rows.parse(try workbook.file.member(sheet.path))
      } catch is HeaderFound {
        continue
      } catch is NoHeader {}
      workbook.sheets.removeAll { $0.path == sheet.path }
      guard let first else { continue }
      others.append("sheet '\(sheet.name)' has no header and begins with '\(first.prefix(60))'")
    }
    return others
  }

  private struct HeaderFound: Error {}
  private struct NoHeader: Error {}

  /// Reads the next sheet, as if it were a file of its own.
  private func nextSheet(of workbook: OpenWorkbook, isFirst: Bool) throws -> ArchiveBatch {
    open = nil
    var workbook = workbook
    guard let sheet = workbook.sheets.popFirst() else {
      throw engine.refusal("a workbook without a visible sheet")
    }
    engine.beginSheet(
      workbook.parts.sheets.count > 1 ? sheet.name : nil, is1904: workbook.parts.is1904)
    do {
      try read(sheet, of: workbook)
    } catch let fault as WorkbookRecords.Fault {
      throw engine.refusal(fault.description)
    }
    if !workbook.sheets.isEmpty { open = .workbook(workbook) }
    return engine.batch(isFirst: isFirst, isLast: workbook.sheets.isEmpty, bytes: 0)
  }

  private func read(_ sheet: WorkbookParts.Sheet, of workbook: OpenWorkbook) throws {
    let stream = try workbook.file.member(sheet.path)
    // The parser calls the engine back while this actor waits, so the engine is lent and taken
    // back.
    var lent = engine
    engine = Engine(format: engine.format, now: engine.now)
    defer { engine = lent }
    var rows = SheetRows()
    let records = WorkbookRecords(texts: workbook.texts) { record in
      try rows.take(record, &lent)
    }
    let isWhole = try records.parse(stream)
    guard try stream.finish(), isWhole else {
      throw lent.refusal("a damaged workbook: its sheet is incomplete")
    }
    try rows.end(&lent)
    if records.formulasWithoutValue > 0 {
      lent.warnings.append(
        "formulas of sheet '\(sheet.name)' without a stored value, empty or 0: "
          + "\(records.formulasWithoutValue); open the file in Excel and save it again")
    }
    try lent.endFile()
  }
}
