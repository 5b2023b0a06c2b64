import Foundation
import Glibc

/// Reports the progress of long work on standard error. On a terminal it redraws one line.
/// Elsewhere it writes a line every five seconds, and every thirty seconds after the first half
/// minute. It reports nothing for short work.
package final class Progress {
  private var what: String
  private var began = ContinuousClock.now
  private var shown: ContinuousClock.Instant?
  private let isTerminal =
    isatty(STDERR_FILENO) == 1
    && ProcessInfo.processInfo.environment["TERM"] != "dumb"

  private let isSilent: Bool

  /// - Parameter isUsual: whether the work is a regular job of cron. Progress of such work appears
  ///   only on a terminal.
  package init(what: String, isUsual: Bool = false) {
    self.what = what
    isSilent = isUsual && !isTerminal
  }

  /// Begins another part of the work, whose progress says nothing about that of the part before.
  package func begin(_ what: String) {
    guard what != self.what else { return }
    self.what = what
    began = ContinuousClock.now
  }

  /// Shows how much of the work is done, and how long the rest may take.
  package func show(_ done: Int, of total: Int, _ note: String = "") {
    let now = ContinuousClock.now
    let patience: Duration =
      isTerminal ? .milliseconds(200) : .seconds(now - began < .seconds(30) ? 5 : 30)
    guard !isSilent, now - max(shown ?? began, began) >= patience, done > 0 else { return }
    shown = now
    let seconds = Double((now - began).components.seconds) + 0.001
    // The first pieces are slower than the others, because nothing is in memory yet.
    let left =
      done * 50 < total ? "" : ", \(Int(seconds / Double(done) * Double(total - done))) s left"
    let line =
      "\(what) \(done) of \(total) (\(done * 100 / max(1, total)) %)\(left)\(note)"
    talk(isTerminal ? "\r\u{1B}[K\(line)" : line + "\n")
  }

  /// Ends the line on a terminal.
  package func end() {
    if isTerminal, shown != nil { talk("\r\u{1B}[K") }
  }
}
