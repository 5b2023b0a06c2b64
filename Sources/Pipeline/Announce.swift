import Logging
import Store

/// Notifies listening services that something was committed. The commit stands even if a
/// notification fails: listeners catch up from `fuel_v1.changes`.
extension Ledger {
  func announce(_ run: RunID, log: Logger) {
    hint(log) { try announceRun(run) }
  }

  func announce(aggregate run: RunID, newVerdicts: Int, log: Logger) {
    hint(log) { try announceAggregate(run, newVerdicts: newVerdicts) }
  }

  private func hint(_ log: Logger, _ body: () throws -> Void) {
    do {
      try body()
    } catch {
      log.info("listeners not notified", ["error": "\(error)"])
    }
  }
}
