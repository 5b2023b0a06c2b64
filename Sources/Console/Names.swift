import Configuration

/// The names that a word of a command line may mean, such as those of all feeds or archives.
struct Names {
  /// What has these names, such as "feed".
  let what: String
  let all: [String]

  /// Returns the name that a word means: the name that equals the word, otherwise the only name
  /// that begins with the word. Upper and lower case are equal.
  ///
  /// - Throws: `UsageError`. It lists the names that begin with the word. If none does, it suggests
  ///   the name that is most similar and lists the others.
  func meant(by word: String) throws -> String {
    let wanted = word.lowercased()
    if let equal = all.first(where: { $0.lowercased() == wanted }) { return equal }
    let longer = wanted.isEmpty ? [] : all.filter { $0.lowercased().hasPrefix(wanted) }
    if longer.count == 1 { return longer[0] }
    guard longer.isEmpty else {
      throw UsageError.message("'\(word)' is ambiguous: \(longer.joined(separator: " or "))")
    }
    guard let likely = mostSimilar(to: word) else {
      throw UsageError.unknown(what, word, among: all)
    }
    let others = all.filter { $0 != likely }
    throw UsageError.message(
      "no \(what) '\(word)'; did you mean '\(likely)'?"
        + (others.isEmpty ? "" : " The others: \(others.joined(separator: ", "))"))
  }

  /// Returns the name that is most similar to a word, as a whole or in a part between dashes; `nil`
  /// if none is similar enough.
  private func mostSimilar(to word: String) -> String? {
    let parts = all.flatMap { name in
      ([name] + name.split(separator: "-").map { String($0) }).map { (text: $0, name: name) }
    }
    let text = nearest(to: word, in: parts.map { $0.text })
    return parts.first { $0.text == text }?.name
  }
}
