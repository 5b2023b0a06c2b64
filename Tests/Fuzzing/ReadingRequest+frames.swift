package import Feeds

extension ReadingRequest {
  /// Carries out the request as the reading process does, and returns the answer.
  package func carriedOut(for source: Source) throws -> [UInt8] {
    try ReadingRequest(from: frame).answer(of: source)
  }
}
