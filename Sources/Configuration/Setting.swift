/// The definition of one setting: its key, the values that it accepts, and its default.
package struct Setting: Sendable {
  package enum Kind: Sendable {
    case text
    case choice([String])
    case boolean
    case integer(ClosedRange<Int>)
    /// A share from 0 to 1.
    case share
    /// A number, or `null` where there is none.
    case decimal(ClosedRange<Double>)
    /// A table whose values are texts or numbers.
    case texts
    /// A table whose keys come from a list and whose values are whole numbers.
    case integers(keys: [String], ClosedRange<Int>)

    var expected: String {
      switch self {
      case .text: "a text"
      case .choice(let names): "one of \(names.joined(separator: ", "))"
      case .boolean: "true or false"
      case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
      case .share: "a number from 0 to 1"
      case .decimal(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
      case .texts: "a table of texts"
      case .integers(let keys, let range):
        "a table of whole numbers from \(range.lowerBound) to \(range.upperBound) by "
          + keys.joined(separator: ", ")
      }
    }

    func accepts(_ value: Value) -> Bool {
      switch (self, value) {
      case (.text, .text), (.boolean, .boolean): true
      case (.choice(let names), .text(let name)): names.contains(name)
      case (.integer(let range), .number(let number)):
        number == number.rounded() && abs(number) < 1e15 && range.contains(Int(number))
      case (.share, .number(let number)): (0...1).contains(number)
      case (.decimal(let range), .number(let number)): range.contains(number)
      case (.decimal, .null): true
      case (.integers(let keys, let range), .table(let entries)):
        entries.allSatisfy { key, value in
          keys.contains(key) && Kind.integer(range).accepts(value)
        }
      case (.texts, .table(let entries)):
        entries.values.allSatisfy { entry in
          switch entry {
          case .text, .number: true
          case .null, .boolean, .list, .table: false
          }
        }
      default: false
      }
    }

    /// Reads the text of an environment variable or flag; `nil` where it is not a value of this
    /// kind.
    func value(of text: String) -> Value? {
      let value: Value? =
        switch self {
        case .text, .choice: .text(text)
        case .boolean:
          ["true": true, "false": false, "1": true, "0": false][text].map(Value.boolean)
        case .integer: Int(text).map { .number(Double($0)) }
        case .share, .decimal: Double(text).map(Value.number)
        case .texts, .integers: nil
        }
      return value.flatMap { accepts($0) ? $0 : nil }
    }
  }

  package let key: String
  package let kind: Kind
  /// The default value; `nil` means that the setting must be set.
  package let standard: Value?

  package init(_ key: String, _ kind: Kind, _ standard: Value? = nil) {
    self.key = key
    self.kind = kind
    self.standard = standard
  }

  /// Returns the environment variable that sets it: `BOWSER_DEADLINE_SECONDS`.
  package func variable(prefix: String) -> String { "\(prefix)_\(variablePart)" }

  /// The key as part of a variable's name: `DEADLINE_SECONDS` for `deadlineSeconds`.
  private var variablePart: String {
    var name = ""
    for character in key {
      if character.isUppercase { name += "_" }
      name += character.uppercased()
    }
    return name
  }
}

/// A group of settings, with the value and the origin of each.
package struct Settings: Sendable {
  package enum Origin: Equatable, Sendable, CustomStringConvertible {
    case standard
    case file(String)
    case environment(String)
    case flag(String)

    package var description: String {
      switch self {
      case .standard: "default"
      case .file(let name): name
      case .environment(let name): "environment \(name)"
      case .flag(let name): "flag \(name)"
      }
    }
  }

  /// Every setting in the order of its table.
  package private(set) var entries: [(key: String, value: Value, origin: Origin)] = []

  /// Takes the value of each setting from the flags, otherwise from the environment, otherwise from
  /// the file, otherwise from its default.
  ///
  /// - Parameters:
  ///   - place: the name of the file, for messages.
  ///   - variablePrefix: the beginning of the environment variables' names, such as `BOWSER`.
  package init(
    _ table: [Setting], file entries: [String: Value], place: String, variablePrefix: String,
    environment: [String: String], flags: [String: String] = [:]
  ) throws(ConfigurationError) {
    for key in entries.keys.sorted() where !table.contains(where: { $0.key == key }) {
      throw .unknownKey(key, place: place, suggestion: nearest(to: key, in: table.map(\.key)))
    }
    for setting in table {
      let variable = setting.variable(prefix: variablePrefix)
      let found: (Value, Origin)
      if let text = flags[setting.key] {
        guard let value = setting.kind.value(of: text) else {
          throw .wrongValue(
            key: setting.key, place: "the command line", expected: setting.kind.expected)
        }
        found = (value, .flag(setting.key))
      } else if let text = environment[variable], !text.isEmpty {
        guard let value = setting.kind.value(of: text) else {
          throw .wrongValue(key: variable, place: "environment", expected: setting.kind.expected)
        }
        found = (value, .environment(variable))
      } else if let value = entries[setting.key] {
        guard setting.kind.accepts(value) else {
          throw .wrongValue(key: setting.key, place: place, expected: setting.kind.expected)
        }
        found = (value, .file(place))
      } else if let value = setting.standard {
        found = (value, .standard)
      } else {
        throw .missingKey(setting.key, place: place)
      }
      self.entries.append((setting.key, found.0, found.1))
    }
  }

  /// Reads a configuration file that is a list of tables with the same settings.
  package static func list(
    file: String, _ table: [Setting]
  ) throws(ConfigurationError) -> [Settings] {
    guard case .list(let entries) = try Value.read(file: file) else {
      throw .unreadable(file: file, reason: "the top of the file is not [ ... ]")
    }
    let place = String(file.split(separator: "/").last ?? "")
    return try entries.map { entry throws(ConfigurationError) in
      guard case .table(let fields) = entry else {
        throw .unreadable(file: file, reason: "an entry is not { ... }")
      }
      return try Settings(table, file: fields, place: place, variablePrefix: "", environment: [:])
    }
  }

  private subscript(key: String) -> Value {
    guard let entry = entries.first(where: { $0.key == key }) else {
      preconditionFailure("no setting '\(key)'")
    }
    return entry.value
  }

  package func text(_ key: String) -> String { self[key].description }

  package func integer(_ key: String) -> Int { Int(share(key)) }

  package func share(_ key: String) -> Double {
    guard case .number(let number) = self[key] else { preconditionFailure("'\(key)' is no number") }
    return number
  }

  package func boolean(_ key: String) -> Bool { self[key] == .boolean(true) }

  package func decimal(_ key: String) -> Double? {
    guard case .number(let number) = self[key] else { return nil }
    return number
  }

  package func integers(_ key: String) -> [String: Int] {
    guard case .table(let entries) = self[key] else { return [:] }
    return entries.compactMapValues { value in
      guard case .number(let number) = value else { return nil }
      return Int(number)
    }
  }

  package func texts(_ key: String) -> [String: String] {
    guard case .table(let entries) = self[key] else { return [:] }
    return entries.mapValues(\.description)
  }
}

/// Returns the name that equals a word or begins with it, whatever the case; `nil` where no name or
/// more than one begins with it.
package func named(_ word: String, in names: [String]) -> String? {
  let word = word.lowercased()
  if let whole = names.first(where: { $0.lowercased() == word }) { return whole }
  let meant = names.filter { $0.lowercased().hasPrefix(word) }
  return word.isEmpty || meant.count > 1 ? nil : meant.first
}

/// Returns the name that differs least from a misspelt one; `nil` where none is similar enough.
package func nearest(to name: String, in names: [String]) -> String? {
  func distance(_ left: [Character], _ right: [Character]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let replaced = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[right.count]
  }
  let wanted = Array(name.lowercased().prefix(64))
  let scored = names.map { ($0, distance(wanted, Array($0.lowercased()))) }
  guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(2, wanted.count / 3) else {
    return nil
  }
  return best.0
}
