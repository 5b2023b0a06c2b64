import Foundation
import FuelModel

/// A JSON document with long lists, which are decoded in pieces: the decoder needs several times as
/// much memory as the text that it decodes.
///
/// The lists are the document itself, or values of its outermost object.
struct JSONLists {
  /// Where the elements of a list are in a document.
  struct Place {
    /// The key of the list; `nil` where the list is the document.
    let key: String?
    /// Where the piece begins that has not ended yet.
    private(set) var begins: Int
    private(set) var pieces: [Range<Int>] = []

    init(key: String?, begins: Int) {
      self.key = key
      self.begins = begins
    }

    /// Everything between the brackets.
    fileprivate var content: Range<Int> { (pieces.first?.lowerBound ?? begins)..<begins }

    mutating func endPiece(at comma: Int) {
      pieces.append(begins..<comma)
      begins = comma + 1
    }

    mutating func end(at bracket: Int) {
      pieces.append(begins..<bracket)
      begins = bracket
    }
  }

  private let document: Document
  private let places: [Place]
  private let frame: Frame

  /// Finds the lists with the given keys. Whatever else the document contains is decoded at once.
  ///
  /// - Parameters:
  ///   - keys: the keys of the lists; `nil` where the document itself is the list.
  ///   - pieceBytes: the length of a piece of a list. The last piece of a list may be shorter, and
  ///     any piece longer by one element.
  /// - Throws: where the document would be no JSON, whatever these lists contain.
  init(
    _ document: Document, of keys: Set<String>?, pieceBytes: Int = 512 * 1024
  ) throws(FeedError) {
    self.document = document
    places = try checkStructure(of: document, lists: .init(keys: keys, pieceBytes: pieceBytes))
    var rest: [UInt8] = []
    var end = 0
    for place in places {
      rest += document.bytes[end..<place.content.lowerBound]
      end = place.content.upperBound
    }
    rest += document.bytes[end...]
    frame = try decodeJSON(Frame.self, from: rest[...], of: document.name)
  }

  /// The lists to look for.
  struct Wanted {
    /// The keys of the lists; `nil` where the document itself is the list.
    var keys: Set<String>?
    var pieceBytes: Int
  }

  /// Passes on the elements of a list, one after another, and hands on what was read of each piece.
  ///
  /// - Parameter key: the key of the list; `nil` where the list is the document.
  /// - Returns: the number of elements.
  /// - Throws: where there is no such list, or where a piece of it is not JSON.
  @discardableResult
  func read<Element: Decodable>(
    _ key: String?, of type: Element.Type, into reading: inout Reading,
    _ body: (Lenient<Element>, inout Reading) -> Void
  ) throws(FeedError) -> Int {
    guard let place = places.first(where: { $0.key == key }) else {
      throw .malformed(document: document.name, reason: frame.lacks(key))
    }
    var count = 0
    for piece in place.pieces {
      let elements = try decodeJSON(
        [Lenient<Element>].self,
        from: [UInt8(ascii: "[")] + document.bytes[piece] + [UInt8(ascii: "]")], of: document.name)
      for element in elements { body(element, &reading) }
      count += elements.count
      reading.handOn()
    }
    return count
  }

  /// What is around the lists.
  private struct Frame: Decodable {
    /// The keys of the outermost object; `nil` where there is none.
    var keys: Set<String>?

    init(from decoder: any Decoder) throws {
      do {
        keys = Set(try decoder.container(keyedBy: JSONKey.self).allKeys.map(\.stringValue))
      } catch DecodingError.typeMismatch {
        // A list, a text or a number. Any other error means that it is not JSON.
      } catch DecodingError.valueNotFound {
        // null
      }
    }

    /// Returns why there is no list with a key.
    func lacks(_ key: String?) -> String {
      guard let key else { return "the document is not a list" }
      guard let keys else { return "the document is not an object" }
      return keys.contains(key) ? "'\(key)' is not a list" : "the document: '\(key)' is missing"
    }
  }
}
