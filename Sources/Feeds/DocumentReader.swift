package import FuelModel

/// Reads the documents of a run, in this process or in a confined one.
package struct DocumentReader: Sendable {
  /// Returns the content of the documents, which may be large: a reader lets go of them as soon as
  /// it can.
  package var parse: @Sendable (consuming [Document], Source) throws -> Reading
  /// Returns the further calls of the run that the documents lead to.
  package var calls: @Sendable ([Document], Source) throws -> [Call]

  package init(
    parse: @escaping @Sendable (consuming [Document], Source) throws -> Reading,
    calls: @escaping @Sendable ([Document], Source) throws -> [Call]
  ) {
    self.parse = parse
    self.calls = calls
  }

  /// Reads in this process.
  package static let here = DocumentReader(
    parse: { try $1.provider.parse($0, of: $1) }, calls: { try $1.provider.calls($1, after: $0) })
}

/// A request to the confined process that reads documents for another one. The answer consists of
/// frames: any number of parts of the reading, and an end.
package struct ReadingRequest: Sendable {
  /// What is asked for: what the documents state, or the calls that they lead to.
  package enum Wish: UInt8, Sendable {
    case reading, calls
  }

  private let wish: Wish
  private let documents: [Document]

  package init(_ wish: Wish, _ documents: [Document]) {
    self.wish = wish
    self.documents = documents
  }

  /// The bytes of the request: a head, preceded by its length, and the documents as they are.
  package var pieces: [[UInt8]] {
    var head = FrameWriter()
    head.write(wish.rawValue)
    head.write(each: documents) { frame, document in
      frame.write(document.name)
      frame.write(document.fetchedAt.microseconds)
      frame.write(UInt64(document.bytes.count))
    }
    var length = FrameWriter()
    length.write(UInt32(head.bytes.count))
    return [length.bytes, head.bytes] + documents.map(\.bytes)
  }

  /// Reads a request.
  ///
  /// - Parameter bytes: returns the next bytes, exactly as many as it is asked for.
  package init(from bytes: (Int) throws -> [UInt8]) throws {
    var length = FrameReader(try bytes(4))
    var head = FrameReader(try bytes(Int(try length.integer(UInt32.self))))
    guard let wish = Wish(rawValue: try head.integer()) else {
      throw FrameReader.Broken("an unknown request")
    }
    let sizes = try head.each { frame throws(FrameReader.Broken) in
      (
        name: try frame.plain(), fetchedAt: Instant(microseconds: try frame.integer()),
        count: Int(try frame.integer(UInt64.self))
      )
    }
    self.init(
      wish,
      try sizes.map { size in
        Document(name: size.name, bytes: try bytes(size.count), fetchedAt: size.fetchedAt)
      })
  }

  /// Carries out the request. An error in the documents is a part of the answer.
  ///
  /// - Parameter send: takes one frame of the answer.
  package func answer(of source: Source, _ send: @escaping @Sendable ([UInt8]) -> Void) {
    var end = FrameWriter()
    do {
      switch wish {
      case .reading:
        var reading = Reading(coverage: .complete) { part in
          var frame = FrameWriter()
          frame.write(Kind.part.rawValue)
          part.write(to: &frame)
          send(frame.bytes)
        }
        try source.provider.parse(documents, of: source, into: &reading)
        end.write(Kind.end.rawValue)
        reading.write(to: &end)
      case .calls:
        let calls = try source.provider.calls(source, after: documents)
        end.write(Kind.end.rawValue)
        end.write(each: calls) { $1.write(to: &$0) }
      }
    } catch {
      end = FrameWriter()
      error.write(to: &end)
    }
    send(end.bytes)
  }

  fileprivate enum Kind: UInt8 {
    case end, malformed, refused, part
  }

  /// Returns the reading that an answer contains.
  ///
  /// - Parameter next: returns the next frame of the answer.
  /// - Throws: the `FeedError` that the answer contains, or `FrameReader.Broken` for an answer that
  ///   cannot be trusted.
  package static func reading(
    of source: Source, from next: () throws -> [UInt8]
  ) throws -> Reading {
    var whole = Reading(coverage: .complete)
    while true {
      var frame = FrameReader(try next())
      let isPart = try isPart(&frame)
      let part = try Reading(from: &frame)
      guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of an answer") }
      whole.append(part)
      if !isPart { return whole }
    }
  }

  /// Reads the answer to a request for calls.
  package static func calls(from frame: [UInt8]) throws -> [Call] {
    var frame = FrameReader(frame)
    guard try !isPart(&frame) else { throw FrameReader.Broken("a part of a list of calls") }
    let calls = try frame.each { frame throws(FrameReader.Broken) in try Call(from: &frame) }
    guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of an answer") }
    return calls
  }

  /// Returns whether more frames follow this one.
  private static func isPart(_ frame: inout FrameReader) throws -> Bool {
    func line() throws -> String { try frame.line(ofBytes: 1_000) }
    let error: FeedError
    switch Kind(rawValue: try frame.integer()) {
    case .end: return false
    case .part: return true
    case .malformed: error = .malformed(document: try line(), reason: try line())
    case .refused: error = .refused(try line())
    case nil: throw FrameReader.Broken("an unknown kind of answer")
    }
    guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of an answer") }
    throw error
  }
}

extension FeedError {
  fileprivate func write(to frame: inout FrameWriter) {
    if case .malformed(let document, let reason) = self {
      frame.write(ReadingRequest.Kind.malformed.rawValue)
      frame.write(document.line(ofBytes: 1_000))
      frame.write(reason.line(ofBytes: 1_000))
    } else {
      frame.write(ReadingRequest.Kind.refused.rawValue)
      frame.write(description.line(ofBytes: 1_000))
    }
  }
}

extension Call {
  fileprivate func write(to frame: inout FrameWriter) {
    frame.write(name)
    frame.write(path)
    frame.write(each: query) { frame, item in
      frame.write(item.0)
      frame.write(item.1)
    }
    frame.write(each: headers.sorted { $0.key < $1.key }) { frame, header in
      frame.write(header.key)
      frame.write(header.value)
    }
    frame.write(bytes: body)
    frame.write(isPage)
  }

  fileprivate init(from frame: inout FrameReader) throws(FrameReader.Broken) {
    let limit = InputLimit.textBytes.value
    let name = try frame.plain()
    let path = try frame.line(ofBytes: limit)
    let query = try frame.each { frame throws(FrameReader.Broken) in
      (try frame.line(ofBytes: limit), try frame.line(ofBytes: limit))
    }
    let headers = try frame.each { frame throws(FrameReader.Broken) in
      (try frame.line(ofBytes: limit), try frame.line(ofBytes: limit))
    }
    self.init(
      name: name, path: path, query: query,
      headers: Dictionary(headers, uniquingKeysWith: { _, last in last }),
      body: try frame.rawBytes())
    isPage = try frame.boolean()
  }
}
