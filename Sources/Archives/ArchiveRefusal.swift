/// Why a whole file of an archive is refused.
package struct ArchiveRefusal: Error, Equatable, CustomStringConvertible {
  package let file: String
  package let reason: String
  /// The price records that were read before the refusal, for the ledger.
  package let received: Int

  package init(file: String, _ reason: String, received: Int = 0) {
    self.file = file
    self.reason = reason
    self.received = received
  }

  package var description: String { "\(file): \(reason)" }
}
