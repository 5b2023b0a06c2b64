import Postgres

#if canImport(Glibc)
  import Glibc
#endif

/// Ends the process when it has worked for longer than it may, whatever hangs: the server rolls back
/// what was open. Cron starts the next run.
///
/// What waits for the network or the database ends by itself at the deadline and can say what it waited for; this is
/// for everything else, and for a machine without memory: the kernel's own timer needs neither a thread nor a byte.
enum Watchdog {
  /// How long after the deadline: what has ended by itself still cleans up and tells.
  private static let graceSeconds = 20

  /// - Parameter isParent: whether it waits for processes with the same deadline, and has to pass on what they say.
  static func start(_ deadline: Deadline, isParent: Bool) {
    guard let left = deadline.millisecondsLeft else { return arm(seconds: 0) }
    arm(seconds: left / 1_000 + graceSeconds * (isParent ? 2 : 1))
  }

  /// Ends the process after so many seconds, and not after those that were set before; 0: never.
  static func arm(seconds: Int) {
    signal(SIGALRM) { _ in
      // Nothing that takes memory or a lock may happen here.
      let words: StaticString = "bowser: not done by the deadline; or there is no memory left\n"
      _ = Glibc.write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
      _exit(ExitCode.tryAgain.rawValue)
    }
    alarm(UInt32(seconds))
  }
}
