import FuelModel

extension Engine {
  /// Returns the station that a row describes; `nil` where the row does not identify one.
  func station(_ record: ArchiveRecord) -> Station? {
    func text(_ column: ArchiveFormat.Column) -> String? {
      let index = layout.columns[column.rawValue]
      return index < 0 ? nil : record.text(index).plainOrNil
    }
    let address = text(.address) ?? ""
    let suburb = text(.suburb)
    let name = text(.name) ?? text(.brand)
    // Sums and notes are no stations, also where all their cells are filled.
    guard !RowLabel.isLabel(name ?? "") else { return nil }
    let point = Position(
      latitude: text(.latitude).flatMap(Double.init),
      longitude: text(.longitude).flatMap(Double.init))
    let position = point.flatMap { Country.australia.contains($0) ? $0 : nil }
    let code: String
    switch format.identity {
    case .code:
      guard let given = text(.code).flatMap(Self.code) else { return nil }
      code = given
    case .nameAndAddress:
      guard let name, !address.isEmpty else { return nil }
      code = MatchKey.name(name) + "|" + MatchKey.address(address, suburb: suburb)
    case .nameAndPosition:
      guard let name, let position else { return nil }
      code = MatchKey.name(name) + "|\(position.latitude),\(position.longitude)"
    }
    let postal = PostalAddress(address)
    let homeState = format.homeState
    let state =
      text(.state).flatMap { Country.australia.state($0.uppercased()) } ?? postal.state ?? homeState
    return Station(
      code: String(code.prefix(200)).cut(toBytes: InputLimit.codeBytes.value), state: state,
      name: name ?? code, brand: text(.brand),
      address: address, suburb: suburb,
      postcode: text(.postcode).flatMap(Self.postcode) ?? postal.postcode,
      position: position)
  }

  /// Returns a code as the feed writes it: a whole number without marks of other programs. A number
  /// that is not whole is no code.
  private static func code(_ text: String) -> String? {
    guard !RowLabel.isLabel(text) else { return nil }
    let isNumber = text.utf8.allSatisfy { (0x2B...0x39).contains($0) || $0 | 0x20 == 0x65 }
    return isNumber ? WrittenNumber.whole(text) : text
  }

  /// Returns a postcode of four digits. Programs that take it for a number drop the 0 before those
  /// of the Northern Territory.
  private static func postcode(_ text: String) -> String? {
    guard let digits = WrittenNumber.whole(text) else { return nil }
    return digits.count == 4 ? digits : digits.count == 3 ? "0" + digits : nil
  }
}
