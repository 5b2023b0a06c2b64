package import Configuration
import Foundation
package import FuelModel
package import HTTP

/// Fetches the documents of one run over HTTP, and does everything that is the same for all
/// providers: limits, retries, renewal of tokens, and a first check of the answers.
package struct Fetch: Sendable {
  /// The result of one run's calls.
  package struct Fetched: Sendable {
    package var documents: [Document]
    /// The provider's clock minus ours, by the `Date` header of the answer that is nearest to ours;
    /// `nil` where no answer has one. A wrong clock of ours contradicts all answers.
    package var clockSkewSeconds: Int?

    /// Adds the document that an answer holds.
    fileprivate mutating func take(_ document: Document, of answer: Response) {
      documents.append(document)
      // An answer from a cache says when it was made, and not what time it is.
      guard (answer.headers["age"] ?? "0") == "0",
        let date = answer.headers["date"].flatMap(httpDate)
      else { return }
      let skew = Int(date) - Int(document.fetchedAt.seconds)
      if abs(skew) < abs(clockSkewSeconds ?? .max) { clockSkewSeconds = skew }
    }
  }

  private let source: Source
  private let client: Client
  private let retry: Retry
  private let secrets: Secrets
  private let tokens: TokenCache
  private let userAgent: String
  private let reader: DocumentReader

  package init(
    _ source: Source, client: Client, retry: Retry, secrets: Secrets,
    tokens: TokenCache = TokenCache(folder: nil), reader: DocumentReader = .here, contact: String
  ) {
    self.source = source
    self.client = client
    self.retry = retry
    self.secrets = secrets
    self.tokens = tokens
    self.reader = reader
    // Some filters accept only a text that begins like that of a browser. The rest is honest.
    userAgent = "Mozilla/5.0 (compatible; bowser/1.0\(contact.isEmpty ? "" : "; +\(contact)"))"
  }

  /// Fetches the documents of the given calls, in their order, and of the further calls that follow
  /// from them. Returns all of them or throws.
  ///
  /// - Parameters:
  ///   - clock: gives the time at which each document arrived.
  ///   - counting: counts every request sent.
  package func documents(
    _ calls: [Call], clock: Clock, counting: RequestCount
  ) async throws -> Fetched {
    let now = clock.now()
    let keys = try keys()
    var authority: Authority
    var mayRenew = source.provider.keysExpire(source)
    if let kept = tokens.load(source.account, keys: keys, at: now) {
      authority = kept
    } else {
      authority = try await authorise(keys, now, counting)
    }
    var fetched = Fetched(documents: [])
    var waiting = calls
    var bytes = 0
    while !waiting.isEmpty {
      for call in waiting {
        let milliseconds = source.settings.pauseMilliseconds
        if !fetched.documents.isEmpty, milliseconds > 0 {
          await retry.sleep(.milliseconds(milliseconds))
        }
        var request = try request(call, authority, now)
        var answer = try await ask(request, call.name, counting)
        if answer.status == 401, mayRenew {
          mayRenew = false
          tokens.forget(source.account)
          authority = try await authorise(keys, now, counting)
          request = try self.request(call, authority, now)
          answer = try await ask(request, call.name, counting)
        }
        let body = try checkedBody(answer, call, hiding: secretParts(of: request, keys))
        bytes += body.count
        guard bytes <= InputLimit.runBytes.value else {
          throw FeedError.refused(
            "its answers have more than \(InputLimit.runBytes.value) bytes in total")
        }
        fetched.take(
          Document(name: call.name, bytes: body, fetchedAt: clock.now()), of: answer)
      }
      let codes =
        source.provider.hasFollowingCalls ? try reader.codes(fetched.documents, source) : []
      waiting = source.provider.calls(source, for: codes)
      guard fetched.documents.count + waiting.count <= InputLimit.documents.value else {
        throw FeedError.refused(
          "the provider's list asks for \(waiting.count) further requests, more than "
            + "\(InputLimit.documents.value)")
      }
    }
    return fetched
  }

  private func keys() throws(ConfigurationError) -> [String: Secret] {
    var keys: [String: Secret] = [:]
    for name in source.secrets {
      keys[name] = try secrets.find(feed: source.account, name: name)
    }
    return keys
  }

  /// What the keys of the feed came from.
  private var origins: [String] {
    source.secrets.compactMap { secrets.origin(feed: source.account, name: $0) }
  }

  private func authorise(
    _ keys: [String: Secret], _ now: Instant, _ counting: RequestCount
  ) async throws(FeedError) -> Authority {
    let authority: Authority
    do throws(FeedError) {
      authority = try await source.provider.authorise(source, keys, at: now) {
        request async throws(FeedError) in
        var request = request
        request.headers["User-Agent"] = userAgent
        let answer = try await ask(request, "token", counting)
        _ = try checkedBody(
          answer, Call(name: "token", path: ""), hiding: secretParts(of: request, keys))
        return answer
      }
    } catch {
      // A provider that refuses the key by another status does not know where the key came from.
      guard case .notAllowed(let document, let status, _) = error else { throw error }
      throw .notAllowed(document: document, status: status, keys: origins)
    }
    tokens.save(authority, source.account, keys: keys)
    return authority
  }

  private func request(
    _ call: Call, _ authority: Authority, _ now: Instant
  ) throws(FeedError) -> Request {
    var parts = URLComponents(string: source.url.absoluteString + call.path)
    if !call.query.isEmpty {
      parts?.queryItems = call.query.map { URLQueryItem(name: $0.0, value: $0.1) }
    }
    guard let url = parts?.url else {
      throw .unavailable(
        document: call.name, reason: "the path \(call.path) does not form a valid address")
    }
    var headers = call.headers.merging(authority.headers) { _, authority in authority }
    headers["User-Agent"] = userAgent
    return Request(
      method: call.body.isEmpty ? "GET" : "POST", url: url, headers: headers, body: call.body)
  }

  private func ask(
    _ request: Request, _ name: String, _ counting: RequestCount
  ) async throws(FeedError) -> Response {
    switch await client.send(request, retry: retry, counting: counting) {
    case .answer(let response): return response
    case .comeBack(_, let seconds): throw .comeBack(document: name, afterSeconds: seconds)
    case .outOfTime: throw .outOfTime(document: name)
    // The answer is not one of a feed, and would be the same the next time.
    case .failure(let error) where error.isRefusal:
      throw .malformed(document: name, reason: error.description)
    case .failure(let error):
      if case .addressRefused = error {
        throw .addressRefused(document: name, reason: error.description)
      }
      throw .unavailable(document: name, reason: error.description)
    }
  }

  /// Returns the body of a good answer. Everything that is certainly not data is refused here, so
  /// that an error page is never taken for "no stations".
  private func checkedBody(
    _ response: Response, _ call: Call, hiding secrets: @autoclosure () -> [String]
  ) throws(FeedError) -> [UInt8] {
    let name = call.name
    func beginning(_ body: [UInt8]) -> String {
      // Some error pages repeat the request. Keys and tokens must not get into a message. The
      // search covers more text than is shown, so that no part of a key is shown at the end.
      let text = String(decoding: body.prefix(65_536), as: UTF8.self)
      guard text.contains(where: { !$0.isWhitespace }) else { return "the answer is empty" }
      guard !secrets().contains(where: { repeats($0, in: text) }) else {
        return "(the text repeats the key and is not shown)"
      }
      return String(String(text.prefix(4_000)).plain.prefix(200))
    }
    switch response.status {
    case 200: break
    case 401 where !source.secrets.isEmpty, 403 where !source.secrets.isEmpty:
      throw .notAllowed(document: name, status: response.status, keys: origins)
    case 304:
      throw .malformed(
        document: name, reason: "status 304 (not modified) to a request without a condition")
    case 404, 410:
      throw .unavailable(
        document: name,
        reason:
          "status \(response.status) of \(source.shownAddress(call.path)): the address may have "
          + "moved; 'url' in \(source.settings.file), or \(source.urlVariable), sets it",
        status: response.status)
    case let status:
      throw .unavailable(
        document: name, reason: "the provider answered \(status): \(beginning(response.body))",
        status: status)
    }
    let start = response.body.prefix(512).drop {
      [0xEF, 0xBB, 0xBF, 0x20, 0x09, 0x0A, 0x0D].contains($0)
    }
    if start.isEmpty { throw .malformed(document: name, reason: "the answer is empty") }
    let text = String(decoding: start, as: UTF8.self).lowercased()
    if !call.isPage, text.hasPrefix("<!doctype html") || text.hasPrefix("<html") {
      throw .malformed(
        document: name, reason: "received an HTML page instead of data: \(beginning(response.body))"
      )
    }
    for (magic, what) in [("pk\u{3}\u{4}", "a ZIP file"), ("%pdf", "a PDF")]
    where text.hasPrefix(magic) {
      throw .malformed(document: name, reason: "received \(what) instead of data")
    }
    if start.starts(with: [0x1F, 0x8B]) {
      throw .malformed(document: name, reason: "received a gzip file instead of data")
    }
    // UTF-16 without a byte order mark would pass for UTF-8 and escape every check of the text.
    if response.body.contains(0) {
      throw .malformed(
        document: name, reason: "not UTF-8 text: it contains NUL bytes, as UTF-16 does")
    }
    return response.body
  }
}

/// Returns everything in a request that gives access: keys and tokens, also in Base64.
private func secretParts(of request: Request, _ keys: [String: Secret]) -> [String] {
  let harmless: Set<String> = [
    "user-agent", "accept", "content-type", "requesttimestamp", "transactionid", "x-transactionid",
  ]
  let parts =
    keys.values.map { $0.reveal() }
    + request.headers.filter { !harmless.contains($0.key.lowercased()) }.map(\.value)
  return parts + parts.map { Data($0.utf8).base64EncodedString() }
}

/// Whether a text contains a secret, however it is escaped. Escapes of HTML, JSON and addresses
/// change the characters between letters and digits, but not the runs of letters and digits.
private func repeats(_ secret: String, in text: String) -> Bool {
  let runs = secret.split { !$0.isASCII || !($0.isLetter || $0.isNumber) }.filter {
    // Words of the protocol give no access.
    !["basic", "bearer", "subscribertoken", "fpdapi"].contains($0.lowercased())
  }
  guard runs.reduce(0, { $0 + $1.count }) >= 4 else { return false }
  // The secret may also be interrupted by marks, dashes or blanks.
  let folded = text.utf8.filter {
    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
  }
  let joined = runs.joined()
  if joined.count >= 6, String(decoding: folded, as: UTF8.self).contains(joined) { return true }
  return runs.contains { $0.count >= 6 && text.contains($0) }
    || runs.allSatisfy { text.contains($0) }
}
