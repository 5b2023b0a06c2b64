import Configuration

/// The names of feeds, archives or the like, from which the words of a command line choose.
struct Names {
  /// What they are names of, such as "feed".
  let what: String
  let all: [String]

  /// Returns the name that a word means: the one that equals it, otherwise the only one that begins
  /// with it, whatever the case.
  ///
  /// - Throws: `UsageError`, which lists the names that begin with the word. If none does, it lists
  ///   all names, the nearest first.
  func meant(by word: String) throws -> String {
    let wanted = word.lowercased()
    if let whole = all.first(where: { $0.lowercased() == wanted }) { return whole }
    let begun = wanted.isEmpty ? [] : all.filter { $0.lowercased().hasPrefix(wanted) }
    if begun.count == 1 { return begun[0] }
    guard begun.isEmpty else {
      throw UsageError.message("'\(word)' is ambiguous: \(begun.joined(separator: " or "))")
    }
    guard let likely = near(word) else { throw UsageError.unknown(what, word, among: all) }
    let others = all.filter { $0 != likely }.joined(separator: ", ")
    throw UsageError.message(
      "no \(what) '\(word)'; did you mean '\(likely)'? The others: \(others)")
  }

  /// Returns the name of which the whole or a part between dashes differs least from a word; `nil`
  /// where none is similar enough.
  private func near(_ word: String) -> String? {
    let parts = all.flatMap { name in
      ([name] + name.split(separator: "-").map { String($0) }).map { (text: $0, name: name) }
    }
    let text = nearest(to: word, in: parts.map { $0.text })
    return parts.first { $0.text == text }?.name
  }
}
