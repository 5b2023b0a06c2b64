import Dispatch
import Foundation
import FoundationNetworking
import Glibc

extension Client {
  /// Returns a client over URLSession that refuses redirects, counts bytes as they arrive and
  /// enforces its own deadline. On Linux, URLSession has no total deadline and no size limit, it
  /// sends credentials along on redirects, and it can crash when it follows a redirect over HTTP/2.
  package static func session(_ limits: Limits) -> Client {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    // Later than the deadline of `Exchanges`, which also stops an answer that trickles.
    configuration.timeoutIntervalForRequest = Double(limits.timeoutSeconds) + 5
    // A proxy from the environment carries HTTPS as a tunnel and cannot read it. It could read
    // every header of plain HTTP requests. Those go to this machine only, so they bypass the proxy.
    if limits.allowLoopback {
      let machine = "127.0.0.1,localhost,::1"
      let others = ProcessInfo.processInfo.environment["no_proxy"] ?? ""
      if !others.hasSuffix(machine) {
        setenv("no_proxy", others.isEmpty ? machine : others + "," + machine, 1)
      }
    }
    let exchanges = Exchanges()
    let session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    return Client { request async throws(HTTPError) -> Response in
      let host = try checkedHost(of: request.url, allowLoopback: limits.allowLoopback)
      var urlRequest = URLRequest(url: request.url)
      urlRequest.httpMethod = request.method
      for (name, value) in request.headers { urlRequest.setValue(value, forHTTPHeaderField: name) }
      if !request.body.isEmpty { urlRequest.httpBody = Data(request.body) }
      var limits = limits
      limits.timeoutSeconds = min(limits.timeoutSeconds, request.timeoutSeconds ?? .max)
      let task = session.dataTask(with: urlRequest)
      let result = await withCheckedContinuation { continuation in
        exchanges.begin(task, host: host, limits: limits, continuation)
        task.resume()
      }
      return try result.get()
    }
  }
}

/// The requests in progress, by task.
private final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
  // `Sendable` because every access to `open` holds the lock.
  private let lock = NSLock()
  private var open: [Int: Exchange] = [:]

  private struct Exchange {
    let host: String
    let limits: Limits
    let continuation: CheckedContinuation<Result<Response, HTTPError>, Never>
    var body: [UInt8] = []
    var failure: HTTPError?
  }

  func begin(
    _ task: URLSessionTask, host: String, limits: Limits,
    _ continuation: CheckedContinuation<Result<Response, HTTPError>, Never>
  ) {
    let identifier = task.taskIdentifier
    lock.withLock {
      open[identifier] = Exchange(host: host, limits: limits, continuation: continuation)
    }
    let deadline = DispatchTime.now() + .seconds(limits.timeoutSeconds)
    DispatchQueue.global().asyncAfter(deadline: deadline) { [weak self] in
      self?.fail(task, .tooSlow(host: host, seconds: limits.timeoutSeconds))
    }
  }

  /// Ends a request at once. The task is cancelled afterwards, and its later callbacks are ignored.
  private func fail(_ task: URLSessionTask, _ error: HTTPError) {
    guard let exchange = lock.withLock({ open.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    exchange.continuation.resume(returning: .failure(error))
    task.cancel()
  }

  func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let excess: HTTPError? = lock.withLock {
      guard var exchange = open.removeValue(forKey: dataTask.taskIdentifier) else { return nil }
      exchange.body.append(contentsOf: data)
      open[dataTask.taskIdentifier] = exchange
      guard exchange.body.count > exchange.limits.maxBodyBytes else { return nil }
      return .tooLarge(host: exchange.host, limit: exchange.limits.maxBodyBytes)
    }
    if let excess { fail(dataTask, excess) }
  }

  func urlSession(
    _: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(nil)
    let host = lock.withLock { open[task.taskIdentifier]?.host ?? "the server" }
    fail(
      task,
      .redirected(
        host: host, status: response.statusCode,
        target: newRequest.url?.host(percentEncoded: true) ?? "nowhere"))
  }

  /// Returns a challenge's answer (such as 401) like any other. The platform would repeat the
  /// request without end.
  func urlSession(
    _: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.cancelAuthenticationChallenge, nil)
    guard let exchange = lock.withLock({ open.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    let response =
      challenge.failureResponse as? HTTPURLResponse ?? task.response as? HTTPURLResponse
    exchange.continuation.resume(
      returning: response.map { complete($0, exchange) }
        ?? .success(Response(status: 401, headers: [:], body: exchange.body)))
    task.cancel()
  }

  func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let exchange = lock.withLock({ open.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    let result: Result<Response, HTTPError>
    if let error {
      result = .failure(.unreachable(host: exchange.host, reason: reason(error)))
    } else if let response = task.response as? HTTPURLResponse {
      result = complete(response, exchange)
    } else {
      result = .failure(.unreachable(host: exchange.host, reason: "no HTTP answer"))
    }
    exchange.continuation.resume(returning: result)
  }

  private func complete(
    _ response: HTTPURLResponse, _ exchange: Exchange
  ) -> Result<Response, HTTPError> {
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields {
      if let name = name as? String, let value = value as? String {
        headers[name.lowercased()] = value
      }
    }
    if (300...399).contains(response.statusCode), response.statusCode != 304 {
      let target =
        headers["location"].flatMap { URL(string: $0)?.host(percentEncoded: true) } ?? "nowhere"
      return .failure(
        .redirected(host: exchange.host, status: response.statusCode, target: target))
    }
    // Several headers of this name arrive joined as one list.
    let lengths = Set(
      (headers["content-length"] ?? "").split(separator: ",").map {
        $0.trimmingCharacters(in: .whitespaces)
      })
    guard lengths.count <= 1 else {
      return .failure(.contradictory(host: exchange.host, what: "two lengths"))
    }
    return .success(
      Response(status: response.statusCode, headers: headers, body: exchange.body))
  }

  /// Returns the description of the underlying error, which names the cause where the platform
  /// gives one; otherwise the description of the error itself.
  private func reason(_ error: any Error) -> String {
    let error = error as NSError
    if let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError, cause !== error {
      let text = cause.userInfo[NSLocalizedDescriptionKey] as? String
      if let text, !text.isEmpty { return text }
    }
    return error.localizedDescription
  }
}
