package import Feeds

extension ReadingRequest {
  /// Carries out the request as the reading process does, and returns the answer.
  package func carriedOut(for source: Source) throws -> [UInt8] {
    var bytes = pieces.joined().makeIterator()
    let received = try ReadingRequest { count in
      (0..<count).compactMap { _ in bytes.next() }
    }
    return received.answer(of: source)
  }
}
