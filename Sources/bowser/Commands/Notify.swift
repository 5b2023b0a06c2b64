import Configuration
import Foundation
import FuelModel
import HTTP
import Pipeline
import Postgres
import Store

let notifyCommand = Command(
  name: "notify",
  summary: "Tell an address or a program what turned: verdicts, states of the market, prices.",
  operands: "",
  examples: [
    ("bowser notify", "after each aggregate: tell what the rules of notify.json5 are about"),
    ("bowser notify --test", "send a test to every receiver"),
  ],
  options: [
    .init(name: "test", value: nil, about: "tell every receiver that this is a test"),
    .init(name: "summary", value: nil, about: "one line a rule on standard output"),
  ],
  notes: """
    A rule names a region, and tells when its verdict or the state of its market turns; or a place and a
    limit, and tells when the cheapest fresh price there falls to the limit or below. It tells an address
    by POST, or starts a program without arguments that reads standard input: a JSON object with version
    (1), id, rule, kind (verdict, price or test), at, place, fuel, text, repeat, and was and now, or
    below_cpl and cheapest. What is not taken waits, a hundred of each rule at most, and is told again
    by the next start with the same id and repeat: true. An address is a secret: address: 'phone' stands
    for BOWSER_NOTIFY_PHONE_URL, BOWSER_NOTIFY_PHONE_URL_FILE or the credential notify-phone.url.
    """,
  isJob: true
) { invocation in
  guard invocation.operands.isEmpty else { throw UsageError.message("notify takes no operands") }
  let settings = try invocation.settings()
  let folder = try invocation.configurationFolder()
  let rules = try NoticeRule.all(file: folder + "/notify.json5")
  let receivers = try Receivers(rules, invocation, settings)
  if invocation.flags.contains("test") { return await receivers.test() }
  let store = try invocation.store(settings)
  let now = try invocation.clock().now()
  if let given = try invocation.instant("now") { try store.setViewClock(given.description) }
  guard try store.lockNotices() else {
    complain("another notify is at work")
    return .tryAgain
  }
  try store.forgetNotices(besides: rules.map(\.name), before: now - .seconds(30 * 86_400))
  let regions = try store.reportRegions()
  let notices = Notices(store, now: now)
  var worst = ExitCode.done
  for rule in rules {
    do {
      let place = try PlaceSearch(store: store, regions: regions).place(rule.place)
      if rule.kind == .verdict, place.kind != .region {
        throw ConfigurationError.wrongValue(
          key: rule.name, place: "notify.json5", expected: "a rule about a region")
      }
      try notices.look(rule, at: place)
      let code = try store.region(around: place)
      let zone = regions.first { $0.code == code }?.zone ?? .sydney
      guard !rule.isQuiet(zone.local(now).secondsOfDay) else { continue }
      let told = try await notices.tell(rule) { try await receivers.send($0, to: rule.target) }
      if invocation.flags.contains("summary") { write("\(rule.name) told=\(told)\n") }
    } catch {
      complain("\(rule.name): \(error)")
      // What was not taken waits for the next start.
      let code = error is Receivers.NotTaken ? ExitCode.tryAgain : ExitCode(for: error)
      worst = code.worse(than: worst)
    }
  }
  return worst
}

/// Where notices go.
private struct Receivers {
  /// A receiver did not take what it was told; names the host or the program, never the address.
  struct NotTaken: Error, CustomStringConvertible {
    let description: String
  }

  private let rules: [NoticeRule]
  private let client: Client
  private let addresses: [String: URL]
  private let path: String

  init(_ rules: [NoticeRule], _ invocation: Invocation, _ settings: Settings) throws {
    self.rules = rules
    client = .session(
      Limits(
        timeoutSeconds: 10, maxBodyBytes: 1 << 16,
        allowLoopback: settings.boolean("allowLoopback")))
    path = invocation.environment["PATH"] ?? "/usr/bin:/bin"
    let secrets = Secrets(environment: invocation.environment)
    var addresses: [String: URL] = [:]
    for case .address(let name) in rules.map(\.target) where addresses[name] == nil {
      let text = try secrets.find(feed: "notify-\(name)", name: "url").reveal()
      guard let url = URL(string: text), url.host != nil else {
        throw ConfigurationError.unsafeSecret(
          Secrets.variable(feed: "notify-\(name)", name: "url"), reason: "is no address")
      }
      addresses[name] = url
    }
    self.addresses = addresses
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
      } catch {
        throw NotTaken(description: "\(error)")
      }
      guard (200...299).contains(response.status) else {
        throw NotTaken(description: "\(url.host ?? "the receiver") answered \(response.status)")
      }
    case .command(let program): try await run(program, body)
    }
  }

  /// Half a minute at most.
  private func run(_ program: String, _ body: String) async throws {
    let process = Process()
    process.executableURL = URL(filePath: program)
    // Keys of providers are none of its business.
    process.environment = ["PATH": path]
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw NotTaken(description: "\(program) cannot be started")
    }
    let number = process.processIdentifier
    let timer = DispatchSource.makeTimerSource()
    timer.schedule(deadline: .now() + .seconds(30))
    timer.setEventHandler { kill(number, SIGKILL) }
    timer.resume()
    defer { timer.cancel() }
    // One that reads nothing still decides by its exit code.
    try? input.fileHandleForWriting.write(contentsOf: Data((body + "\n").utf8))
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw NotTaken(description: "\(program) ended with \(process.terminationStatus)")
    }
  }

  func test() async -> ExitCode {
    var worst = ExitCode.done
    if rules.isEmpty { write("no rules in notify.json5\n") }
    for rule in rules {
      do {
        try await send(
          """
          {"fuel":"\(rule.fuel.rawValue)","id":0,"kind":"test","repeat":false,"rule":"\(rule.name)",\
          "text":"A test of bowser notify","version":1}
          """, to: rule.target)
        write("\(rule.name) told\n")
      } catch {
        complain("\(rule.name): \(error)")
        worst = ExitCode.tryAgain.worse(than: worst)
      }
    }
    return worst
  }
}
