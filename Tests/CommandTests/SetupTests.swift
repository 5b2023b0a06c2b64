import Foundation
import FuelModel
import Postgres
import Simulator
import TestDatabase
import Testing

/// The file from which the lines for cron take what the shell of `setup` has.
struct SetupTests {
  private let manager = FileManager.default

  private func setup(
    _ target: String, _ folder: String, _ environment: [String: String]
  ) throws -> CommandTests.Result {
    try CommandTests.run(
      ["setup"], on: target,
      environment: environment.merging(["BOWSER_CONFIG": folder]) { $1 })
  }

  /// F-M60: the line that `setup` prints carries the keys and the settings of the shell. Without
  /// anything else in its environment it is silent for a day, reads each feed that has a key, and
  /// leaves a feed alone that a variable switches off.
  @Test(.long) func theLineForCronCarriesTheShell() async throws {
    let folder = try FrontDoorTests.configuration()
    let home = folder + "-home"
    try manager.createDirectory(atPath: home, withIntermediateDirectories: true)
    defer { for path in [folder, home] { try? manager.removeItem(atPath: path) } }
    let begin = WorkerProcessTests.now
    let today = Zone.sydney.local(begin).day
    let feeds = SimulatedFeeds(
      Market(seed: 3, stations: 120, days: (today + -3)...(today + 3)), at: begin)
    let server = try Server { feeds.answer($0) }
    defer { server.stop() }
    var environment = SimulatedFeeds.settings(port: server.port)
    environment["BOWSER_NT_MYFUEL_ENABLED"] = "false"
    let key = environment.removeValue(forKey: "BOWSER_SA_FPD_TOKEN") ?? ""
    try key.write(toFile: home + "/sa key", atomically: false, encoding: .utf8)
    try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: home + "/sa key")
    environment["BOWSER_SA_FPD_TOKEN_FILE"] = home + "/sa key"
    try await TestDatabase.with { target in
      let done = try setup(target, folder, environment)
      #expect(done.code == 0, "\(done)")
      #expect(done.out.contains("remove the lines of the simulator from it"))
      let file = folder + "/environment"
      let mode = try manager.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      for (name, value) in SimulatedFeeds.keys where name.hasSuffix("TOKEN") {
        #expect(!(done.out + done.err).contains(value), "\(name)")
      }
      let line = try #require(
        done.out.firstMatch(of: /cron +\*\/5 \* \* \* \* (.+)\n/)?.1)
      // Four hours as cron calls it, or a day at fewer times, by the clock of the program.
      let program = try #require(CommandTests.process([], "", [:]).executableURL?.path)
      let clock = home + "/clock"
      try "exec '\(program)' \"$@\" --now $(cat '\(clock)')\n"
        .write(toFile: home + "/program", atomically: false, encoding: .utf8)
      let isPlain = program.wholeMatch(of: /[A-Za-z0-9_.,:=@\/+-]+/) != nil
      let printed = isPlain ? program : "'\(program)'"
      let command = String(line).replacing("\\%", with: "%")
        .replacing("\(printed) $what", with: "sh '\(home)/program' $what")
      #expect(command != String(line))
      for step in 0..<Long.count(short: 6, long: 48) {
        let now = begin + .seconds(step * Long.count(short: 14_400, long: 300))
        feeds.set(now)
        try "\(now)".write(toFile: clock, atomically: false, encoding: .utf8)
        let mail = try await tool(
          "env", ["-i", "HOME=\(home)", "PATH=/usr/bin:/bin", "sh", "-c", command])
        #expect(mail.code == 0 && mail.out.isEmpty && mail.err.isEmpty, "\(now) \(mail)")
      }
      let read = try Connection(target).lines(
        "SELECT source FROM fuel_v1.ingest_runs WHERE outcome = 'stored' GROUP BY 1 ORDER BY 1")
      #expect(read == SimulatedFeeds.feeds.filter { $0 != "nt-myfuel" })
    }
  }

  /// F-M60: `setup` adds to the file what it lacks, and changes nothing that a person wrote in it.
  /// It prints names and no values.
  @Test func whatAPersonWroteStays() async throws {
    let folder = try FrontDoorTests.configuration()
    defer { try? manager.removeItem(atPath: folder) }
    let file = folder + "/environment"
    func text() throws -> String { try String(contentsOfFile: file, encoding: .utf8) }
    let awkward = "it's 50% \"$HOME\" `x`"
    try await TestDatabase.with { target in
      let first = try setup(
        target, folder, ["BOWSER_QLD_FPD_TOKEN": "CANARY1", "BOWSER_CONTACT": awkward])
      #expect(first.code == 0, "\(first)")
      #expect(first.out.contains(", with BOWSER_CONTACT, BOWSER_QLD_FPD_TOKEN, "), "\(first)")
      let contact = try await tool("sh", ["-c", ". '\(file)'; printf %s \"$BOWSER_CONTACT\""])
      #expect(contact.out == awkward)
      let mine = "# mine\nexport BOWSER_QLD_FPD_TOKEN=\"CANARY2\"\nBOWSER_SA_FPD_TOKEN=CANARY3"
      try mine.write(toFile: file, atomically: false, encoding: .utf8)
      let again = try setup(
        target, folder,
        [
          "BOWSER_QLD_FPD_TOKEN": "CANARY1", "BOWSER_SA_FPD_TOKEN_FILE": "sa.token",
          "BOWSER_WORKERS": "3",
        ])
      #expect(again.code == 0, "\(again)")
      #expect(again.out.contains("it keeps its own BOWSER_QLD_FPD_TOKEN, which differs from"))
      #expect(again.out.contains("it keeps its own BOWSER_SA_FPD_TOKEN, which differs from"))
      let state = "BOWSER_STATE_FOLDER=\(CommandTests.state)"
      let added = try text()
      #expect(added == mine + "\n\(state)\nBOWSER_WORKERS=3\n")
      let same = try setup(target, folder, ["BOWSER_QLD_FPD_TOKEN": "CANARY2"])
      #expect(same.code == 0 && !same.out.contains("keeps a"), "\(same)")
      // Others could read what is added.
      try manager.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
      let open = try setup(target, folder, ["BOWSER_NSW_FUELCHECK_KEY": "CANARY4"])
      #expect(open.code == 74 && open.err.contains("chmod 600"), "\(open)")
      #expect(try !text().contains("CANARY4"))
      for answer in [first, again, same, open] {
        #expect(!(answer.out + answer.err).contains("CANARY"), "\(answer)")
      }
    }
  }
}
