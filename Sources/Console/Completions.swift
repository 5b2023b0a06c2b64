import Foundation
import Postgres

/// The completion scripts of shells, made from the table of commands.
struct Completions {
  let feeds: [String]
  let archives: [String]

  /// Paths below a share folder, with the text of each file.
  var files: [(path: String, text: String)] {
    [
      ("bash-completion/completions/bowser", bash),
      ("zsh/site-functions/_bowser", zsh),
      ("fish/vendor_completions.d/bowser.fish", fish),
    ]
  }

  /// The fixed words that a command accepts as operands.
  private func operands(_ command: Command) -> [String] {
    switch command.name {
    case "ingest", "gaps": feeds
    case "backfill": archives
    case "export": Migrator.publishedViews
    case "migrate": ["up", "status", "verify"]
    case "config": ["show"]
    case "simulate": ["play", "serve", "record", "archive"]
    default: []
    }
  }

  private func options(_ command: Command) -> [Command.Option] {
    (command.options + Command.common).filter { !$0.about.isEmpty }
  }

  private var bash: String {
    let cases = Bowser.commands.map { command in
      let words = options(command).map { "--\($0.name)" } + operands(command)
      return "    \(command.name)) words='\(words.joined(separator: " "))' ;;\n"
    }.joined()
    let takingFiles = Bowser.commands.flatMap(options).filter {
      ["DIR", "FILE"].contains($0.value)
    }
    let files = Set(takingFiles.map { "--\($0.name)" }).sorted().joined(separator: "|")
    return """
      # bash completion for bowser
      _bowser() {
        local words word=${COMP_WORDS[COMP_CWORD]}
        COMPREPLY=()
        case ${COMP_WORDS[COMP_CWORD-1]} in
          \(files)) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        esac
        if [ "$COMP_CWORD" -eq 1 ]; then
          words='\(Bowser.commands.map(\.name).joined(separator: " ")) help'
        else
          case ${COMP_WORDS[1]} in
      \(cases)    help) words='\(Bowser.commands.map(\.name).joined(separator: " "))' ;;
          *) words='' ;;
          esac
        fi
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        # Any other word may be a file.
        [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- "$word")
      }
      complete -o filenames -F _bowser bowser

      """
  }

  private var zsh: String {
    let commands = Bowser.commands.map { command in
      "    '\(command.name):\(zshEscaped(command.summary))'\n"
    }.joined()
    let cases = Bowser.commands.map { command in
      let specs = options(command).map { option in
        let value =
          option.value.map { ":\($0.lowercased()):\(["DIR", "FILE"].contains($0) ? "_files" : "")" }
          ?? ""
        return
          "        '--\(option.name)[\(zshEscaped(option.about))]\(zshEscaped(value, isSpec: true))' \\\n"
      }.joined()
      let names = operands(command)
      let operand =
        names.isEmpty ? "'*::file:_files'" : "'*::name:(\(names.joined(separator: " ")))'"
      return "      \(command.name)) _arguments \\\n\(specs)        \(operand) ;;\n"
    }.joined()
    return """
      #compdef bowser
      local -a commands
      commands=(
      \(commands))
      if (( CURRENT == 2 )); then
        _describe 'command' commands
      else
        case $words[2] in
      \(cases)  esac
      fi

      """
  }

  private func zshEscaped(_ text: String, isSpec: Bool = false) -> String {
    let text = text.replacing("'", with: "'\\''")
    guard !isSpec else { return text }
    return text.replacing("[", with: "\\[").replacing("]", with: "\\]").replacing(":", with: "\\:")
  }

  private var fish: String {
    func quoted(_ text: String) -> String {
      "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
    }
    var text = "# fish completion for bowser\n"
    for command in Bowser.commands {
      text +=
        "complete -c bowser -n __fish_use_subcommand -f -a \(command.name) "
        + "-d \(quoted(command.summary))\n"
      let seen = "-n '__fish_seen_subcommand_from \(command.name)'"
      for option in options(command) {
        let value =
          switch option.value {
          case nil: ""
          case "DIR", "FILE": " -r"
          default: " -x"
          }
        text += "complete -c bowser \(seen) -l \(option.name)\(value) -d \(quoted(option.about))\n"
      }
      let names = operands(command)
      if !names.isEmpty {
        text += "complete -c bowser \(seen) -f -a \(quoted(names.joined(separator: " ")))\n"
      }
    }
    return text
  }
}
