import FuelModel

extension Engine {
  /// Returns the station that a row describes; `nil` where the row does not identify one.
  func station(_ record: ArchiveRecord) -> Station? {
    func text(_ column: ArchiveFormat.Column) -> String? {
      let index = layout[column]
      guard index >= 0, let text = record.text(index).plainOrNil else { return nil }
      return RowLabel.isPlaceholder(text) ? nil : text
    }
    let address = text(.address) ?? ""
    let suburb = text(.suburb)
    // The brand serves where a file has no column of names, and not where a name is missing. Sums
    // and notes are no stations, also where all their cells are filled.
    let hasNames = layout[.name] >= 0
    guard let name = text(hasNames ? .name : .brand), !RowLabel.isLabel(name) else { return nil }
    let point = Position(
      latitude: text(.latitude).flatMap(Double.init),
      longitude: text(.longitude).flatMap(Double.init))
    let position = point.flatMap { Australia.contains($0) ? $0 : nil }
    let code: String
    switch format.identity {
    case .code:
      guard let given = text(.code).flatMap(Self.code) else { return nil }
      code = given
    case .nameAndAddress:
      guard !address.isEmpty else { return nil }
      code = MatchKey.name(name) + "|" + MatchKey.address(address, suburb: suburb)
    case .nameAndPosition:
      guard let position else { return nil }
      code = MatchKey.name(name) + "|\(position.latitude),\(position.longitude)"
    }
    let postal = PostalAddress(address)
    let state = text(.state).flatMap { Australia.state($0.uppercased()) } ?? postal.state
    return Station(
      code: String(code.prefix(200)).cut(toBytes: InputLimit.codeBytes.value),
      state: state ?? format.homeState, name: name, brand: text(.brand), address: address,
      suburb: suburb,
      postcode: text(.postcode).flatMap(Self.postcode) ?? postal.postcode,
      position: position)
  }

  /// Returns a code as the feed writes it: a whole number, without marks of other programs and
  /// leading zeros. Any other text is no code.
  private static func code(_ text: String) -> String? {
    // Excel writes '61400001 or ="61400001" where a number is to stay a text.
    let bare = text.drop { $0 == "=" || $0 == "'" }.trimmingPrefix("\"")
    let end = bare.hasSuffix("\"") ? bare.dropLast() : bare
    guard let digits = WrittenNumber.whole(String(end)) else { return nil }
    let code = digits.drop { $0 == "0" }
    return code.isEmpty ? nil : String(code)
  }

  /// Returns a postcode of four digits. Programs that take it for a number drop the 0 before those
  /// of the Northern Territory.
  private static func postcode(_ text: String) -> String? {
    guard let digits = WrittenNumber.whole(text) else { return nil }
    return digits.count == 4 ? digits : digits.count == 3 ? "0" + digits : nil
  }
}
