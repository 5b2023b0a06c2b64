import Dispatch
import Foundation

/// Ends the process when it has worked for longer than it may, whatever hangs: the server rolls back
/// what was open. Cron starts the next run.
enum Watchdog {
  static func start(seconds: Int) {
    DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
      talk("bowser: the deadline of \(seconds) s has passed\n")
      exit(ExitCode.tryAgain.rawValue)
    }
  }
}
