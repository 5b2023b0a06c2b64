package import Feeds
package import FuelModel
import Synchronization

extension ReadingRequest {
  /// Carries out the request as the reading process does.
  ///
  /// - Returns: the frames of the answer.
  package func answer(of source: Source) throws -> [[UInt8]] {
    var bytes = pieces.joined().makeIterator()
    let received = try ReadingRequest { count in
      (0..<count).compactMap { _ in bytes.next() }
    }
    let frames = Mutex<[[UInt8]]>([])
    received.answer(of: source) { frame in frames.withLock { $0.append(frame) } }
    return frames.withLock { $0 }
  }

  /// Returns the reading in the frames of an answer.
  package static func reading(of source: Source, in frames: [[UInt8]]) throws -> Reading {
    var rest = frames[...]
    return try reading(of: source) {
      guard let frame = rest.popFirst() else { throw FrameReader.Broken("it ends too early") }
      return frame
    }
  }
}
