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
  var gate = XMLGate(elements: InputLimit.elements.value)
  if let fault = bytes.withUnsafeBufferPointer({ gate.refusal(of: $0) }) { throw malformed(fault) }
  guard gate.isWhole else { throw malformed("not complete XML") }
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
