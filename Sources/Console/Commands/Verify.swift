import Feeds
import Foundation
import Pipeline
import Store

let verifyCommand = Command(
  name: "verify",
  summary: "Check that the stored facts are unchanged since they were stored.",
  examples: [
    ("bowser verify", "check every fact, run and kept document"),
    ("bowser verify --head 5f2c09ab41d7", "also check that the chain holds a digest noted earlier"),
    ("bowser verify --log", "list the logged changes of what decides whether facts count"),
  ],
  options: [
    .init(
      name: "head", value: "DIGEST",
      about: "a chain_head of fuel_v1.pipeline noted earlier, or at least its first eight digits"),
    .init(name: "log", about: "print the audit log instead"),
  ],
  notes: """
    Sums of the hashes of answers and archives are stored with them, and each change of the database adds
    a link to a chain of SHA-256 digests over those sums and its run. This command reads everything once,
    makes the facts of feeds again from the answers, prints one line for each difference, and exits with
    65 if there is any. A login that may write any row can also make the whole chain again, so note
    chain_head elsewhere from time to time and pass it with --head.
    """,
  deadlineSeconds: 6 * 3_600
) { invocation in
  try invocation.refuse("head", beside: "log")
  let head = invocation.options["head"]?.lowercased()
  if let head, head.wholeMatch(of: /[0-9a-f]{8,64}/) == nil {
    throw UsageError.message("--head must be a digest in hex, or at least its first eight digits")
  }
  let store = try invocation.store(try invocation.settings())
  if invocation.flags.contains("log") {
    for change in try store.ledger.loggedChanges() {
      write(
        "\(change.changedAt) \(change.login) \(change.table) \(change.was) -> \(change.became)\n")
    }
    return .done
  }
  let sources = try invocation.sources()
  let found = try store.ledger.verify(head: head) { store in
    try sources.flatMap {
      try Standings.faults(of: $0.feed, in: store, rules: $0.listRules)
    } + Refold.faults(in: store)
  }
  for fault in found.faults { write(fault + "\n") }
  write(
    "\(found.facts) answers and facts of archives, of \(found.runs) runs, \(found.links) links, "
      + "\(found.documents) documents" + (found.head.map { "; head \($0)" } ?? "") + "\n")
  return found.faults.isEmpty ? .done : .refused
}
