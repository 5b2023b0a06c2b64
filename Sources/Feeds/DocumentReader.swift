package import FuelModel

/// Reads the documents of a run, in this process or in a confined one.
package struct DocumentReader: Sendable {
  /// Returns the content of the documents.
  package var parse: @Sendable ([Document], Source) throws -> Reading
  /// Returns the further calls of the run that the documents lead to.
  package var calls: @Sendable ([Document], Source) throws -> [Call]

  package init(
    parse: @escaping @Sendable ([Document], Source) throws -> Reading,
    calls: @escaping @Sendable ([Document], Source) throws -> [Call]
  ) {
    self.parse = parse
    self.calls = calls
  }

  /// Reads in this process.
  package static let here = DocumentReader(
    parse: { try $1.provider.parse($0, of: $1) }, calls: { try $1.provider.calls($1, after: $0) })
}

/// The messages between a process and the confined process that reads documents for it.
package enum ReadingRequest {
  package enum Wish: UInt8 {
    case reading, calls
  }

  package static func bytes(_ wish: Wish, _ documents: [Document]) -> [UInt8] {
    var frame = FrameWriter()
    frame.write(wish.rawValue)
    frame.write(each: documents) { frame, document in
      frame.write(document.name)
      frame.write(document.fetchedAt.microseconds)
      frame.write(bytes: document.bytes)
    }
    return frame.bytes
  }

  /// Carries out a request. An error in the documents is a part of the answer; an unreadable
  /// request is thrown.
  package static func answer(_ request: [UInt8], of source: Source) throws -> [UInt8] {
    var frame = FrameReader(request)
    guard let wish = Wish(rawValue: try frame.integer()) else {
      throw FrameReader.Broken("an unknown request")
    }
    let documents = try frame.each { frame throws(FrameReader.Broken) in
      Document(
        name: try frame.plain(), bytes: [], fetchedAt: Instant(microseconds: try frame.integer())
      ).with(bytes: try frame.rawBytes())
    }
    var answer = FrameWriter()
    do {
      switch wish {
      case .reading:
        let reading = try source.provider.parse(documents, of: source)
        answer.write(UInt8(0))
        reading.write(to: &answer)
      case .calls:
        let calls = try source.provider.calls(source, after: documents)
        answer.write(UInt8(0))
        answer.write(each: calls) { $1.write(to: &$0) }
      }
    } catch {
      answer = FrameWriter()
      error.write(to: &answer)
    }
    return answer.bytes
  }

  /// Returns the reading that an answer contains.
  ///
  /// - Throws: the `FeedError` that the answer contains, or `FrameReader.Broken` for an answer that
  ///   cannot be trusted.
  package static func reading(
    from answer: [UInt8], of source: Source
  ) throws -> Reading {
    var frame = FrameReader(answer)
    try throwError(in: &frame)
    let reading = try Reading(from: &frame, in: source.country)
    guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of an answer") }
    return reading
  }

  package static func calls(from answer: [UInt8]) throws -> [Call] {
    var frame = FrameReader(answer)
    try throwError(in: &frame)
    let calls = try frame.each { frame throws(FrameReader.Broken) in try Call(from: &frame) }
    guard frame.isAtEnd else { throw FrameReader.Broken("bytes after the end of an answer") }
    return calls
  }

  private static func throwError(in frame: inout FrameReader) throws {
    let kind: UInt8 = try frame.integer()
    func line() throws -> String { try frame.line(ofBytes: 1_000) }
    switch kind {
    case 0: return
    case 1: throw FeedError.malformed(document: try line(), reason: try line())
    case 2: throw FeedError.refused(try line())
    default: throw FrameReader.Broken("an unknown kind of answer")
    }
  }
}

extension Document {
  fileprivate func with(bytes: [UInt8]) -> Document {
    var document = self
    document.bytes = bytes
    return document
  }
}

extension FeedError {
  fileprivate func write(to frame: inout FrameWriter) {
    if case .malformed(let document, let reason) = self {
      frame.write(UInt8(1))
      frame.write(document.line(ofBytes: 1_000))
      frame.write(reason.line(ofBytes: 1_000))
    } else {
      frame.write(UInt8(2))
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
