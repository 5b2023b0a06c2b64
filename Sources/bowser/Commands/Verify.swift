import Feeds
import Foundation
import Pipeline
import Store

let verifyCommand = Command(
  name: "verify",
  summary: "Tell whether the stored facts are those that were stored.",
  operands: "",
  examples: [
    ("bowser verify", "every fact, run and kept document"),
    ("bowser verify --head 5f2c09ab41d7", "and whether history still holds what was noted before"),
    ("bowser verify --log", "what was changed of what decides whether facts count"),
  ],
  options: [
    .init(
      name: "head", value: "DIGEST",
      about: "a chain_head of fuel_v1.pipeline that was noted earlier, or its beginning"),
    .init(name: "log", value: nil, about: "print the audit log instead"),
    .init(name: "json", value: nil, about: "one JSON object"),
  ],
  notes: """
    Facts are summed when they are stored, and each change of the database gets a link in a chain of SHA-256 digests
    over those sums and its run. This reads everything once and says what differs, a line each, with 65. Whoever may
    write any row can also make the whole chain again: note chain_head elsewhere now and then, and give it to --head.
    The JSON object has version (1), faults (texts), facts, runs, links, documents and head; of --log, version and
    changes: changed_at, login, table, was and became. Members are only ever added while the version stays.
    """,
  deadlineSeconds: 6 * 3_600
) { invocation in
  let head = invocation.options["head"]?.lowercased()
  if let head, !(8...64).contains(head.utf8.count) || !head.utf8.allSatisfy(isHexDigit) {
    throw UsageError.message("--head is a digest in hex, or its first eight digits or more")
  }
  let store = try invocation.store(try invocation.settings())
  if invocation.flags.contains("log") {
    let changes = try store.loggedChanges()
    if invocation.flags.contains("json") {
      try writeJSON(LogJSON(changes: changes.map(LogJSON.Change.init)))
      return .done
    }
    for change in changes {
      write(
        "\(change.changedAt) \(change.login) \(change.table) \(change.was) -> \(change.became)\n")
    }
    return .done
  }
  let sources = try invocation.sources()
  let found = try store.verify(head: head) { store in
    try sources.flatMap { try Standings.faults(of: $0, in: store) }
  }
  if invocation.flags.contains("json") {
    try writeJSON(
      VerifyJSON(
        faults: found.faults, facts: found.facts, runs: found.runs, links: found.links,
        documents: found.documents, head: found.head))
    return found.faults.isEmpty ? .done : .refused
  }
  for fault in found.faults { write(fault + "\n") }
  write(
    "\(found.facts) facts of \(found.runs) runs, \(found.links) links, \(found.documents) documents"
      + (found.head.map { "; head \($0)" } ?? "") + "\n")
  return found.faults.isEmpty ? .done : .refused
}

private func isHexDigit(_ byte: UInt8) -> Bool {
  (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
}

private struct VerifyJSON: Encodable {
  var version = 1
  var faults: [String]
  var facts: Int
  var runs: Int
  var links: Int
  var documents: Int
  @OrNull var head: String?
}

// swift-format-ignore: AlwaysUseLowerCamelCase
private struct LogJSON: Encodable {
  struct Change: Encodable {
    var changed_at: String
    var login: String
    var table: String
    var was: String
    var became: String

    init(_ change: LoggedChange) {
      changed_at = "\(change.changedAt)"
      login = change.login
      table = change.table
      was = change.was
      became = change.became
    }
  }

  var version = 1
  var changes: [Change]
}
