package import Configuration
import Foundation
package import FuelModel

/// A rule of `notify.json5`: what a receiver is to be notified of.
package struct NoticeRule: Sendable {
  /// What a rule watches.
  package enum Kind: Sendable, Equatable {
    /// The verdict or the state of a market changes.
    case verdict
    /// The cheapest fresh price near a place falls to a limit or below it.
    case price(below: Price)
  }

  /// Who receives the notices of a rule.
  package enum Target: Sendable, Equatable {
    /// The name of an address; the address itself is a secret.
    case address(secret: String)
    /// The path of a program, which is called without arguments.
    case command(String)
  }

  package var name: String
  package var kind: Kind
  /// A region for a verdict, any place for a price, in the words of the person who wrote the rule.
  package var place: String
  package var kilometres: Double?
  package var fuel: Fuel
  package var target: Target
  /// The quiet hours, in seconds of the local day, during which nothing is sent. They may pass
  /// midnight.
  package var quiet: (from: Int, until: Int)?

  /// Returns whether a second of the local day lies in the quiet hours.
  package func isQuiet(_ second: Int) -> Bool {
    guard let quiet else { return false }
    return quiet.from <= quiet.until
      ? (quiet.from..<quiet.until).contains(second) : second >= quiet.from || second < quiet.until
  }

  private struct Table: SettingTable {
    let name = Setting.text("name")
    let region = Setting.text("region", "")
    let place = Setting.text("place", "")
    let nearKilometres = Setting.decimal("nearKilometres", 0.1...500)
    let fuel = Setting.choice("fuel", Fuel.allCases.map(\.rawValue), "U91")
    // No fuel costs less than ten cents: a smaller number is in dollars.
    let belowCents = Setting.decimal("belowCents", 10...1_000)
    let address = Setting.text("address", "")
    let command = Setting.text("command", "")
    // Such as '22:00-07:00', in local time of the place.
    let quiet = Setting.text("quiet", "")
  }

  /// Reads the rules from `notify.json5`. A configuration without that file has none.
  package static func all(file: String) throws(ConfigurationError) -> [NoticeRule] {
    guard FileManager.default.fileExists(atPath: file) else { return [] }
    var rules: [NoticeRule] = []
    for settings in try Settings.list(file: file, Table()) {
      let place = settings.file
      func wrong(_ key: String, _ expected: String) -> ConfigurationError {
        .wrongValue(key: key, place: place, expected: expected)
      }
      let name = settings.name
      guard name.wholeMatch(of: /[a-z0-9-]{1,60}/) != nil,
        !rules.contains(where: { $0.name == name })
      else { throw wrong("name", "lower-case letters, digits and dashes, and differ in each rule") }
      let (region, somewhere) = (settings.region, settings.place)
      guard region.isEmpty != somewhere.isEmpty else {
        throw wrong(
          "region", "given for a rule about a verdict, or 'place' for one about a price, not both")
      }
      var kind = Kind.verdict
      if region.isEmpty {
        guard let cents = settings.belowCents, let price = Price(tenths: Cents.tenths(cents))
        else { throw wrong("belowCents", "a price in cents per litre") }
        kind = .price(below: price)
      } else {
        for (key, value) in [
          ("belowCents", settings.belowCents), ("nearKilometres", settings.nearKilometres),
        ] where value != nil {
          throw wrong(key, "left out beside region: to watch a price, name the region as 'place'")
        }
      }
      let (address, command) = (settings.address, settings.command)
      guard address.isEmpty != command.isEmpty else {
        throw wrong(
          "address", "the name of an address, or 'command' the path of a program, not both")
      }
      guard command.isEmpty || command.hasPrefix("/") else {
        throw wrong("command", "the path of a program, beginning with / and without arguments")
      }
      guard address.isEmpty || address.wholeMatch(of: /[a-z0-9-]{1,60}/) != nil else {
        throw wrong(
          "address", "a name such as phone, whose address is in BOWSER_NOTIFY_PHONE_URL")
      }
      rules.append(
        NoticeRule(
          name: name, kind: kind, place: region.isEmpty ? somewhere : region,
          kilometres: settings.nearKilometres,
          fuel: Fuel.allCases.first { $0.rawValue == settings.fuel } ?? .u91,
          target: address.isEmpty ? .command(command) : .address(secret: address),
          quiet: try quiet(settings.quiet, place)))
    }
    return rules
  }

  private static func quiet(
    _ text: String, _ place: String
  ) throws(ConfigurationError) -> (from: Int, until: Int)? {
    if text.isEmpty { return nil }
    guard
      let match = text.wholeMatch(
        of: /([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])/)
    else { throw .wrongValue(key: "quiet", place: place, expected: "hours such as 22:00-07:00") }
    func second(_ hour: Substring, _ minute: Substring) -> Int {
      (Int(hour) ?? 0) * 3_600 + (Int(minute) ?? 0) * 60
    }
    return (second(match.1, match.2), second(match.3, match.4))
  }
}
