import Foundation
import FoundationXML
import FuelModel

/// Returns the items of an RSS document in their order; each maps element names to texts.
///
/// `XMLParser.parse()` returns `true` for a truncated document, for an empty one and for two roots.
/// Only the absence of an error and a closed root together prove a complete document. The parser
/// also drops entity references silently, so every document type is refused before parsing.
///
/// - Throws: for anything that is not one complete `<rss>` element in UTF-8 below 10 MB.
func rssItems(_ document: Document) throws(FeedError) -> [[String: String]] {
  func malformed(_ reason: String) -> FeedError {
    .malformed(document: document.name, reason: reason)
  }
  var bytes = document.bytes[...]
  if let empty = document.emptiness { throw malformed(Document.isEmpty(empty)) }
  if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
  // Above 10 MB libxml2 fails, but only after it has delivered every element.
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
      // Two prices in one item contradict each other. Joined, neither of them can be read.
      item[name] = item[name] == nil ? text : "\(item[name] ?? "")|\(text)"
    }
    if path.isEmpty { isClosed = true }
    text = ""
  }
}
