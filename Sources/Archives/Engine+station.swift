import FuelModel

extension Engine {
  /// Returns the station that a row describes; `nil` where the row does not identify one.
  func station(_ record: ArchiveRecord) -> Station? {
    func text(_ column: ArchiveFormat.Column) -> String? {
      let index = columns[column.rawValue]
      return index < 0 ? nil : record.text(index).plainOrNil
    }
    let address = text(.address) ?? ""
    let suburb = text(.suburb)
    let name = text(.name) ?? text(.brand)
    let point = Position(
      latitude: text(.latitude).flatMap(Double.init),
      longitude: text(.longitude).flatMap(Double.init))
    let position = point.flatMap { Country.australia.contains($0) ? $0 : nil }
    let code: String
    switch format.identity {
    case .code:
      guard let given = text(.code) else { return nil }
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
      postcode: text(.postcode).flatMap { $0.count == 4 && Int($0) != nil ? $0 : nil }
        ?? postal.postcode,
      position: position, isPublic: !(name ?? "").lowercased().contains("members only"))
  }
}
