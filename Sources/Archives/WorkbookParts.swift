import Foundation
import FoundationXML
import FuelModel

/// Which members of a workbook's zip file are its sheets, as `xl/workbook.xml` and its relations
/// say. The names of the members say nothing: a sheet may have any.
///
/// Source: ECMA-376 part 1, 18.2 (`workbookPr`, `sheets`), part 2, 9.3 (relationships).
struct WorkbookParts {
  struct Sheet {
    /// The name on the sheet's tab.
    var name: String
    var path: String
  }

  /// The visible sheets, in the order of their tabs.
  private(set) var sheets: [Sheet] = []
  private(set) var hiddenSheets: [String] = []
  /// The member with the texts that cells share; `nil` where they share none.
  private(set) var texts: String?
  /// Whether days are counted from 1904 on, as in workbooks of old Macintosh programs.
  private(set) var is1904 = false

  init(_ file: ArchiveFile, members: [String]) throws {
    // Names of parts are compared without case.
    let known = Dictionary(members.map { ($0.lowercased(), $0) }) { first, _ in first }
    let main = try Self.mainPart(of: file, known)
    guard let main, let document = known[main.lowercased()] else {
      takeByName(members)
      return
    }
    let book = try Elements.of(file, document)
    let folder = main.split(separator: "/").dropLast().joined(separator: "/")
    let related = try Self.relations(of: file, main, known)
    texts = related.values.first { $0.type == "sharedStrings" }
      .flatMap { known[Self.path($0.target, in: folder).lowercased()] }
    is1904 = book.contains { name, attributes in
      name == "workbookPr" && ["1", "true", "on"].contains(attributes["date1904"]?.lowercased())
    }
    for (name, attributes) in book where name == "sheet" {
      guard let relation = attributes.first(where: { $0.key.hasSuffix(":id") })?.value,
        let part = related[relation]
      else { throw WorkbookRecords.Fault(description: "a damaged workbook: a sheet is missing") }
      // Sheets of charts and of dialogs have no rows.
      guard part.type == "worksheet" else { continue }
      let title = attributes["name"] ?? ""
      guard ["visible", nil].contains(attributes["state"]) else {
        hiddenSheets.append(title)
        continue
      }
      guard let path = known[Self.path(part.target, in: folder).lowercased()] else {
        throw WorkbookRecords.Fault(
          description: "a damaged workbook: its sheet '\(title)' is missing")
      }
      sheets.append(Sheet(name: title, path: path))
    }
    if sheets.isEmpty, hiddenSheets.isEmpty { takeByName(members) }
  }

  /// Takes the sheets of a workbook that lists none, by their numbers.
  private mutating func takeByName(_ members: [String]) {
    let paths = members.filter { $0.hasPrefix("xl/worksheets/sheet") && $0.hasSuffix(".xml") }
    sheets = paths.sorted { ($0.count, $0) < ($1.count, $1) }.map { Sheet(name: $0, path: $0) }
    texts = members.first { $0 == "xl/sharedStrings.xml" }
  }

  private typealias Relation = (type: String, target: String)

  private static func mainPart(
    of file: ArchiveFile, _ known: [String: String]
  ) throws -> String? {
    if known["xl/workbook.xml"] != nil { return "xl/workbook.xml" }
    return try relations(of: file, "", known).values.first { $0.type == "officeDocument" }
      .map { path($0.target, in: "") }
  }

  /// Returns what the relations of a part lead to, by their ids.
  private static func relations(
    of file: ArchiveFile, _ part: String, _ known: [String: String]
  ) throws -> [String: Relation] {
    var steps = part.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    steps.insert("_rels", at: steps.count - 1)
    guard let member = known[(steps.joined(separator: "/") + ".rels").lowercased()] else {
      return [:]
    }
    var relations: [String: Relation] = [:]
    for (name, attributes) in try Elements.of(file, member) where name == "Relationship" {
      guard let id = attributes["Id"], let type = attributes["Type"],
        let target = attributes["Target"]
      else { continue }
      relations[id] = (String(type.split(separator: "/").last ?? ""), target)
    }
    return relations
  }

  /// Returns the path of a target, which is absolute or begins at the folder of its part.
  private static func path(_ target: String, in folder: String) -> String {
    var steps = target.hasPrefix("/") ? [] : folder.split(separator: "/")
    let decoded = target.removingPercentEncoding ?? target
    for step in decoded.split(separator: "/") where step != "." {
      if step == ".." { _ = steps.popLast() } else { steps.append(step) }
    }
    return steps.joined(separator: "/")
  }

  /// The elements of a small document that matter here, by their local names, with their attributes.
  private final class Elements: NSObject, XMLParserDelegate {
    private var found: [(name: String, attributes: [String: String])] = []

    static func of(
      _ file: ArchiveFile, _ member: String
    ) throws -> [(name: String, attributes: [String: String])] {
      let stream = try file.member(member)
      let reader = Elements()
      let isWhole = try WorkbookRecords.parse(stream, delegate: reader)
      guard try stream.finish(), isWhole else {
        throw WorkbookRecords.Fault(description: "a damaged workbook: \(member) is incomplete")
      }
      return reader.found
    }

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String] = [:]
    ) {
      guard ["sheet", "workbookPr", "Relationship"].contains(name) else { return }
      guard found.count < InputLimit.workbookParts.value else { return parser.abortParsing() }
      found.append((name, attributes))
    }
  }
}
