/// Why a file is not read at all.
package struct ArchiveRefusal: Error, Equatable, CustomStringConvertible {
  package let file: String
  package let reason: String
  /// Rows that were read before, for the record.
  package let received: Int

  package init(file: String, _ reason: String, received: Int = 0) {
    self.file = file
    self.reason = reason
    self.received = received
  }

  package var description: String { "\(file): \(reason)" }
}
