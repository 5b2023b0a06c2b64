extension String {
  /// The name of a suburb or town as pages and terminals show it. The stored text stays as a feed
  /// wrote it.
  ///
  /// Some feeds write names in capitals. Of such a name only the first letter of each word stays a
  /// capital. A name with any small letter is shown as it is. A word also begins behind a hyphen,
  /// and behind an apostrophe after one letter: `O'Connor`, but `St Mary's`. A few small words
  /// between others have no capital: `West End-on-Sea`.
  ///
  /// Nothing is guessed. `MCMAHONS POINT` becomes `Mcmahons Point`, because only a list of names
  /// could tell it from `MACKAY`.
  package var asPlaceName: String {
    guard !contains(where: \.isLowercase) else { return self }
    var shown = ""
    var word = ""
    for character in self {
      if character.isLetter || character.isNumber || Self.isApostrophe(character) {
        word.append(character)
      } else {
        shown += Self.shownWord(word, isBetween: !shown.isEmpty)
        shown.append(character)
        word = ""
      }
    }
    return shown + Self.shownWord(word, isBetween: false)
  }

  private static func isApostrophe(_ character: Character) -> Bool {
    character == "'" || character == "’"
  }

  /// - Parameter isBetween: whether there are words before this one and after it.
  private static func shownWord(_ word: String, isBetween: Bool) -> String {
    let small = word.lowercased()
    guard !isBetween || !["and", "by", "of", "on", "the"].contains(small) else { return small }
    let hasPrefix = word.dropFirst().first.map(isApostrophe) ?? false
    return word.enumerated().map { index, character in
      index == 0 || (index == 2 && hasPrefix) ? String(character) : character.lowercased()
    }.joined()
  }
}
