import Foundation

/// The manual, made from the table of commands: one page for the program and one for each command.
enum Manual {
  /// Paths below a share folder, with the text of each file in mdoc(7).
  static var pages: [(path: String, text: String)] {
    [("man/man1/bowser.1", overview)]
      + Bowser.commands.map { ("man/man1/bowser-\($0.name).1", page($0)) }
  }

  private static var overview: String {
    head("bowser", "Australian retail fuel prices in PostgreSQL")
      + """
      .Sh SYNOPSIS
      .Nm bowser
      .Ar command
      .Op Ar options
      .Op Ar operands
      .Sh DESCRIPTION
      Bowser fetches the retail fuel prices that each Australian state publishes, keeps them in
      PostgreSQL, and computes real-time averages, 30-day trends and verdicts on whether to fill up.
      Analysts and other services read them through the views of the schema
      .Li fuel_v1 .
      .Pp
      Success is silent.
      Standard output is data; messages go to standard error.
      .Pp
      The commands are:
      .Bl -tag -width Ds

      """
      + Bowser.commands.map { ".It Xr bowser-\($0.name) 1\n\(escaped($0.summary))\n" }.joined()
        + """
        .El
        .Pp
        Options of every command:
        .Bl -tag -width Ds

        """ + Command.common.map(item).joined() + ".El\n"
        + """
        .Sh ENVIRONMENT
        .Bl -tag -width Ds
        .It Ev PGHOST , PGPORT , PGUSER , PGDATABASE , PGPASSFILE , PGSERVICE
        As libpq uses them.
        .It Ev BOWSER_CONFIG
        The configuration folder.
        .It Ev BOWSER_DATABASE
        A libpq connection string or URI.
        .It Ev BOWSER_PING_URL
        The URL of a watcher that gets the exit code of jobs.
        .It Ev NO_COLOR
        No colours, whatever the terminal.
        .El
        .Pp
        Every setting of
        .Pa bowser.json5
        can be set as BOWSER_ and its name in capitals;
        .Ic bowser config show
        lists all settings and where each value came from.
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa /etc/bowser/bowser.json5
        Settings; beside it
        .Pa feeds/ ,
        .Pa archives/ ,
        .Pa regions.json5 ,
        .Pa brands.json5 ,
        .Pa stations.json5 ,
        .Pa events.json5
        and
        .Pa notify.json5 .
        .El

        """ + exits
  }

  private static func page(_ command: Command) -> String {
    let options = command.options.filter { !$0.about.isEmpty }
    var text = head("bowser-\(command.name)", command.summary)
    text += ".Sh SYNOPSIS\n.Nm bowser \(command.name)\n"
    text += options.isEmpty ? "" : ".Op Ar options\n"
    text += command.operands.isEmpty ? "" : ".Ar \(escaped(command.operands))\n"
    text += ".Sh DESCRIPTION\n\(escaped(command.summary))\n"
    if !command.notes.isEmpty { text += ".Pp\n\(paragraphs(command.notes))" }
    if !options.isEmpty {
      text += ".Pp\nThe options are:\n.Bl -tag -width Ds\n" + options.map(item).joined() + ".El\n"
    }
    text += ".Pp\nOptions of every command are in\n.Xr bowser 1 .\n" + exits
    text += ".Sh EXAMPLES\n.Bl -tag -width Ds\n"
    for (words, about) in command.examples {
      text += ".It Li \(escaped(words, inMacro: true))\n\(escaped(about))\n"
    }
    text += ".El\n.Sh SEE ALSO\n.Xr bowser 1\n"
    return text
  }

  private static let exits = """
    .Sh EXIT STATUS
    .Bl -tag -width Ds
    .It 0
    Done, or nothing new.
    .It 64
    An error on the command line.
    .It 65
    The data were refused.
    .It 69
    A feed was not available after retries.
    .It 70
    A bug of this program.
    .It 74
    A file could not be read or written, or the disk of the database server is full.
    .It 75
    Try again: another run is under way, the database is unavailable, the provider asks for a pause, or the
    deadline has passed.
    .It 77
    Not allowed: the provider or the database refused the key.
    .It 78
    An error in the configuration or the schema.
    .El

    """

  private static func head(_ name: String, _ summary: String) -> String {
    """
    .Dd \(Version.releasedOn)
    .Dt \(name.uppercased()) 1
    .Os
    .Sh NAME
    .Nm \(name)
    .Nd \(escaped(summary.hasSuffix(".") ? String(summary.dropLast()) : summary))

    """
  }

  private static func item(_ option: Command.Option) -> String {
    guard !option.about.isEmpty else { return "" }
    let value = option.value.map { " Ar \(escaped($0, inMacro: true))" } ?? ""
    return ".It Fl \\-\(escaped(option.name))\(value)\n\(escaped(option.about))\n"
  }

  /// Puts each sentence on a line of its own, as roff expects.
  private static func paragraphs(_ text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
      paragraph.replacing("\n", with: " ").replacing(/([.!?]) +/) { "\($0.1)\n" }
        .split(separator: "\n").map { escaped($0) + "\n" }.joined()
    }.joined(separator: ".Pp\n")
  }

  /// Text in which roff finds no commands.
  private static func escaped(_ text: some StringProtocol, inMacro: Bool = false) -> String {
    var escaped = String(text).replacing("\\", with: "\\e").replacing("-", with: "\\-")
    if escaped.hasPrefix(".") || escaped.hasPrefix("'") { escaped = "\\&" + escaped }
    guard inMacro else { return escaped }
    // The prefix keeps roff from taking a word for a macro or for punctuation.
    return escaped.split(separator: " ").map { word in
      word.count <= 3 || word.allSatisfy(\.isPunctuation) ? "\\&\(word)" : String(word)
    }.joined(separator: " ")
  }
}
