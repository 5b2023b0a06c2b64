import Foundation
import FuelModel

#if canImport(FoundationXML)
  import FoundationXML
#endif

/// The items of an RSS document, each as element name → text, in document order.
///
/// `XMLParser.parse()` answers `true` for a truncated document, for an empty one and for two roots;
/// only the error and the closed root together tell. It also drops entity references without a
/// word, so that any document type is refused before parsing.
///
/// - Throws: for anything that is not one complete, closed `<rss>` element in UTF-8 of up to 10 MB.
func rssItems(_ document: Document) throws(FeedError) -> [[String: String]] {
  func malformed(_ reason: String) -> FeedError {
    .malformed(document: document.name, reason: reason)
  }
  var bytes = document.bytes[...]
  if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
  // libxml2 fails above 10 MB, after it has delivered every element.
  guard bytes.count < 10_000_000 else { throw malformed("larger than 10 MB") }
  guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed("not UTF-8") }
  if let fault = bytes.withUnsafeBufferPointer(xmlFault) { throw malformed(fault) }
  let declaration = text.prefix(200).prefix { $0 != ">" }.lowercased()
  if declaration.contains("encoding="), !declaration.contains("utf-8") {
    throw malformed("declares another encoding than UTF-8")
  }

  let collector = ItemCollector()
  let parser = XMLParser(data: Data(bytes))
  parser.shouldResolveExternalEntities = false
  parser.delegate = collector
  let succeeded = parser.parse()
  if let reason = collector.refusal { throw malformed(reason) }
  guard succeeded, parser.parserError == nil, collector.isClosed else {
    throw malformed("not complete XML")
  }
  return collector.items
}

/// What goes beyond `InputLimit`, or defines entities. One pass over the bytes: the parser takes the square of the
/// number of attributes.
private func xmlFault(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
  switch XMLProlog.check(bytes) {
  case .element: break
  case .refused(let reason): return reason
  case .unfinished: return "not complete XML"
  }
  func stands(_ text: StaticString, at index: Int) -> Bool {
    index + text.utf8CodeUnitCount <= bytes.count
      && (0..<text.utf8CodeUnitCount).allSatisfy { bytes[index + $0] == text.utf8Start[$0] }
  }
  var elements = 0
  var textBytes = 0
  var index = 0
  while index < bytes.count {
    guard bytes[index] == UInt8(ascii: "<") else {
      textBytes += 1
      guard textBytes <= InputLimit.textBytes.value else {
        return "a text of more than \(InputLimit.textBytes.value) bytes"
      }
      index += 1
      continue
    }
    let start = index
    if stands("<![CDATA[", at: index) {
      while index < bytes.count, !stands("]]>", at: index) { index += 1 }
      textBytes += index - start
      guard textBytes <= InputLimit.textBytes.value else {
        return "a text of more than \(InputLimit.textBytes.value) bytes"
      }
      continue
    }
    if stands("<!--", at: index) {
      while index < bytes.count, !stands("-->", at: index) { index += 1 }
      continue
    }
    while index < bytes.count, bytes[index] != UInt8(ascii: ">") { index += 1 }
    guard index - start <= InputLimit.tagBytes.value else {
      return "a tag of more than \(InputLimit.tagBytes.value) bytes"
    }
    elements += 1
    guard elements <= 2 * InputLimit.elements.value else {
      return "more than \(InputLimit.elements.value) elements"
    }
    textBytes = 0
  }
  return nil
}

private final class ItemCollector: NSObject, XMLParserDelegate {
  private(set) var items: [[String: String]] = []
  private(set) var isClosed = false
  private(set) var refusal: String?
  private var path: [String] = []
  private var item: [String: String] = [:]
  private var text = ""

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    if path.isEmpty, name != "rss" || isClosed {
      refusal = "the root is <\(name.plain)>, not one <rss>"
      parser.abortParsing()
    }
    if path.count > 20 {
      refusal = "nested too deeply"
      parser.abortParsing()
    }
    path.append(name)
    if path.last == "item" { item = [:] }
    text = ""
  }

  func parser(_: XMLParser, foundCharacters string: String) { text += string }

  func parser(_: XMLParser, foundCDATA block: Data) {
    text += String(decoding: block, as: UTF8.self)
  }

  func parser(
    _: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    guard path.last == name else { return }
    path.removeLast()
    if path == ["rss", "channel"], name == "item" {
      items.append(item)
    } else if path == ["rss", "channel", "item"] {
      // Two prices in one item contradict each other; the item is then unreadable as a whole.
      item[name] = item[name] == nil ? text : "\(item[name] ?? "")|\(text)"
    }
    if path.isEmpty { isClosed = true }
    text = ""
  }
}
