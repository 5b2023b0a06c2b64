package import FuelModel

/// Reads the documents of a run, in this process or in a confined one.
package struct DocumentReader: Sendable {
  /// Returns the content of the documents, which may be large: a reader lets go of them as soon as
  /// it can.
  package var parse: @Sendable (consuming [Document], Source) throws -> Reading
  /// Returns the codes in the documents of which further calls of the run are made.
  package var codes: @Sendable ([Document], Source) throws -> [String]

  package init(
    parse: @escaping @Sendable (consuming [Document], Source) throws -> Reading,
    codes: @escaping @Sendable ([Document], Source) throws -> [String]
  ) {
    self.parse = parse
    self.codes = codes
  }

  /// Reads in this process.
  package static let here = DocumentReader(
    parse: { try $1.provider.parse($0, of: $1) }, codes: { try $1.provider.codes(in: $0) })
}

extension Provider {
  /// Returns the content of the documents.
  package static func parse(
    _ documents: [Document], of source: Source
  ) throws(FeedError) -> Reading {
    var reading = Reading(coverage: .complete)
    try parse(documents, of: source, into: &reading)
    return reading
  }
}

/// A request to the confined process that reads documents for another one. The request is one frame,
/// and so is the answer.
package struct ReadingRequest: Sendable {
  /// What is asked for: what the documents state, or the codes of which further calls are made.
  package enum Wish: UInt8, Sendable {
    case reading, codes
  }

  private let wish: Wish
  private let documents: [Document]

  package init(_ wish: Wish, _ documents: [Document]) {
    self.wish = wish
    self.documents = documents
  }

  /// The bytes of the request.
  package var frame: [UInt8] {
    var frame = FrameWriter()
    frame.write(wish.rawValue)
    frame.write(each: documents) { frame, document in
      frame.write(document.name)
      frame.write(bytes: document.bytes)
      frame.write(document.fetchedAt.microseconds)
    }
    return frame.bytes
  }

  /// Reads a request.
  package init(from bytes: [UInt8]) throws {
    var frame = FrameReader(bytes)
    guard let wish = Wish(rawValue: try frame.integer()) else {
      throw FrameReader.Broken("an unknown request")
    }
    let documents = try frame.each { frame in
      Document(
        name: try frame.plain(), bytes: try frame.rawBytes(),
        fetchedAt: Instant(microseconds: try frame.integer()))
    }
    self.init(wish, documents)
  }

  /// Carries out the request and returns the answer. An error in the documents is an answer too.
  package func answer(of source: Source) -> [UInt8] {
    var frame = FrameWriter()
    do {
      switch wish {
      case .reading:
        let reading = try source.provider.parse(documents, of: source)
        frame.write(Kind.sound.rawValue)
        reading.write(to: &frame)
      case .codes:
        let codes = try source.provider.codes(in: documents)
        frame.write(Kind.sound.rawValue)
        frame.write(each: codes) { $0.write($1) }
      }
    } catch .malformed(let document, let reason) {
      frame.write(Kind.malformed.rawValue)
      frame.write(document.line(ofBytes: 1_000))
      frame.write(reason.line(ofBytes: 1_000))
    } catch {
      frame.write(Kind.refused.rawValue)
      frame.write(error.description.line(ofBytes: 1_000))
    }
    return frame.bytes
  }

  private enum Kind: UInt8 {
    case sound, malformed, refused
  }

  /// Returns the reading that an answer contains.
  ///
  /// - Throws: the `FeedError` that the answer contains, or `FrameReader.Broken` for an answer that
  ///   cannot be trusted.
  package static func reading(from answer: [UInt8]) throws -> Reading {
    try content(of: answer) { try Reading(from: &$0) }
  }

  /// Returns the codes that an answer contains. Throws as `reading(from:)` does.
  package static func codes(from answer: [UInt8]) throws -> [String] {
    try content(of: answer) { frame in try frame.each { try $0.plain() } }
  }

  private static func content<Content>(
    of answer: [UInt8], _ read: (inout FrameReader) throws -> Content
  ) throws -> Content {
    var frame = FrameReader(answer)
    func line() throws -> String { try frame.line(ofBytes: 1_000) }
    let content: Result<Content, FeedError>
    switch Kind(rawValue: try frame.integer()) {
    case .sound: content = .success(try read(&frame))
    case .malformed: content = .failure(.malformed(document: try line(), reason: try line()))
    case .refused: content = .failure(.refused(try line()))
    case nil: throw FrameReader.Broken("an unknown kind of answer")
    }
    guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of an answer") }
    return try content.get()
  }
}
