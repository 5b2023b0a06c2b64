import Foundation
import Testing

/// Environment variables that begin with BOWSER_ and that nothing reads.
struct VariableTests {
  /// F-M01: a variable that nothing reads and that is probably meant for this program is refused,
  /// because without it a feed would stay unread, or another database would be used.
  @Test(arguments: [
    ("BOWSER_LOGLEVEL", "; did you mean BOWSER_LOG_LEVEL?"),
    ("BOWSER_SA_FDP_TOKEN", "; did you mean BOWSER_SA_FPD_TOKEN?"),
    ("BOWSER_SA_FDP_TOKEN_FILE", "; did you mean BOWSER_SA_FPD_TOKEN_FILE?"),
    ("BOWSER_WA_FUELWATCH_ENABLD", "; did you mean BOWSER_WA_FUELWATCH_ENABLED?"),
    ("BOWSER_SA_FPD_KEY", ": correct its name, or unset it"),
    ("BOWSER_VIC_FAIRFUEL_TOKEN", ": correct its name, or unset it"),
    ("BOWSER_QLD_FPD_CADENCE", "; did you mean BOWSER_QLD_FPD_CADENCE_MINUTES?"),
    ("BOWSER_QLD_FPD_COLOUR", ": correct its name, or unset it"),
    ("BOWSER_WA_FUELWATCH_TOKEN", ": correct its name, or unset it"),
    ("BOWSER_DB", "; did you mean BOWSER_DATABASE?"),
    ("BOWSER_CONFGI", "; did you mean BOWSER_CONFIG?"),
    ("BOWSER_DEADLINE", "; did you mean BOWSER_DEADLINE_SECONDS?"),
    ("BOWSER_ARCHIVE_WA_FUELWATCH_FORM", "; did you mean BOWSER_ARCHIVE_WA_FUELWATCH_FROM?"),
  ])
  func aVariableThatNothingReadsIsRefused(variable: String, advice: String) throws {
    let slip = try CommandTests.run(
      ["status"], on: "host=/nowhere", environment: [variable: "CANARY"])
    #expect(
      slip.code == 78 && slip.err == "bowser: nothing reads \(variable)\(advice)\n", "\(slip)")
  }

  /// Variables of other programs, of the parts of this repository and of feeds that the
  /// configuration lacks are not refused, nor is one that is empty. Each ends where the database is
  /// missing.
  @Test func otherVariablesAreNotRefused() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.copyItem(atPath: CommandTests.config, toPath: folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.removeItem(atPath: folder + "/feeds/sa.json5")
    var environment = ["BOWSER_CONFIG": folder, "BOWSER_LOGLEVEL": ""]
    for variable in [
      "BOWSER_X", "BOWSER_COMMIT", "BOWSER_NTFY_TOKEN", "BOWSER_BACKUP_KEY", "BOWSER_QLD_TWO_TOKEN",
      "BOWSER_TAS_KEY", "BOWSER_REPORT_ENABLED", "BOWSER_GRAFANA_PASSWORD", "BOWSER_DB_PASSWORD",
      "BOWSER_HOME",
      "BOWSER_PORT_5432_TCP", "BOWSER_SERVICE_HOST", "BOWSER_SA_FPD_TOKEN",
      "BOWSER_SA_FPD_CADENCE_MINUTES", "BOWSER_NT_MYFUEL_USERNAME_FILE",
      "BOWSER_NOTIFY_PAGER_URL", "BOWSER_NOTIFY_PAGER_URL_FILE",
    ] { environment[variable] = "CANARY" }
    let status = try CommandTests.run(["status"], on: "host=/nowhere", environment: environment)
    #expect(status.code == 75, "\(status)")
  }

  /// Without a configuration the variable that names one is named.
  @Test func aMissingConfigurationNamesItsVariable() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = CommandTests.process(["status"], "", ["BOWSER_CONFGI": CommandTests.config])
    let program = try #require(process.executableURL)
    // Beside the program there may be an installed configuration, and the checkout has one.
    let alone = folder.appending(path: "bowser")
    try FileManager.default.copyItem(at: program.resolvingSymlinksInPath(), to: alone)
    process.executableURL = alone
    process.currentDirectoryURL = folder
    process.environment?["BOWSER_CONFIG"] = nil
    let status = try await finished(process)
    guard !FileManager.default.fileExists(atPath: "/etc/bowser/bowser.json5") else { return }
    #expect(
      status.code == 78
        && status.err.hasSuffix(
          ": set BOWSER_CONFIG, or use --config DIR\n"),
      "\(status)")
  }
}
