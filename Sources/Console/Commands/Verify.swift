import Feeds
import Foundation
import Pipeline
import Store

let verifyCommand = Command(
  name: "verify",
  summary: "Check that the stored facts are unchanged since they were stored.",
  operands: "",
  examples: [
    ("bowser verify", "check every fact, run and kept document"),
    ("bowser verify --head 5f2c09ab41d7", "also check that the chain holds a digest noted earlier"),
    ("bowser verify --log", "list the logged changes of what decides whether facts count"),
  ],
  options: [
    .init(
      name: "head", value: "DIGEST",
      about: "a chain_head of fuel_v1.pipeline noted earlier, or at least its first eight digits"),
    .init(name: "log", value: nil, about: "print the audit log instead"),
    .init(name: "json", value: nil, about: "one JSON object"),
  ],
  notes: """
    Facts are summed when they are stored, and each change of the database adds a link to a chain of
    SHA-256 digests over those sums and its run. This command reads everything once, prints one line for
    each difference, and exits with 65 if there is any. A login that may write any row can also rebuild
    the whole chain, so note chain_head elsewhere from time to time and pass it with --head. The JSON
    object has version (1), faults (texts), facts, runs, links, documents and head; with --log it has
    version and changes: changed_at, login, table, was and became. As long as the version stays the same,
    members are only added.
    """,
  deadlineSeconds: 6 * 3_600
) { invocation in
  try invocation.refuse("head", beside: "log")
  let head = invocation.options["head"]?.lowercased()
  if let head, !(8...64).contains(head.utf8.count) || !head.utf8.allSatisfy(isHexDigit) {
    throw UsageError.message("--head must be a digest in hex, or at least its first eight digits")
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
    try sources.flatMap { try Standings.faults(of: $0, in: store) } + Refold.faults(in: store)
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
    "\(found.facts) answers and facts of archives, of \(found.runs) runs, \(found.links) links, "
      + "\(found.documents) documents" + (found.head.map { "; head \($0)" } ?? "") + "\n")
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
