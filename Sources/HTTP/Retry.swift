import Foundation
import Synchronization

/// How often a request is repeated and how long to wait in between.
package struct Retry: Sendable {
  /// The number of attempts, the first one included.
  package var attempts: Int
  /// The instant after which no request is repeated, on a clock that nobody can set.
  package var deadline: ContinuousClock.Instant
  /// The shortest pause between two attempts, where the provider's rules state one.
  package var leastSeconds: Int
  package var sleep: @Sendable (Duration) async -> Void = { duration in
    // Only cancellation ends a sleep early. The next request then fails by itself.
    try? await Task.sleep(for: duration)
  }
  /// Returns a number from 0 to 1 that varies the pauses, so that many machines do not repeat their
  /// requests at the same moment.
  package var jitter: @Sendable () -> Double = { Double.random(in: 0...1) }
  /// Returns the wall-clock time in seconds since 1970, for `Retry-After` headers that contain
  /// dates.
  package var wallClock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

  package init(attempts: Int, deadline: ContinuousClock.Instant, leastSeconds: Int = 0) {
    self.attempts = attempts
    self.deadline = deadline
    self.leastSeconds = leastSeconds
  }
}

/// The number of requests that this machine has sent, for quotas.
package final class RequestCount: Sendable {
  private let sent = Atomic<Int>(0)
  package init() {}
  package var value: Int { sent.load(ordering: .relaxed) }
  func add() { sent.add(1, ordering: .relaxed) }
}

/// The result of a request after all attempts.
package enum Outcome: Sendable {
  case answer(Response)
  /// The server asked for a pause that lasts beyond the deadline, or answered 429 in the end.
  case comeBack(status: Int, afterSeconds: Int)
  /// The deadline came while the server was silent, before the limit of a request.
  case outOfTime
  case failure(HTTPError)
}

extension Client {
  /// Sends a request and repeats it after a pause where the fault may pass: no connection, no
  /// answer in time, or status 408, 429 or 5xx.
  ///
  /// - Parameter counting: counts every request sent, repeats included.
  package func send(
    _ request: Request, retry: Retry, counting: RequestCount? = nil
  ) async -> Outcome {
    var attempt = 1
    while true {
      let left = retry.deadline - .now
      var request = request
      request.timeoutSeconds = max(1, Int(left.components.seconds))
      counting?.add()
      let result: Result<Response, HTTPError>
      do {
        result = .success(try await send(request))
      } catch {
        if case .tooSlow(_, let seconds) = error, seconds == request.timeoutSeconds {
          return .outOfTime
        }
        result = .failure(error)
      }
      var wait = Double(1 << (attempt - 1)) * (0.5 + retry.jitter() / 2)
      if let outcome = retry.outcome(of: result, attempt: attempt, wait: &wait) { return outcome }
      wait = max(wait, Double(retry.leastSeconds))
      guard ContinuousClock.now + .seconds(wait) < retry.deadline else {
        return Retry.last(result, wait: wait)
      }
      await retry.sleep(.seconds(wait))
      attempt += 1
    }
  }
}

extension Retry {
  /// Returns what an attempt came to; `nil` where the request is repeated.
  ///
  /// - Parameter wait: the pause before the next attempt, in seconds. It becomes longer where the
  ///   server asks for that.
  fileprivate func outcome(
    of result: Result<Response, HTTPError>, attempt: Int, wait: inout Double
  ) -> Outcome? {
    switch result {
    case .failure(let error):
      if !error.mayHeal || attempt >= attempts { return .failure(error) }
    case .success(let response):
      guard [408, 429].contains(response.status) || (500...599).contains(response.status) else {
        return .answer(response)
      }
      let asked = retryAfter(response, wallClock: wallClock())
      if let asked {
        // A pause of a year is a mistake of the server; more than a day is not believed.
        let seconds = min(asked, 86_400)
        if deadline < .now + .seconds(seconds) {
          return .comeBack(status: response.status, afterSeconds: seconds)
        }
        wait = max(wait, Double(seconds))
      }
      // Status 429 without a `Retry-After`: further requests would only make it worse.
      if response.status == 429, asked == nil {
        return .comeBack(status: 429, afterSeconds: 600)
      }
      if attempt >= attempts { return Self.last(result, wait: wait) }
    }
    return nil
  }

  /// Returns what the last attempt came to.
  fileprivate static func last(_ result: Result<Response, HTTPError>, wait: Double) -> Outcome {
    switch result {
    case .failure(let error): .failure(error)
    case .success(let response):
      response.status == 429
        ? .comeBack(status: 429, afterSeconds: max(60, Int(wait))) : .answer(response)
    }
  }
}

/// Returns the seconds that a `Retry-After` header states, as a number or as an HTTP date; a past
/// date is 0. `nil` where there is no header or it cannot be understood.
package func retryAfter(_ response: Response, wallClock: Double) -> Int? {
  guard let text = response.headers["retry-after"]?.trimmingCharacters(in: .whitespaces) else {
    return nil
  }
  if let seconds = Int(text) { return seconds >= 0 ? seconds : nil }
  return httpDate(text).map { max(0, Int(($0 - wallClock).rounded(.up))) }
}

/// Reads a date in the form of HTTP, `Sun, 06 Nov 1994 08:49:37 GMT`, as seconds since 1970.
package func httpDate(_ text: String) -> Double? {
  let formatter = DateFormatter()
  formatter.locale = Locale(identifier: "en_US_POSIX")
  formatter.timeZone = TimeZone(identifier: "GMT")
  formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
  return formatter.date(from: text)?.timeIntervalSince1970
}
