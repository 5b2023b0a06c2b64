/// The form of an address or a name in which records of different sources are compared.
///
/// Sources write one address in many ways: "1175 North Rd., Oakleigh South VIC 3167" and
/// "1175 NORTH ROAD, Oakleigh South". The form consists of letters and digits in upper case. It
/// abbreviates the usual street types, and it omits whatever follows the suburb.
package enum MatchKey {
  /// Abbreviations of street types and similar words, from Australian Standard 4590 and from the
  /// spellings of the sources.
  private static let short: [String: String] = [
    "STREET": "ST", "STR": "ST", "ROAD": "RD", "AVENUE": "AVE", "AV": "AVE", "HIGHWAY": "HWY",
    "HIWAY": "HWY", "HWAY": "HWY", "DRIVE": "DR", "DRV": "DR", "PARADE": "PDE", "PLACE": "PL",
    "CRESCENT": "CRES", "CRS": "CRES", "CR": "CRES", "BOULEVARD": "BLVD", "BOULEVARDE": "BLVD",
    "BVD": "BLVD", "BLV": "BLVD", "LANE": "LN", "COURT": "CT", "CRT": "CT", "TERRACE": "TCE",
    "TERR": "TCE", "ESPLANADE": "ESP", "FREEWAY": "FWY", "MOTORWAY": "MWY", "CIRCUIT": "CCT",
    "CLOSE": "CL", "SQUARE": "SQ", "PARKWAY": "PWY", "PKWY": "PWY", "TURNPIKE": "TPK",
    "CORNER": "CNR", "COR": "CNR", "NORTH": "N", "NTH": "N", "SOUTH": "S", "STH": "S",
    "EAST": "E", "WEST": "W", "MOUNT": "MT", "SAINT": "ST",
  ]

  private static let streetKinds = Set(short.values).subtracting(["N", "S", "E", "W", "MT", "CNR"])

  /// Whether a word is a street type, such as `Rd` or `HIGHWAY`. `St` may also be the "Saint" in
  /// the name of a suburb.
  package static func isStreetKind(_ word: String) -> Bool {
    let word = word.uppercased()
    return streetKinds.contains(short[word] ?? word)
  }

  /// Words that do not help to distinguish addresses.
  private static let silent: Set<String> = [
    "AND", "THE", "OF", "AT", "UNIT", "SHOP", "LOT", "NO", "AUSTRALIA", "AU",
  ]

  /// Returns the form of an address. Remarks in brackets are omitted, and the suburb is appended
  /// where the address does not end with it.
  package static func address(_ address: String, suburb: String?) -> String {
    var words = Self.words(Self.withoutRemarks(address))
    while let last = words.last, ["AUSTRALIA", "AU"].contains(last) { words.removeLast() }
    if words.last?.isPostcode ?? false { words.removeLast() }
    if let last = words.last, Australia.state(last) != nil { words.removeLast() }
    if words.suffix(3) == ["NEW", "S", "WALES"] { words.removeLast(3) }
    let tail = suburb.map { Self.words($0) } ?? []
    if !tail.isEmpty, !words.reversed().starts(with: tail.reversed()) { words += tail }
    let kept = words.filter { !silent.contains($0) }
    return (kept.isEmpty ? words : kept).joined(separator: " ")
  }

  /// Returns the form of a trading name: its words, without remarks in brackets.
  package static func name(_ name: String) -> String {
    let words = Self.words(Self.withoutRemarks(name))
    return (words.isEmpty ? Self.words(name) : words).joined(separator: " ")
  }

  private static func withoutRemarks(_ text: String) -> String {
    var plain = ""
    var depth = 0
    for character in text {
      if character == "(" { depth += 1 }
      if depth == 0 { plain.append(character) }
      if character == ")" {
        if depth == 1 { plain.append(" ") }
        depth = max(0, depth - 1)
      }
    }
    return plain
  }

  /// Returns the words of a text in upper case: letters and digits only, apostrophes dropped,
  /// street types abbreviated. A range of house numbers stays one word: `132-136`.
  private static func words(_ text: String) -> [String] {
    var words: [String] = []
    var word = ""
    var isJoined = false
    func end() {
      if !word.isEmpty {
        if isJoined, let last = words.last, isNumber(last), isNumber(word) {
          words[words.count - 1] = "\(last)-\(word)"
        } else {
          words.append(short[word] ?? word)
        }
        isJoined = false
      }
      word = ""
    }
    for scalar in text.plain.uppercased().unicodeScalars {
      if scalar == "'" || scalar == "\u{2019}" { continue }
      if scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
        word.unicodeScalars.append(scalar)
      } else {
        end()
        if scalar == "-" || scalar == "\u{2013}" {
          isJoined = true
        } else if scalar != " " {
          isJoined = false
        }
      }
    }
    end()
    return words
  }

  private static func isNumber(_ word: String) -> Bool {
    !word.isEmpty && word.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
