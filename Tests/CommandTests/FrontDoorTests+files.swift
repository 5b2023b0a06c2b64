import Foundation
import TestDatabase
import Testing

/// Mistakes in the files of the configuration.
extension FrontDoorTests {
  /// Mistakes in files of the configuration, each with its place and what was expected there.
  @Test(arguments: [
    ("bowser.json5", "deadlines: {}", "deadlines: { agregate: 5 }", "did you mean 'aggregate'?"),
    (
      "bowser.json5", "workers: 2,", "workers: 2, workers: 3,",
      "another key: this one is in the table already"
    ),
    ("bowser.json5", "'warning'", "‘warning’", "a text in straight quotes"),
    ("archives/qld.json5", "'qld-fpd'", "'qld-fdp'", "a feed of the same state: qld-fpd"),
    ("feeds/qld.json5", "geoRegionId: 1", "geoRegion: 1", "did you mean 'geoRegionId'?"),
    ("feeds/sa.json5", "geoRegionId: 4", "geoRegionId: 44", "must be one of 1, 2, 3, "),
    ("feeds/nt.json5", "'page'", "'pages'", "'interface' must be one of page, api"),
    ("feeds/qld.json5", "'qld-fpd',", "'qld-fpd', token: 'x',", "set BOWSER_QLD_FPD_TOKEN"),
    ("feeds/qld.json5", "url: 'https:", "url: 'http:", "'url' must be an https address"),
    ("archives/qld.json5", "archive: ", "archve: ", "'archve'; did you mean 'archive'?"),
    ("feeds/wa.json5", "feed: ", "fed: ", "unknown key 'fed'; did you mean 'feed'?"),
    ("feeds/wa.json5", "feed: 'wa-fuelwatch'", "feed: 7", "'feed' must be a text"),
    (
      "feeds/tas.json5", "account: 'nsw-fuelcheck'", "account: 'nsw-fuelchek'",
      "'account' must be a feed, and 'nsw-fuelchek' is none; did you mean 'nsw-fuelcheck'?"
    ),
    (
      "feeds/wa.json5", "feed: 'wa-fuelwatch'", "feed: 'wa-fuelwatch', fuels: { '9': 'UL91' }",
      "and 'UL91' is no fuel; did you mean 'U91'?"
    ),
    (
      "feeds/wa.json5", "feed: 'wa-fuelwatch'", "feed: 'wa-fuelwatch', fuels: { '9': 'petrol' }",
      "and 'petrol' is no fuel; one of U91, E10, "
    ),
  ])
  func aMistakeInAFileIsPlaced(file: String, right: String, wrong: String, answer: String) throws {
    let folder = try CommandTests.config(replacing: right, with: wrong, in: file)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let refused = try CommandTests.run(["gaps", "--config", folder], on: "host=/nowhere")
    #expect(
      refused.code == 78 && refused.err.contains(file) && refused.err.contains(answer),
      "\(refused)")
  }

  /// Mistakes in the files that `aggregate` reads.
  @Test(arguments: [
    (
      "regions.json5", "region: 'brisbane'", "region: 'perth'",
      "'region' must be a code that no other region has, and 'perth' is that of entry "
    ),
    ("regions.json5", "region: 'brisbane'", "region: 'qld'", "and 'qld' is that of Queensland"),
    (
      "stations.json5", "[]",
      "[{ on: '2026-07-01', station: 'a 1', is: 'same', as: 'a 1', why: 'x' }]",
      "entry 1: 'as' must be another record than that of 'station'"
    ),
  ])
  func aggregateNamesAMistake(
    file: String, right: String, wrong: String, answer: String
  ) async throws {
    let folder = try CommandTests.config(replacing: right, with: wrong, in: file)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await TestDatabase.with { target in
      let refused = try CommandTests.run(["aggregate", "--config", folder], on: target)
      #expect(
        refused.code == 78 && refused.err.contains(file) && refused.err.contains(answer),
        "\(refused)")
    }
  }

  /// A feed may be switched off by its file, and a folder may be missing.
  @Test func filesThatSwitchFeedsOffAreNamed() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/feeds/wa.json5"
    try String(contentsOfFile: file, encoding: .utf8)
      .replacing("feed: 'wa-fuelwatch'", with: "feed: 'wa-fuelwatch', enabled: false")
      .write(toFile: file, atomically: false, encoding: .utf8)
    try await TestDatabase.with { target in
      let off = try CommandTests.run(["ingest", "wa", "--config", folder], on: target)
      #expect(
        off.code == 78
          && off.err
            == "bowser: wa-fuelwatch: switched off by 'enabled' in feeds/wa.json5: set it to true\n",
        "\(off)")
      let doctor = try CommandTests.run(["doctor", "--config", folder], on: target)
      #expect(doctor.out.contains("switched off by 'enabled' in feeds/wa.json5\n"), "\(doctor)")
      try FileManager.default.removeItem(atPath: folder + "/feeds")
      let none = try CommandTests.run(["ingest", "--all", "--config", folder], on: target)
      #expect(
        none.code == 78 && none.err == "bowser: \(folder)/feeds: there is no such folder\n",
        "\(none)")
    }
  }

  /// Two files that describe one feed are both named.
  @Test func aFeedThatIsDescribedTwiceNamesItsFiles() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.copyItem(
      atPath: folder + "/feeds/wa.json5", toPath: folder + "/feeds/west.json5")
    let twice = try CommandTests.run(["config", "show", "--config", folder])
    #expect(
      twice.code == 78 && twice.err.contains("feeds/wa.json5 and feeds/west.json5 both describe"),
      "\(twice)")
  }
}
