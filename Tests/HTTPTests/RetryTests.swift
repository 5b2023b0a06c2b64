import Foundation
import Synchronization
import Testing

@testable import HTTP

/// Repeated attempts, with a clock that does not really wait.
struct RetryTests {
  /// Gives answers from a list, the last one for ever, and records how long it was asked to wait.
  private final class Script: Sendable {
    let answers: [Result<Response, HTTPError>]
    let sent = Mutex(0)
    let waits = Mutex<[Duration]>([])

    init(_ answers: [Result<Response, HTTPError>]) { self.answers = answers }

    var client: Client {
      Client { _ async throws(HTTPError) -> Response in
        let index = self.sent.withLock { sent in
          sent += 1
          return sent - 1
        }
        return try self.answers[min(index, self.answers.count - 1)].get()
      }
    }

    func retry(attempts: Int = 4, seconds: Int = 300) -> Retry {
      var retry = Retry(attempts: attempts, deadline: .now + .seconds(seconds))
      retry.sleep = { duration in self.waits.withLock { $0.append(duration) } }
      retry.jitter = { 1 }
      retry.wallClock = { 1_445_412_480 }  // Wed, 21 Oct 2015 07:28:00 GMT
      return retry
    }

    func run(attempts: Int = 4, seconds: Int = 300, count: RequestCount? = nil) async -> Outcome {
      await client.send(
        Request(url: URL(string: "https://example.org/")!),
        retry: retry(attempts: attempts, seconds: seconds), counting: count)
    }
  }

  private func status(_ status: Int, retryAfter: String? = nil) -> Result<Response, HTTPError> {
    .success(
      Response(status: status, headers: retryAfter.map { ["retry-after": $0] } ?? [:]))
  }

  /// F-H05: a fault that may pass is tried again after growing pauses. The third attempt succeeds.
  @Test(arguments: [408, 500, 502, 503, 504])
  func passingFaultsAreTriedAgain(code: Int) async {
    let script = Script([status(code), status(code), status(200)])
    let count = RequestCount()
    guard case .answer(let response) = await script.run(count: count) else {
      Issue.record("no answer")
      return
    }
    #expect(response.status == 200 && count.value == 3)
    #expect(script.waits.withLock { $0 } == [.seconds(1.0), .seconds(2.0)])
  }

  /// F-H19: a request whose connection was dropped is sent again, up to the number of attempts.
  @Test func triesEnd() async {
    let script = Script([status(503)])
    guard case .answer(let response) = await script.run() else {
      Issue.record("no answer")
      return
    }
    #expect(response.status == 503)
    #expect(script.sent.withLock { $0 } == 4)
    let broken = Script([.failure(.unreachable(host: "x", reason: "y"))])
    guard case .failure = await broken.run() else {
      Issue.record("no failure")
      return
    }
    #expect(broken.sent.withLock { $0 } == 4)
  }

  /// F-H09, F-H10, F-H11, F-H13: a final answer is taken at once, without a second attempt.
  @Test(arguments: [200, 304, 400, 401, 403, 404, 410])
  func finalAnswersAreTakenAtOnce(code: Int) async {
    let script = Script([status(code)])
    _ = await script.run()
    #expect(script.sent.withLock { $0 } == 1)
    let redirected = Script([.failure(.redirected(host: "a", status: 302, target: "b"))])
    _ = await redirected.run()
    #expect(redirected.sent.withLock { $0 } == 1)
  }

  /// F-H06: `Retry-After` is read as seconds, as a date, and as a date in the past.
  @Test(arguments: [
    ("7", [7.0]), ("Wed, 21 Oct 2015 07:28:09 GMT", [9.0]),
    ("Wed, 21 Oct 2015 07:00:00 GMT", [1.0]),
  ])
  func retryAfterIsHonoured(header: String, waits: [Double]) async {
    let script = Script([status(429, retryAfter: header), status(200)])
    guard case .answer = await script.run() else {
      Issue.record("no answer")
      return
    }
    #expect(script.waits.withLock { $0 } == waits.map { .seconds($0) })
  }

  /// F-H06: a rate limit without a usable waiting time ends the run without a second call. The run
  /// asks to come back after 600 s.
  @Test(arguments: ["-5", "soon", ""])
  func aBareLimitEndsTheRun(header: String) async {
    let script = Script([status(429, retryAfter: header), status(200)])
    guard case .comeBack(429, 600) = await script.run() else {
      Issue.record("no come back")
      return
    }
    #expect(script.sent.withLock { $0 } == 1)
  }

  /// F-H06: a waiting time beyond the end of the run ends it without a second call, and the run
  /// states when to come back. A year is cut to a day.
  @Test(arguments: [("3600", 3_600), ("31536000", 86_400)])
  func longRetryAfterEndsTheRun(header: String, seconds: Int) async {
    let script = Script([status(503, retryAfter: header)])
    guard case .comeBack(503, seconds) = await script.run() else {
      Issue.record("no come back")
      return
    }
    #expect(script.sent.withLock { $0 } == 1)
  }

  /// F-H03: a server that is silent until the deadline of the run has not used up the time that a
  /// request may take.
  @Test func theDeadlineIsNotTheLimitOfARequest() async {
    let silent = Client { request async throws(HTTPError) -> Response in
      throw HTTPError.tooSlow(host: "x", seconds: min(30, request.timeoutSeconds ?? 30))
    }
    func outcome(seconds: Int) async -> Outcome {
      await silent.send(
        Request(url: URL(string: "https://example.org/")!),
        retry: Retry(attempts: 1, deadline: .now + .seconds(seconds)))
    }
    guard case .outOfTime = await outcome(seconds: 5),
      case .failure(.tooSlow) = await outcome(seconds: 300)
    else {
      Issue.record("the two are not told apart")
      return
    }
  }

  @Test func theDeadlineBoundsAllTries() async {
    let script = Script([status(500)])
    _ = await script.run(attempts: 20, seconds: 0)
    #expect(script.sent.withLock { $0 } == 1)
  }
}
