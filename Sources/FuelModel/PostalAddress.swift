import Foundation

/// The parts of an address in one line, such as `539 Wilberforce Rd, WILBERFORCE NSW 2756`.
package struct PostalAddress: Equatable, Sendable {
  package var suburb: String?
  package var state: State?
  package var postcode: String?

  package init(_ address: String) {
    var words = address.split(whereSeparator: { $0 == " " || $0 == "," }).map(String.init)
    while let last = words.last,
      ["AU", "AUSTRALIA"].contains(last.uppercased()) || postcode == nil && last.isPostcode
    {
      words.removeLast()
      if last.isPostcode { postcode = last }
    }
    var tail = address
    if let token = words.last?.uppercased(), ["NSW", "ACT", "TAS"].contains(token) {
      state = Australia.state(token)
      tail = before(words.removeLast(), in: address)
    } else if words.suffix(3).map({ $0.uppercased() }) == ["NEW", "SOUTH", "WALES"] {
      state = .nsw
      tail = before(words[words.count - 3], in: address)
      words.removeLast(3)
    } else if let code = postcode.flatMap({ Int($0) }),
      (2600...2617).contains(code) || (2900...2914).contains(code)
    {
      // Some addresses in the ACT lack the abbreviation. The postcodes 2618 and 2620 lie on both
      // sides of the border and therefore do not decide.
      state = .act
    }
    let part = tail.split(separator: ",").last { !$0.allSatisfy(\.isWhitespace) }
    guard tail != address, let part else { return }
    // Without a comma the suburb is what follows the street type.
    suburb = tail.contains(",") ? String(part).plain : Self.afterStreet(String(part).plain)
  }

  private static func afterStreet(_ text: String) -> String {
    let words = text.split(separator: " ").map(String.init)
    guard var kind = words.dropLast().lastIndex(where: MatchKey.isStreetKind) else { return text }
    // "10 High St St Marys": the first "St" is the street type, the second belongs to the suburb.
    if kind > 0, MatchKey.isStreetKind(words[kind - 1]) { kind -= 1 }
    return words[(kind + 1)...].joined(separator: " ")
  }

  private func before(_ word: String, in address: String) -> String {
    guard let range = address.range(of: word, options: .backwards) else { return address }
    return String(address[..<range.lowerBound])
  }
}
