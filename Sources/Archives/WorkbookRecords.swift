import Foundation
import FoundationXML
import FuelModel

/// Reads the rows of a workbook's sheet (Office Open XML) while its zip file is unpacked.
///
/// Source: ECMA-376 part 1, 18.3.1: `row`, `c` with its reference `r` and type `t`, `v`, `is`.
final class WorkbookRecords: NSObject, XMLParserDelegate {
  private let texts: [[UInt8]]
  private let body: (ArchiveRecord) throws -> Void
  private let fillsDown: Bool

  /// The bytes of the row; `fields` contains the range of each cell, as for the rows of a CSV file.
  private var bytes: [UInt8] = []
  private var fields: [ArchiveRecord.Field] = []
  /// The last value of each column, for the empty cells below that repeat it.
  private var above: [[UInt8]] = []
  /// The number of the price column, once the header is found. It is never filled from above.
  var priceColumn: Int?

  private var cellColumn = 0
  private var cellType = ""
  private var value = ""
  private var isInValue = false
  private(set) var fault: (any Error)?

  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  private var rows = 0

  init(
    texts: [[UInt8]], fillsDown: Bool, body: @escaping (ArchiveRecord) throws -> Void
  ) {
    self.texts = texts
    self.fillsDown = fillsDown
    self.body = body
  }

  /// - Returns: whether the document was complete.
  func parse(_ stream: ByteStream) throws -> Bool {
    let isWhole = try Self.parse(stream, delegate: self)
    if let fault { throw fault }
    return isWhole
  }

  fileprivate static func parse(_ stream: ByteStream, delegate: any XMLParserDelegate) throws
    -> Bool
  {
    let input = GatedStream(stream)
    let parser = XMLParser(stream: input)
    parser.shouldResolveExternalEntities = false
    parser.delegate = delegate
    let isWhole = parser.parse()
    if let fault = input.fault { throw fault }
    return isWhole
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    switch name {
    case "row":
      rows += 1
      if rows > InputLimit.workbookRows.value {
        fault = fault ?? Fault(description: "more than \(InputLimit.workbookRows.value) rows")
        parser.abortParsing()
      }
      bytes.removeAll(keepingCapacity: true)
      fields.removeAll(keepingCapacity: true)
    case "c":
      cellColumn = attributes["r"].map(Self.column) ?? fields.count
      // With two cells in one column, or cells out of order, the meaning of the row is unknown.
      if cellColumn < fields.count {
        fault = fault ?? Fault(description: "the cells of a row are out of order")
        parser.abortParsing()
      }
      cellType = attributes["t"] ?? ""
      value = ""
    case "v", "t":
      isInValue = true
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if isInValue, value.utf8.count < InputLimit.cellBytes.value {
      value += text.cut(toBytes: InputLimit.cellBytes.value - value.utf8.count)
    }
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    switch name {
    case "v", "t": isInValue = false
    case "c": endCell()
    case "row": endRow(parser)
    default: break
    }
  }

  private func endCell() {
    guard fault == nil, cellColumn < InputLimit.cells.value else { return }
    while fields.count < cellColumn {
      fields.append(.init(start: Int32(bytes.count), count: 0, isEscaped: false))
    }
    let start = bytes.count
    if cellType == "s", let index = Int(value), texts.indices.contains(index) {
      bytes += texts[index]
    } else {
      bytes += Array(value.utf8)
    }
    fields.append(
      .init(start: Int32(start), count: Int32(bytes.count - start), isEscaped: false))
  }

  private func endRow(_ parser: XMLParser) {
    let isEmpty = !bytes.contains { $0 > 0x20 }
    guard !isEmpty else { return }
    if fillsDown, let priceColumn {
      while fields.count < above.count {
        fields.append(.init(start: Int32(bytes.count), count: 0, isEscaped: false))
      }
      for column in fields.indices where column != priceColumn {
        let field = fields[column]
        let cell = bytes[Int(field.start)..<Int(field.start + field.count)]
        if cell.contains(where: { $0 > 0x20 }) {
          while above.count <= column { above.append([]) }
          above[column] = Array(cell)
        } else if column < above.count {
          let start = bytes.count
          bytes += above[column]
          fields[column] = .init(
            start: Int32(start), count: Int32(bytes.count - start), isEscaped: false)
        }
      }
    }
    do {
      try bytes.withUnsafeBufferPointer { bytes in
        try fields.withUnsafeBufferPointer { fields in
          guard let base = bytes.baseAddress else { return }
          try body(ArchiveRecord(base: base, fields: fields))
        }
      }
    } catch {
      fault = error
      parser.abortParsing()
    }
  }

  /// Returns the number of a cell's column: 0 for `A1`, 26 for `AA7`.
  private static func column(_ reference: String) -> Int {
    var number = 0
    for byte in reference.utf8 {
      guard (0x41...0x5A).contains(byte), number < 1_000 else { break }
      number = number * 26 + Int(byte - 0x40)
    }
    return number - 1
  }
}

/// Passes the bytes that `XMLGate` accepts to the parser, and ends at the first that it refuses.
private final class GatedStream: InputStream {
  private let stream: ByteStream
  private var gate = XMLGate(elements: .max)
  private var bytes = 0
  private(set) var fault: WorkbookRecords.Fault?

  init(_ stream: ByteStream) {
    self.stream = stream
    super.init(data: Data())
  }

  override func open() {}
  override func close() {}
  override var hasBytesAvailable: Bool { fault == nil }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    guard fault == nil else { return 0 }
    do {
      let count = try stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: length))
      bytes += count
      let reason =
        bytes > ArchiveFile.mostBytes
        ? "more than \(ArchiveFile.mostBytes >> 30) GiB unpacked"
        : gate.refusal(of: UnsafeBufferPointer(start: buffer, count: count))
      guard let reason else { return count }
      fault = WorkbookRecords.Fault(description: reason)
    } catch {
      fault = WorkbookRecords.Fault(description: "cannot be read: \(error)")
    }
    return 0
  }
}

/// Reads the texts that the cells of a workbook share.
final class WorkbookTexts: NSObject, XMLParserDelegate {
  private var texts: [[UInt8]] = []
  private var bytes = 0
  private var read = 0
  private var fault: WorkbookRecords.Fault?
  private var text: [UInt8] = []
  private var isInText = false
  private var isPhonetic = false

  static func read(_ stream: ByteStream) throws -> [[UInt8]]? {
    let reader = WorkbookTexts()
    let isWhole = try WorkbookRecords.parse(stream, delegate: reader)
    if let fault = reader.fault { throw fault }
    return isWhole ? reader.texts : nil
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    switch name {
    case "si": text = []
    case "rPh": isPhonetic = true
    case "t": isInText = !isPhonetic
    default: break
    }
  }

  func parser(_ parser: XMLParser, foundCharacters part: String) {
    read += part.utf8.count
    // Text that is cut counts too, because it was unpacked all the same.
    if read > 4 * InputLimit.sharedBytes.value {
      fault = fault ?? .init(description: "more texts than a workbook may share")
      parser.abortParsing()
    }
    guard isInText, text.count < InputLimit.cellBytes.value else { return }
    text += Array(part.cut(toBytes: InputLimit.cellBytes.value - text.count).utf8)
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    switch name {
    case "si":
      texts.append(text)
      bytes += text.count
      if texts.count > InputLimit.sharedTexts.value || bytes > InputLimit.sharedBytes.value {
        fault = fault ?? .init(description: "more texts than a workbook may share")
        parser.abortParsing()
      }
    case "rPh": isPhonetic = false
    case "t": isInText = false
    default: break
    }
  }
}
