import Glibc
import Postgres

/// Ends the process if it works for longer than it may, whatever part of it hangs. The database
/// server then rolls back the open transaction, and cron starts the next run.
///
/// Code that waits for the network or the database ends by itself at the deadline and can report
/// what it waited for. The watchdog covers everything else, such as a machine without free memory:
/// the kernel's timer needs neither a thread nor memory.
enum Watchdog {
  /// Seconds after the deadline, in which code that has ended by itself cleans up and reports.
  private static let graceSeconds = 20

  /// - Parameter isParent: whether the process waits for child processes with the same deadline and
  ///   has to pass on what they report.
  static func start(_ deadline: Deadline, isParent: Bool) {
    guard let left = deadline.millisecondsLeft else { return arm(seconds: 0) }
    arm(seconds: left / 1_000 + graceSeconds * (isParent ? 2 : 1))
  }

  /// Ends the process after a number of seconds, which replaces any earlier number. 0 means never.
  static func arm(seconds: Int) {
    signal(SIGALRM) { _ in
      // A signal handler must not allocate memory or take a lock.
      let words: StaticString = "bowser: not done by the deadline, or out of memory\n"
      _ = Glibc.write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
      _exit(ExitCode.tryAgain.rawValue)
    }
    // A program that was started by a thread of a dispatch queue inherits its blocked signals.
    var alarms = sigset_t()
    sigemptyset(&alarms)
    sigaddset(&alarms, SIGALRM)
    pthread_sigmask(SIG_UNBLOCK, &alarms, nil)
    alarm(UInt32(seconds))
  }
}
