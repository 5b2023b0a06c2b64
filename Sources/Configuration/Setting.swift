/// The definition of one setting: its key, the values that it accepts, its default, and what the
/// program reads from a value.
package struct Setting<Content>: SettingDefinition, Sendable {
  package let key: String
  let kind: Value.Kind
  let standard: Value?
  /// Returns what the program reads from a value; `nil` where the kind does not accept the value.
  let content: @Sendable (Value) -> Content?
}

extension Setting where Content == String {
  package static func text(_ key: String, _ standard: String? = nil) -> Self {
    Self(key: key, kind: .text, standard: standard.map(Value.text)) { $0.description }
  }

  package static func choice(_ key: String, _ names: [String], _ standard: String? = nil) -> Self {
    Self(key: key, kind: .choice(names), standard: standard.map(Value.text)) { $0.description }
  }
}

extension Setting where Content == Bool {
  package static func boolean(_ key: String, _ standard: Bool? = nil) -> Self {
    Self(key: key, kind: .boolean, standard: standard.map(Value.boolean)) { $0 == .boolean(true) }
  }
}

extension Setting where Content == Int {
  package static func integer(
    _ key: String, _ range: ClosedRange<Int>, _ standard: Int? = nil
  ) -> Self {
    Self(key: key, kind: .integer(range), standard: standard.map { .number(Double($0)) }) {
      $0.double.map { Int($0) }
    }
  }
}

extension Setting where Content == Double {
  /// A share from 0 to 1.
  package static func share(_ key: String, _ standard: Double? = nil) -> Self {
    Self(key: key, kind: .share, standard: standard.map(Value.number)) { $0.double }
  }
}

extension Setting where Content == Double? {
  /// A number, or `null` where there is none.
  package static func decimal(_ key: String, _ range: ClosedRange<Double>) -> Self {
    Self(key: key, kind: .decimal(range), standard: .null) { .some($0.double) }
  }
}

extension Setting where Content == [String: String] {
  /// A table whose values are texts or numbers.
  package static func texts(_ key: String, _ standard: [String: String]? = nil) -> Self {
    Self(key: key, kind: .texts, standard: standard.map { .table($0.mapValues(Value.text)) }) {
      $0.entries?.mapValues(\.description)
    }
  }
}

extension Setting where Content == [String: Int] {
  /// A table whose keys come from a list and whose values are whole numbers.
  package static func integers(_ key: String, keys: [String], _ range: ClosedRange<Int>) -> Self {
    Self(key: key, kind: .integers(keys: keys, range), standard: .table([:])) {
      $0.entries?.compactMapValues { $0.double.map { Int($0) } }
    }
  }
}

extension Value {
  fileprivate var double: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  fileprivate var entries: [String: Value]? {
    if case .table(let entries) = self { entries } else { nil }
  }

  /// The values that a setting accepts.
  enum Kind: Sendable {
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
}

/// What reading a file needs to know of a setting, whatever its content.
protocol SettingDefinition: Sendable {
  var key: String { get }
  var kind: Value.Kind { get }
  /// The default value; `nil` means that the setting must be set.
  var standard: Value? { get }
}

extension SettingDefinition {
  /// Returns the environment variable that sets it: `BOWSER_DEADLINE_SECONDS`.
  func variable(prefix: String) -> String { "\(prefix)_\(variablePart)" }

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

/// The settings of one kind of file: a type whose stored properties are the settings, in the order
/// in which `bowser config show` lists them.
package protocol SettingTable: Sendable {}

extension SettingTable {
  /// Every setting. They are found by reflection, so that no second list can lack one.
  var definitions: [any SettingDefinition] {
    Mirror(reflecting: self).children.compactMap { $0.value as? any SettingDefinition }
  }

  /// Returns the environment variables that set the settings.
  package func variables(prefix: String) -> [String] {
    definitions.map { $0.variable(prefix: prefix) }
  }
}

/// The settings of a table, with the value and the origin of each. `settings.attempts` is what the
/// program reads from the setting `attempts` of the table.
@dynamicMemberLookup
package struct Settings<Table: SettingTable>: Sendable {
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

  private let table: Table
  /// Every setting in the order of its table.
  package private(set) var entries: [(key: String, value: Value, origin: Origin)] = []

  /// Takes the value of each setting from the flags, otherwise from the environment, otherwise from
  /// the file, otherwise from its default.
  ///
  /// - Parameters:
  ///   - place: the name of the file, for messages.
  ///   - variablePrefix: the beginning of the environment variables' names, such as `BOWSER`.
  package init(
    _ table: Table, file entries: [String: Value], place: String, variablePrefix: String,
    environment: [String: String], flags: [String: String] = [:]
  ) throws(ConfigurationError) {
    self.table = table
    let settings = table.definitions
    let keys = settings.map { $0.key }
    for key in entries.keys.sorted() where !keys.contains(key) {
      throw .unknownKey(key, place: place, suggestion: nearest(to: key, in: keys))
    }
    for setting in settings {
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
    file: String, _ table: Table
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

  package subscript<Content>(dynamicMember path: KeyPath<Table, Setting<Content>>) -> Content {
    let setting = table[keyPath: path]
    guard let value = entries.first(where: { $0.key == setting.key })?.value,
      let content = setting.content(value)
    else {
      preconditionFailure("'\(setting.key)' is no property of its table")
    }
    return content
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
