package import Configuration
import Foundation
package import FuelModel

/// One archive as its configuration file describes it.
package struct Archive: Sendable {
  /// The archive's id, such as `nsw-fuelcheck`.
  package let id: String
  /// The feed of the same official scheme. Its station records may be the same stations as those of
  /// the archive.
  package let feed: String
  package let state: State
  package let format: ArchiveFormat
  package let settings: Settings<Table>
  /// The first day that the archive's files cover.
  package let from: Day
  /// The last day that the files cover; `nil` where the archive is continued.
  package let until: Day?

  /// The name of the archive as the source of its prices, distinct from the name of the feed.
  package var source: String { "\(id)-archive" }

  /// Every setting that an archive's file may hold.
  package struct Table: SettingTable {
    package let archive = Setting.text("archive")
    package let feed = Setting.text("feed")
    package let state = Setting.text("state")
    // A price lapses this many hours after it began.
    package let priceLapsesHours = Setting.integer("priceLapsesHours", 1...100_000)
    // Other hours for single fuels: { DL: 1440 }.
    package let priceLapsesHoursByFuel = Setting.integers(
      "priceLapsesHoursByFuel", keys: Fuel.allCases.map(\.rawValue), 1...100_000)
    package let reportsWholeDays = Setting.boolean("tellsWholeDays", false)
    // A file with more than this share of rejected rows is refused.
    package let maxRejectShare = Setting.share("maxRejectShare", 0.02)
    // The first and the last day that the files cover. An empty last day: the archive is continued.
    package let from = Setting.text("from")
    package let until = Setting.text("until", "")
    // Where people can find the files.
    package let page = Setting.text("page")
    package let licence = Setting.text("licence")
    package let attribution = Setting.text("attribution")
  }

  /// Returns the environment variables that set an archive's settings.
  package static func variables(of id: String) -> [String] {
    Table().variables(prefix: prefix(of: id))
  }

  private static func prefix(of id: String) -> String {
    "BOWSER_ARCHIVE_" + id.uppercased().replacing("-", with: "_")
  }

  package init(file: String, environment: [String: String]) throws(ConfigurationError) {
    let entries = try Value.table(file: file)
    let place = String(file.split(separator: "/").suffix(2).joined(separator: "/"))
    let id = try Value.name(of: "archive", in: entries, place: place)
    guard let format = ArchiveFormat.all.first(where: { $0.id == id }) else {
      throw .wrongValue(
        key: "archive", place: place,
        expected: "one of \(ArchiveFormat.all.map(\.id).joined(separator: ", "))")
    }
    self.id = id
    self.format = format
    settings = try Settings(
      Table(), file: entries, place: place,
      variablePrefix: Self.prefix(of: id), environment: environment)
    feed = settings.feed
    guard let state = Australia.state(settings.state) else {
      throw .wrongValue(key: "state", place: place, expected: "a state")
    }
    self.state = state
    guard let from = Day(settings.from) else {
      throw .wrongValue(key: "from", place: place, expected: "a day such as 2016-08-01")
    }
    self.from = from
    until = Day(settings.until)
    guard settings.until.isEmpty || until != nil else {
      throw .wrongValue(key: "until", place: place, expected: "a day such as 2024-11-30")
    }
  }

  /// Reads the archives of `<folder>/archives/*.json5`, in the order of the files' names.
  package static func all(
    in folder: String, environment: [String: String]
  ) throws(ConfigurationError) -> [Archive] {
    try Value.names(in: folder + "/archives").filter { $0.hasSuffix(".json5") }
      .map { name throws(ConfigurationError) in
        try Archive(file: "\(folder)/archives/\(name)", environment: environment)
      }
  }
}
