import Feeds
import Foundation
import Testing

@testable import Configuration

struct SettingsTests {
  private struct Table: SettingTable {
    let level = Setting.choice("level", ["low", "high"], "low")
    let deadlineSeconds = Setting.integer("deadlineSeconds", 1...100, 30)
    let share = Setting.share("share", 0.5)
    let name = Setting.text("name")
  }

  private func settings(
    _ file: [String: Value], environment: [String: String] = [:], flags: [String: String] = [:]
  ) throws -> Settings<Table> {
    try Settings(
      Table(), file: file, place: "test.json5", variablePrefix: "X", environment: environment,
      flags: flags)
  }

  @Test func aFlagBeatsTheEnvironmentBeatsTheFileBeatsTheDefault() throws {
    let file: [String: Value] = ["name": .text("a"), "level": .text("high")]
    #expect(
      try settings(file).entries.map { $0.origin.description }
        == ["test.json5", "default", "default", "test.json5"])
    let environment = ["X_DEADLINE_SECONDS": "7", "X_LEVEL": "low"]
    #expect(try settings(file, environment: environment).deadlineSeconds == 7)
    #expect(try settings(file, environment: environment).level == "low")
    #expect(
      try settings(file, environment: environment, flags: ["level": "high"]).level == "high")
  }

  /// F-M01: a mistake is reported with its place, and a similar key is suggested. The value is
  /// never shown.
  @Test func mistakesAreNamed() {
    func message(_ body: () throws -> Settings<Table>) -> String {
      do {
        _ = try body()
        return "no error"
      } catch {
        return "\(error)"
      }
    }
    #expect(
      message { try settings(["name": .text("a"), "levle": .text("high")]) }
        == "test.json5: unknown key 'levle'; did you mean 'level'?")
    #expect(message { try settings([:]) } == "test.json5: 'name' is missing")
    #expect(
      message { try settings(["name": .number(1)]) }
        == "test.json5: 'name' must be a text without control characters")
    // F-M10: in what is sent to a provider a line break would begin a further line.
    #expect(
      message { try settings(["name": .text("a\r\nX-Other: 1")]) }
        == "test.json5: 'name' must be a text without control characters")
    #expect(
      message { try settings(["name": .text("a"), "deadlineSeconds": .number(1.5)]) }
        == "test.json5: 'deadlineSeconds' must be a whole number from 1 to 100")
    let canary = message {
      try settings(["name": .text("a")], environment: ["X_LEVEL": "CANARY"])
    }
    #expect(canary == "environment: 'X_LEVEL' must be one of low, high")
    #expect(
      message { try settings(["name": .text("a"), "pumpColour": .text("red")]) }
        == "test.json5: unknown key 'pumpColour'; one of level, deadlineSeconds, share, name")
  }

  /// A message can name what states a setting.
  @Test func theOriginOfASettingHasAName() throws {
    let file: [String: Value] = ["name": .text("a"), "level": .text("high")]
    #expect(try settings(file).origin(of: "level") == "'level' in test.json5")
    #expect(try settings(file, environment: ["X_LEVEL": "low"]).origin(of: "level") == "X_LEVEL")
  }

  @Test func theProjectsOwnFilesAreSound() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../config").standardized.path
    let sources = try Catalogue.sources(in: folder, environment: [:])
    #expect(
      Set(sources.map(\.feed)).isSuperset(of: [
        "nsw-fuelcheck", "nt-myfuel", "qld-fpd", "sa-fpd", "tas-fuelcheck", "vic-fairfuel",
        "wa-fuelwatch",
      ]))
    #expect(try Value.table(file: folder + "/bowser.json5").isEmpty == false)
    let used = Set(sources.map { $0.provider.id })
    #expect(Set(Catalogue.providers.map { $0.id }) == used, "a provider without a feed")
  }

  @Test func everyProviderFileIsInTheCatalogue() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/Feeds/Providers").standardized.path
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.count == Catalogue.providers.count)
    for provider in Catalogue.providers { #expect(files.contains("\(provider).swift")) }
  }
}

struct SecretTests {
  private func file(_ text: String, mode: Int) throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data(text.utf8).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    return path
  }

  @Test func secretsComeFromTheEnvironmentAFileOrACredential() throws {
    let path = try file("CANARY-2\n", mode: 0o600)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: try file("CANARY-3", mode: 0o400), toPath: folder.path + "/qld-fpd.token")
    func find(_ environment: [String: String]) throws -> String {
      try Secrets(environment: environment).find(feed: "qld-fpd", name: "token").reveal()
    }
    #expect(try find(["BOWSER_QLD_FPD_TOKEN": "CANARY-1"]) == "CANARY-1")
    #expect(try find(["BOWSER_QLD_FPD_TOKEN_FILE": path]) == "CANARY-2")
    #expect(try find(["CREDENTIALS_DIRECTORY": folder.path]) == "CANARY-3")
    // Newer versions of systemd give the service's user access by an access list, which shows as
    // group rights. Only root's files in the credentials folder may have them.
    chmod(folder.path + "/qld-fpd.token", 0o440)
    let isRoot = geteuid() == 0
    #expect((try? find(["CREDENTIALS_DIRECTORY": folder.path])) == (isRoot ? "CANARY-3" : nil))
    #expect((try? find(["BOWSER_QLD_FPD_TOKEN_FILE": folder.path + "/qld-fpd.token"])) == nil)
  }

  /// F-M01: of a key in a variable and another in a file, one is out of date, and nobody can tell
  /// which. The units of systemd name a file for every key, whether it is there or not.
  @Test func aSecretInTwoPlacesIsRefused() throws {
    let path = try file("CANARY-2", mode: 0o600)
    func find(_ others: [String: String]) throws -> String {
      let environment = others.merging(["BOWSER_QLD_FPD_TOKEN": "CANARY-1"]) { $1 }
      return try Secrets(environment: environment).find(feed: "qld-fpd", name: "token").reveal()
    }
    for other in [path, "/nowhere"] {
      #expect(throws: ConfigurationError.secretTwice("BOWSER_QLD_FPD_TOKEN")) {
        try find(["BOWSER_QLD_FPD_TOKEN_FILE": other])
      }
    }
    #expect(
      "\(ConfigurationError.secretTwice("BOWSER_QLD_FPD_TOKEN"))"
        == "both BOWSER_QLD_FPD_TOKEN and BOWSER_QLD_FPD_TOKEN_FILE are set: unset one of them")
    #expect(try find(["BOWSER_QLD_FPD_TOKEN_FILE": ""]) == "CANARY-1")
    let unit = ["BOWSER_QLD_FPD_TOKEN_FILE": "/run/x/key_t", "CREDENTIALS_DIRECTORY": "/run/x"]
    #expect(try find(unit) == "CANARY-1")
  }

  /// F-N56: the units of systemd name a file for every key. A feed whose key is not there has no
  /// key, and is left out.
  @Test func aCredentialThatWasNotLoadedIsNone() throws {
    let unit = ["BOWSER_QLD_FPD_TOKEN_FILE": "/run/x/key_t", "CREDENTIALS_DIRECTORY": "/run/x"]
    let secrets = Secrets(environment: unit)
    #expect(secrets.origin(feed: "qld-fpd", name: "token") == nil)
    #expect(
      throws: ConfigurationError.missingSecret(
        feed: "qld-fpd", name: "token", variable: "BOWSER_QLD_FPD_TOKEN")
    ) { try secrets.find(feed: "qld-fpd", name: "token") }
  }

  /// A person may have chosen a password with quotes.
  @Test func aPasswordMayHaveQuotes() throws {
    let secrets = Secrets(environment: ["BOWSER_NT_MYFUEL_PASSWORD": "'CANARY'"])
    #expect(try secrets.find(feed: "nt-myfuel", name: "password").reveal() == "'CANARY'")
  }

  /// A message can name what a key came from.
  @Test func theOriginOfASecretHasAName() throws {
    func origin(_ environment: [String: String]) -> String? {
      Secrets(environment: environment).origin(feed: "qld-fpd", name: "token")
    }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: try file("CANARY", mode: 0o400), toPath: folder.path + "/qld-fpd.token")
    #expect(origin(["BOWSER_QLD_FPD_TOKEN": "CANARY"]) == "BOWSER_QLD_FPD_TOKEN")
    #expect(origin(["BOWSER_QLD_FPD_TOKEN_FILE": "/x"]) == "BOWSER_QLD_FPD_TOKEN_FILE")
    #expect(origin(["CREDENTIALS_DIRECTORY": folder.path]) == "the credential qld-fpd.token")
    #expect(origin([:]) == nil)
  }

  /// Only a shell takes the quotes around a value away.
  @Test(arguments: ["'CANARY'", "\"CANARY\""])
  func quotesAroundASecretAreRefused(text: String) throws {
    let error = #expect(throws: ConfigurationError.self) {
      try Secrets(environment: ["BOWSER_QLD_FPD_TOKEN": text]).find(feed: "qld-fpd", name: "token")
    }
    let message = error.map { "\($0)" } ?? ""
    #expect(message.hasPrefix("BOWSER_QLD_FPD_TOKEN: the secret begins and ends with a quote"))
    #expect(!message.contains("CANARY"))
  }

  /// F-M02, F-M01: a file that others can read, a link, a folder and an empty secret are refused.
  @Test func unsafeFilesAreRefused() throws {
    let open = try file("CANARY", mode: 0o644)
    let empty = try file("\n", mode: 0o600)
    let link = open + ".link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: try file("CANARY", mode: 0o600))
    let folder = FileManager.default.temporaryDirectory.path
    for (path, reason) in [
      (open, "others can read"), (empty, "is empty"), (link, "symbolic link"),
      (folder, "not an ordinary file"), ("/nowhere", "cannot be read"),
    ] {
      let error = #expect(throws: ConfigurationError.self) {
        try Secrets(environment: ["BOWSER_QLD_FPD_TOKEN_FILE": path]).find(
          feed: "qld-fpd", name: "token")
      }
      #expect("\(error!)".contains(reason))
      #expect(!"\(error!)".contains("CANARY"))
    }
  }

  /// F-M05: no way of printing a secret shows it.
  @Test func aSecretPrintsAsStars() {
    let secret = Secret("CANARY")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in [
      "\(secret)", String(reflecting: secret), dumped, "\([secret])", "\(Optional(secret) as Any)",
    ] {
      #expect(!text.contains("CANARY"))
    }
  }
}

/// F-N39: a syntax error in a file is reported with line and column and what was expected there.
struct SyntaxFaultTests {
  @Test(arguments: [
    ("{\n  a: 1,\n  b: 2 \n  c: 3\n}", 4, 3, "a comma or }"),
    ("{ a 1 }", 1, 5, "a colon after the key"),
    ("{ a: 'x\n}", 1, 6, "the end of the text that begins here"),
    ("[1, 2", 1, 6, "a comma or ]"),
    ("[1 2]", 1, 4, "a comma or ]"),
    ("[\n  { a: 1,\n  // b: 2 },\n]", 4, 1, "a key or }"),
    ("[\n  { a: 1\n]", 3, 1, "a comma or }"),
    ("{ a: [1, }", 1, 10, "a value"),
    ("{ a: }", 1, 6, "a value"),
    ("{ a: 1 } x", 1, 10, "the end of the file"),
    ("{ /* a: 1 }", 1, 3, "the end of the comment that begins here"),
    ("{ 'ä': 'ö', : 1 }", 1, 13, "a key or }"),
    ("", 1, 1, "{ ... }, but the file is empty"), ("a = 1", 1, 1, "{ ... } or [ ... ], in JSON5"),
    ("{ a: 1,", 1, 8, "a key or }"),
    ("{ a: warning }", 1, 6, "a number, true, false, null or a text in straight quotes"),
    ("{ a: 30s }", 1, 6, "a number, true, false, null or a text in straight quotes"),
    ("{ # a\n}", 1, 3, "a key or }; a comment begins with //, not with #"),
    ("{ a: 1 # b\n}", 1, 8, "a comma or }; a comment begins with //, not with #"),
    ("# a\n{ }", 1, 1, "{ ... } or [ ... ], in JSON5; a comment begins with //, not with #"),
    ("{ a: 1, b: { a: 2 }, 'a': 3 }", 1, 22, "another key: this one is in the table already"),
  ])
  func aSlipIsPlaced(text: String, line: Int, column: Int, expected: String) throws {
    let fault = try #require(SyntaxFault(in: Array(text.utf8)))
    #expect((fault.line, fault.column) == (line, column))
    #expect(fault.expected == expected)
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data(text.utf8).write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    let error = #expect(throws: ConfigurationError.self) { try Value.read(file: file) }
    #expect("\(error.map { "\($0)" } ?? "")".contains(":\(line):\(column): expected"))
  }

  /// The entries of a list have lines too, as far as it can be read.
  @Test(arguments: [
    ("// a\n[\n  { a: 1 },\n  { b: [1,\n  2] }, 3,\n]", [3, 4, 5]), ("[]", [Int]()),
    ("{ a: [1] }", [Int]()),
    ("[1,\n2,\n]x", [1, 2]), ("[\n1,\n{ a 2 },\n3]", [2, 3]),
  ])
  func entriesHaveLines(text: String, lines: [Int]) {
    #expect(SyntaxFault.linesOfEntries(in: Array(text.utf8)) == lines)
  }

  /// What Foundation's JSON5 parser reads has no fault.
  @Test(arguments: [
    "{ a: 1, }", "[1, 'two', \"three\",]", "{ 'a b': -.5, $c_1: +1e3, d: null } // end",
    "/* before */ { a: 'it\\'s', b: [ ], c: { } }",
  ])
  func whatIsReadHasNoFault(text: String) {
    #expect(SyntaxFault(in: Array(text.utf8)) == nil)
  }

  /// A sound text is read as JSON5 is meant.
  @Test(
    arguments: [
      ("{ a: 1, }", .table(["a": .number(1)])),
      ("[1, 'two', \"three\",]", .list([.number(1), .text("two"), .text("three")])),
      (
        "{ 'a b': -.5, $c_1: +1e3, d: null, e: true } // end",
        .table(["a b": .number(-0.5), "$c_1": .number(1_000), "d": .null, "e": .boolean(true)])
      ),
      (
        "/* before */ { a: 'it\\'s', b: [ ], c: { } }",
        .table(["a": .text("it's"), "b": .list([]), "c": .table([:])])
      ),
      ("['a\\tb\\u00e9\\\\', 0x10]", .list([.text("a\tb\u{e9}\\"), .number(16)])),
      ("['\\x41']", .list([.text("A")])), ("[5.]", .list([.number(5)])),
      ("['\\ud83d\\ude00']", .list([.text("\u{1F600}")])),
    ] as [(String, Value)])
  func whatIsSoundIsRead(text: String, value: Value) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data(text.utf8).write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    #expect(try Value.read(file: file) == value)
  }

  /// A character that does not belong there, and an escape of no character, are not passed over.
  @Test(arguments: ["{ a: 1 \u{e9} }", "['\\u00zz']", "['\\ud83d']", "[1] \u{e9}"])
  func whatIsNoJSON5IsRefused(text: String) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data(text.utf8).write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    #expect(throws: ConfigurationError.self) { try Value.read(file: file) }
  }
}
