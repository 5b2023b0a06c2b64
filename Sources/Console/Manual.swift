/// The manual: the help of the program and of each command, as pages for man(1).
enum Manual {
  /// Paths below a share folder, with the text of each file in mdoc(7).
  static var pages: [(path: String, text: String)] {
    let summary = "Australian retail fuel prices in PostgreSQL."
    return [("man/man1/bowser.1", page("bowser", summary, Bowser.overview + exits))]
      + Bowser.commands.map { command in
        let name = "bowser-\(command.name)"
        return ("man/man1/\(name).1", page(name, command.summary, command.help))
      }
  }

  private static let exits = """

    Exit codes: 0 done, or nothing new; 64 an error on the command line; 65 the data were refused; 69 a
    feed was not available after retries; 70 a bug of this program; 74 a file could not be read or
    written, or the disk of the database server is full; 75 try again: another run is under way, the
    database is unavailable, the provider asks for a pause, or the deadline has passed; 77 the provider
    or the database refused the key; 78 an error in the configuration or the schema.

    """

  private static func page(_ name: String, _ summary: String, _ help: String) -> String {
    """
    .Dd \(Version.releasedOn)
    .Dt \(name.uppercased()) 1
    .Os
    .Sh NAME
    .Nm \(name)
    .Nd \(escaped(summary.dropLast()))
    .Sh DESCRIPTION
    .Bd -literal
    \(help.split(separator: "\n", omittingEmptySubsequences: false).map(escaped).joined(separator: "\n"))
    .Ed

    """
  }

  /// A line in which roff finds no commands.
  private static func escaped(_ line: Substring) -> String {
    let escaped = line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : String(escaped)
  }
}
