import Foundation
import FoundationXML
import FuelModel

/// Reads the rows of a workbook's sheet (Office Open XML), or the texts that the cells of its sheets
/// share, while its zip file is unpacked.
///
/// Source: ECMA-376 part 1, 18.3.1: `row`, `c` with its reference `r` and type `t`, `f`, `v`, `is`;
/// 18.4: `si`, `t`, `rPh`.
final class WorkbookRecords: NSObject, XMLParserDelegate {
  private(set) var texts: [[UInt8]]
  private var textBytes = 0
  private let body: (ArchiveRecord) throws -> Void

  private var row = DecodedRow()

  private var cellColumn = 0
  private var cellType = ""
  private var value = ""
  private var isInValue = false
  private var isPhonetic = false
  private var isFormula = false
  /// The formulas whose results are not stored, or stored as 0. Some programs write formulas and do
  /// not compute them.
  private(set) var formulasWithoutValue = 0
  private(set) var fault: (any Error)?

  struct Fault: Error, CustomStringConvertible {
    let description: String
  }

  private var rows = 0

  init(texts: [[UInt8]] = [], body: @escaping (ArchiveRecord) throws -> Void = { _ in }) {
    self.texts = texts
    self.body = body
  }

  /// - Returns: whether the document was complete.
  func parse(_ stream: ByteStream) throws -> Bool {
    let isWhole = try Self.parse(stream, delegate: self)
    if let fault { throw fault }
    return isWhole
  }

  static func parse(_ stream: ByteStream, delegate: any XMLParserDelegate) throws -> Bool {
    let input = GatedStream(stream)
    let parser = XMLParser(stream: input)
    parser.shouldResolveExternalEntities = false
    // Elements are known by their namespace and local name. Programs choose prefixes freely.
    parser.shouldProcessNamespaces = true
    parser.delegate = delegate
    let isWhole = parser.parse()
    if let fault = input.fault { throw fault }
    return isWhole
  }

  /// Whether an element is one of a sheet, and not of an extension within it.
  private static func isOfSheet(_ namespace: String?) -> Bool {
    guard let namespace, !namespace.isEmpty else { return true }
    return namespace == "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
      || namespace == "http://purl.oclc.org/ooxml/spreadsheetml/main"
  }

  private func refuse(_ reason: String, _ parser: XMLParser) {
    fault = fault ?? Fault(description: reason)
    parser.abortParsing()
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    guard Self.isOfSheet(namespaceURI) else { return }
    switch name {
    case "row":
      rows += 1
      if rows > InputLimit.workbookRows.value {
        refuse("more than \(InputLimit.workbookRows.value) rows", parser)
      }
      row.bytes.removeAll(keepingCapacity: true)
      row.fields.removeAll(keepingCapacity: true)
    case "c":
      cellColumn = attributes["r"].map(Self.column) ?? row.fields.count
      // With two cells in one column, or cells out of order, the meaning of the row is unknown.
      if cellColumn < row.fields.count { refuse("the cells of a row are out of order", parser) }
      cellType = attributes["t"] ?? ""
      value = ""
      isFormula = false
    case "si": value = ""
    case "f": isFormula = true
    case "rPh": isPhonetic = true
    case "v", "t": isInValue = !isPhonetic
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
    guard Self.isOfSheet(namespaceURI) else { return }
    switch name {
    case "v", "t": isInValue = false
    case "rPh": isPhonetic = false
    case "c": endCell()
    case "row": endRow(parser)
    case "si":
      texts.append(Array(value.utf8))
      textBytes += value.utf8.count
      if texts.count > InputLimit.sharedTexts.value || textBytes > InputLimit.sharedBytes.value {
        refuse("more texts than a workbook may share", parser)
      }
    default: break
    }
  }

  private func endCell() {
    guard fault == nil, cellColumn < InputLimit.cells.value else { return }
    while row.fields.count < cellColumn { row.append([]) }
    var text: [UInt8] = []
    switch cellType {
    case "s":
      if let index = Int(value), texts.indices.contains(index) {
        text = texts[index]
      } else if !value.isEmpty {
        text = Self.unreadable
      }
    // An error such as #N/A or #REF! is no text.
    case "e": text = Self.unreadable + Array(value.utf8)
    default:
      if isFormula, ["", "0"].contains(value), cellType != "str" { formulasWithoutValue += 1 }
      // Some programs write each number with an exponent, and all of its digits.
      if ["", "n"].contains(cellType), value.contains("E") || value.contains("e"),
        let number = Double(value)
      {
        value = "\(number)"
      }
      text = Array(value.utf8)
    }
    let isUncomputed = isFormula && value.isEmpty
    row.append(text, as: .init(start: 0, count: 0, isEscaped: false, isUncomputed: isUncomputed))
  }

  /// U+FFFD, which no readable record contains.
  private static let unreadable = Array("\u{FFFD}".utf8)

  private func endRow(_ parser: XMLParser) {
    guard fault == nil, row.bytes.contains(where: { $0 > 0x20 }) else { return }
    do {
      try row.with(body)
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
