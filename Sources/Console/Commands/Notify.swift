import Configuration
import Foundation
import FuelModel
import HTTP
import Pipeline
import Postgres
import Store
import Views

let notifyCommand = Command(
  name: "notify",
  summary: "Send notices of changed verdicts, changed market states and low prices.",
  examples: [
    ("bowser notify", "after each aggregate: send what the rules of notify.json5 ask for"),
    ("bowser notify --test", "send a test to every receiver"),
  ],
  options: [
    .init(name: "test", about: "send a test notice to every receiver"),
    .init(name: "summary", about: "print one line per rule on standard output"),
  ],
  notes: """
    A rule that names a region sends a notice when the region's verdict or the state of its market
    changes. A rule that names a place and a limit sends a notice when the cheapest fresh price there
    falls to the limit or below. A notice is sent by POST to an address, or to the standard input of a
    program that is started without arguments. It is a JSON object with version (1), id, rule, kind
    (verdict, price or test), at, place (not of a test), fuel, text, repeat, and was and now, or
    below_cpl and cheapest. A notice that is not accepted waits, at most a hundred per rule, and is sent
    again by the next start with the same id and repeat: true. An address is a secret: address: 'phone'
    means BOWSER_NOTIFY_PHONE_URL, BOWSER_NOTIFY_PHONE_URL_FILE or the credential notify-phone.url. A
    receiver in a private network needs a program. --test and bowser doctor name the rules that can send
    nothing, such as one for a fuel that nobody sells there.
    """,
  worksOnHub: true
) { invocation in
  let settings = try invocation.settings()
  let folder = try invocation.configurationFolder()
  let rules = try NoticeRule.all(file: folder + "/notify.json5")
  let receivers = try Receivers(rules, invocation, settings)
  let now = try invocation.clock().now()
  if invocation.flags.contains("test") {
    return await receivers.test(try PlaceSearch(try invocation.views(settings)), now: now)
  }
  let store = try invocation.store(settings)
  if let given = try invocation.instant("now") { try store.views.setViewClock(given.description) }
  guard try store.outbox.lockNotices() else {
    writeError("another notify is running")
    return .tryAgain
  }
  try store.outbox.forgetNotices(besides: rules.map(\.name), before: now - .seconds(30 * 86_400))
  let search = try PlaceSearch(store.views)
  let notices = Notices(store, now: now)
  var worst = ExitCode.done
  for rule in rules {
    do {
      try receivers.check(rule.target)
      let place = try search.place(of: rule)
      try notices.check(rule, at: place)
      let code = try search.views.region(around: place)
      let zone = search.regions.first { $0.code == code }?.zone ?? .sydney
      guard !rule.isQuiet(zone.local(now).secondsOfDay) else { continue }
      let sent = try await notices.deliver(rule) {
        try await receivers.send($0, to: rule.target)
      }
      if invocation.flags.contains("summary") {
        let why = try rule.obstacle(at: place, in: search.views).map { " (\($0))" } ?? ""
        write("\(rule.name) told=\(sent)\(why)\n")
      }
    } catch {
      writeError("\(rule.name): \(error)")
      worst = ExitCode(for: error).worse(than: worst)
    }
  }
  return worst
}

extension PlaceSearch {
  func place(of rule: NoticeRule) throws -> NamedPlace {
    let place: NamedPlace
    do {
      place = try self.place(rule.place)
    } catch let error as UsageError {
      throw ConfigurationError.wrongValue(
        key: rule.kind == .verdict ? "region" : "place", place: "notify.json5, rule \(rule.name)",
        expected: "a place: \(error)")
    }
    if rule.kind == .verdict, place.kind != .region {
      throw ConfigurationError.wrongValue(
        key: "region", place: "notify.json5, rule \(rule.name)",
        expected: "a region, and '\(rule.place)' is a \(place.kind.rawValue)")
    }
    return place
  }

  /// Says why a rule can send no notice as prices are now; `nil` where it can.
  func obstacle(to rule: NoticeRule) throws -> String? {
    try rule.obstacle(at: place(of: rule), in: views)
  }
}

struct Receivers {
  /// A receiver did not accept a notice, which is sent again at the next start. The text names the
  /// host or the program, never the address.
  struct NotTaken: Error, CustomStringConvertible {
    let description: String
  }

  private let rules: [NoticeRule]
  private let client: Client
  private let addresses: [String: URL]
  private let path: String

  init(
    _ rules: [NoticeRule], _ invocation: Invocation, _ settings: Settings<Invocation.Table>
  ) throws {
    self.rules = rules
    client = .session(
      Limits(timeoutSeconds: 10, maxBodyBytes: 1 << 16, allowLoopback: settings.allowLoopback))
    path = invocation.environment["PATH"] ?? "/usr/bin:/bin"
    let secrets = Secrets(environment: invocation.environment)
    var addresses: [String: URL] = [:]
    for case .address(let name) in rules.map(\.target) where addresses[name] == nil {
      let text = try secrets.find(feed: "notify-\(name)", name: "url").reveal()
      // Plain HTTP is for tests and for this machine alone, and the client sees to that.
      guard let url = URL(string: text), url.host != nil,
        url.scheme?.lowercased() == "https" || settings.allowLoopback
      else {
        throw ConfigurationError.unsafeSecret(
          Secrets.variable(feed: "notify-\(name)", name: "url"),
          reason: "must begin with https://")
      }
      addresses[name] = url
    }
    self.addresses = addresses
  }

  /// Checks that the program of a rule can be started, before there is anything to send.
  func check(_ target: NoticeRule.Target) throws(ConfigurationError) {
    guard case .command(let program) = target else { return }
    // The right to execute a file is for a folder the right to enter it.
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: program, isDirectory: &isFolder),
      !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: program)
    else {
      throw .wrongValue(
        key: "command", place: "notify.json5",
        expected: "a program that can be started without arguments, and '\(program)' is none")
    }
  }

  func send(_ body: String, to target: NoticeRule.Target) async throws {
    switch target {
    case .address(let name):
      guard let url = addresses[name] else { return }
      let response: Response
      do {
        response = try await client.send(
          Request(
            method: "POST", url: url,
            headers: [
              "Content-Type": "application/json", "User-Agent": "bowser/\(Version.number)",
            ],
            body: Array(body.utf8)))
      } catch .addressRefused(let reason) {
        let isNear = reason.hasSuffix(" address")
        throw ConfigurationError.unsafeSecret(
          Secrets.variable(feed: "notify-\(name)", name: "url"),
          reason: reason
            + (isNear ? "; a receiver in your own network needs command in place of address" : ""))
      } catch {
        throw NotTaken(description: "\(error)")
      }
      guard (200...299).contains(response.status) else {
        throw NotTaken(description: "\(url.host ?? "the receiver") answered \(response.status)")
      }
    case .command(let program): try run(program, body)
    }
  }

  /// Runs a program for at most half a minute. After that `timeout` kills it and all processes in
  /// its group.
  private func run(_ program: String, _ body: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/timeout")
    process.arguments = ["--signal=KILL", "30", program]
    // The program gets no keys of providers.
    process.environment = ["PATH": path]
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let began = ContinuousClock.now
    try process.run()
    // A program that does not read its input still decides by its exit code.
    try? input.fileHandleForWriting.write(contentsOf: Data((body + "\n").utf8))
    try? input.fileHandleForWriting.close()
    switch process.end() {
    case (.exit, 0): return
    case (.exit, let status):
      throw NotTaken(description: "\(program) exited with \(status)")
    case _ where ContinuousClock.now - began >= .seconds(30):
      throw NotTaken(description: "\(program) took more than 30 s")
    case (_, let signal):
      throw NotTaken(description: "\(program) was ended by signal \(signal)")
    }
  }

  /// Sends a test notice to each receiver, and says which rules can send nothing.
  func test(_ search: PlaceSearch, now: Instant) async -> ExitCode {
    var worst = ExitCode.done
    if rules.isEmpty { write("notify.json5 has no rules: its comments show two\n") }
    for rule in rules {
      do {
        try check(rule.target)
        try await send(
          """
          {"at":"\(now)","fuel":"\(rule.fuel.rawValue)","id":0,"kind":"test","repeat":false,"rule":"\(rule.name)",\
          "text":"A test of bowser notify","version":1}
          """, to: rule.target)
        write("\(rule.name) sent\n")
        if let why = try search.obstacle(to: rule) {
          writeError("\(rule.name) can send nothing: \(why)")
        }
      } catch {
        writeError("\(rule.name): \(error)")
        worst = ExitCode(for: error).worse(than: worst)
      }
    }
    return worst
  }
}
