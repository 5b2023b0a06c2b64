/// The definition of one setting: its key, its default, the values that it accepts, and what the
/// program reads from a value.
package struct Setting<Content>: SettingDefinition, Sendable {
  package let key: String
  let expected: String
  let standard: Value?
  /// Returns the value that the text of an environment variable or flag states, accepted or not;
  /// `nil` where it states none.
  let stated: @Sendable (String) -> Value?
  /// Returns what the program reads from a value; `nil` where the setting does not accept it.
  let content: @Sendable (Value) -> Content?
  /// The keys that the table of the setting may have; `nil` where any key may be in it.
  var keys: [String]?

  func accepts(_ value: Value) -> Bool { content(value) != nil }

  func value(of text: String) -> Value? { stated(text).flatMap { accepts($0) ? $0 : nil } }
}

extension Setting where Content == String {
  /// A text on one line.
  package static func text(_ key: String, _ standard: String? = nil) -> Self {
    Self(
      key: key, expected: "a text without control characters",
      standard: standard.map { .text($0) }, stated: { .text($0) },
      content: { value in
        // In what is sent to a provider a line break would begin a further line.
        value.string.flatMap { text in
          text.unicodeScalars.contains { $0.properties.generalCategory == .control } ? nil : text
        }
      })
  }

  /// One of some names.
  package static func choice(_ key: String, _ names: [String], _ standard: String? = nil) -> Self {
    Self(
      key: key,
      expected: "one of \(names.filter { !$0.isEmpty }.joined(separator: ", "))"
        + (names.contains("") ? ", or empty" : ""),
      standard: standard.map { .text($0) }, stated: { .text($0) },
      content: { value in value.string.flatMap { names.contains($0) ? $0 : nil } })
  }
}

extension Setting where Content == Bool {
  /// `true` or `false`.
  package static func boolean(_ key: String, _ standard: Bool? = nil) -> Self {
    Self(
      key: key, expected: "true or false", standard: standard.map { .boolean($0) },
      stated: { text in
        ["true": true, "false": false, "1": true, "0": false][text].map { .boolean($0) }
      },
      content: { $0 == .boolean(true) ? true : $0 == .boolean(false) ? false : nil })
  }
}

extension Setting where Content == Int {
  /// A whole number within a range.
  package static func integer(
    _ key: String, _ range: ClosedRange<Int>, _ standard: Int? = nil
  ) -> Self {
    Self(
      key: key, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      standard: standard.map { .number(Double($0)) },
      stated: { text in Int(text).map { .number(Double($0)) } },
      content: { $0.integer(in: range) })
  }
}

extension Setting where Content == Double {
  /// A share from 0 to 1.
  package static func share(_ key: String, _ standard: Double? = nil) -> Self {
    Self(
      key: key, expected: "a number from 0 to 1", standard: standard.map { .number($0) },
      stated: { text in Double(text).map { .number($0) } },
      content: { $0.number(in: 0...1) })
  }
}

extension Setting where Content == Double? {
  /// A number, or `null` where there is none.
  package static func decimal(_ key: String, _ range: ClosedRange<Double>) -> Self {
    Self(
      key: key, expected: "a number from \(range.lowerBound) to \(range.upperBound)",
      standard: .null, stated: { text in Double(text).map { .number($0) } },
      content: { value in
        if value == .null { return .some(nil) }
        return value.number(in: range).map { Optional($0) }
      })
  }
}

extension Setting where Content == [String: String] {
  /// A table whose values are texts or numbers.
  package static func texts(_ key: String, _ standard: [String: String]? = nil) -> Self {
    Self(
      key: key, expected: "a table of texts",
      standard: standard.map { .table($0.mapValues { .text($0) }) }, stated: { _ in nil },
      content: { value in
        value.entries { entry -> String? in
          switch entry {
          case .text, .number: entry.description
          case .null, .boolean, .list, .table: nil
          }
        }
      })
  }
}

extension Setting where Content == [String: Int] {
  /// A table whose keys come from a list and whose values are whole numbers.
  package static func integers(_ key: String, keys: [String], _ range: ClosedRange<Int>) -> Self {
    Self(
      key: key,
      expected: "a table of whole numbers from \(range.lowerBound) to \(range.upperBound) by "
        + keys.joined(separator: ", "),
      standard: .table([:]), stated: { _ in nil },
      content: { value in
        let content = value.entries { $0.integer(in: range) }
        return content?.keys.allSatisfy { keys.contains($0) } == true ? content : nil
      }, keys: keys)
  }
}

extension Value {
  fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }

  fileprivate func number(in range: ClosedRange<Double>) -> Double? {
    guard case .number(let number) = self, range.contains(number) else { return nil }
    return number
  }

  fileprivate func integer(in range: ClosedRange<Int>) -> Int? {
    guard case .number(let number) = self, number == number.rounded(), abs(number) < 1e15,
      range.contains(Int(number))
    else { return nil }
    return Int(number)
  }

  /// Returns what is read from the entries of a table; `nil` where this is no table, or where one
  /// of its entries is not accepted.
  fileprivate func entries<Content>(_ content: (Value) -> Content?) -> [String: Content]? {
    guard case .table(let entries) = self else { return nil }
    let read = entries.compactMapValues(content)
    return read.count == entries.count ? read : nil
  }
}

/// What reading a file needs to know of a setting, whatever its content.
protocol SettingDefinition: Sendable {
  var key: String { get }
  /// The values that it accepts, in words.
  var expected: String { get }
  /// The default value; `nil` means that the setting must be set.
  var standard: Value? { get }
  /// The keys that its table may have; `nil` where any key may be in it.
  var keys: [String]? { get }
  func accepts(_ value: Value) -> Bool
  /// Reads the text of an environment variable or flag; `nil` where it is no value that the setting
  /// accepts.
  func value(of text: String) -> Value?
}

extension SettingDefinition {
  /// Returns the environment variable that sets it: `BOWSER_DEADLINE_SECONDS`.
  func variable(prefix: String) -> String {
    var name = prefix + "_"
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
  /// Where the value of a setting comes from. A later case overrides an earlier one.
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
  /// The file that the settings were read from, and which of its entries, for messages.
  package let file: String
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
    file = place
    let settings = table.definitions
    let keys = settings.map { $0.key }
    for key in entries.keys.sorted() where !keys.contains(key) {
      throw .unknownKey(key, place: place, suggestion: nearest(to: key, in: keys), known: keys)
    }
    for setting in settings {
      let variable = setting.variable(prefix: variablePrefix)
      let found: (Value, Origin)
      if let text = flags[setting.key] {
        guard let value = setting.value(of: text) else {
          throw .wrongValue(
            key: setting.key, place: "the command line", expected: setting.expected)
        }
        found = (value, .flag(setting.key))
      } else if let text = environment[variable], !text.isEmpty {
        guard let value = setting.value(of: text) else {
          throw .wrongValue(key: variable, place: "environment", expected: setting.expected)
        }
        found = (value, .environment(variable))
      } else if let value = entries[setting.key] {
        if case .table(let inner) = value, let keys = setting.keys,
          let key = inner.keys.sorted().first(where: { !keys.contains($0) })
        {
          throw .unknownKey(
            key, place: "\(place), '\(setting.key)'", suggestion: nearest(to: key, in: keys),
            known: keys)
        }
        guard setting.accepts(value) else {
          throw .wrongValue(key: setting.key, place: place, expected: setting.expected)
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
    let name = String(file.split(separator: "/").last ?? "")
    let lines = Value.linesOfEntries(file: file)
    var read: [Settings] = []
    for (index, entry) in entries.enumerated() {
      let line = index < lines.count ? ":\(lines[index])" : ""
      guard case .table(let fields) = entry else {
        throw .unreadable(file: file + line, reason: "entry \(index + 1) is not { ... }")
      }
      read.append(
        try Settings(
          table, file: fields, place: "\(name)\(line), entry \(index + 1)", variablePrefix: "",
          environment: [:]))
    }
    return read
  }

  /// Returns what states a setting, for messages: a variable, or the key and its file.
  package func origin(of key: String) -> String {
    if case .environment(let variable) = entries.first(where: { $0.key == key })?.origin {
      return variable
    }
    return "'\(key)' in \(file)"
  }

  /// Returns the error for a setting whose value is no good for a reason that its definition does
  /// not know. It names the file or the environment variable that the value comes from.
  package func wrong(_ key: String, expected: String) -> ConfigurationError {
    if case .environment(let variable) = entries.first(where: { $0.key == key })?.origin {
      return .wrongValue(key: variable, place: "environment", expected: expected)
    }
    return .wrongValue(key: key, place: file, expected: expected)
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

extension Value {
  /// Returns the text of the key that names what a file describes. It is read before the settings,
  /// because the environment variables that set them contain the name.
  package static func name(
    of key: String, in entries: [String: Value], place: String
  ) throws(ConfigurationError) -> String {
    guard let value = entries[key] else {
      guard let slip = nearest(to: key, in: entries.keys.sorted()) else {
        throw .missingKey(key, place: place)
      }
      throw .unknownKey(slip, place: place, suggestion: key, known: [key])
    }
    guard case .text(let text) = value else {
      throw .wrongValue(key: key, place: place, expected: "a text")
    }
    return text
  }
}

/// Returns the name that differs least from a misspelt one; `nil` where none is similar enough.
package func nearest(to name: String, in names: [String]) -> String? {
  // The dashes of an option say nothing about its name.
  func letters(_ name: String) -> [Character] {
    Array(name.lowercased().drop { $0 == "-" }.prefix(64))
  }
  let wanted = letters(name)
  let scored = names.map { ($0, misspellings(wanted, letters($0))) }
  // In a short word one slip is a large part of it, so that `sa` is not a slip for `wa`.
  let most = wanted.count < 3 ? 0 : wanted.count < 5 ? 1 : max(2, wanted.count / 3)
  guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= most else { return nil }
  return best.0
}

/// Returns how many letters have to be changed, added, removed or exchanged with the next one to turn
/// one text into the other.
package func misspellings(_ left: [Character], _ right: [Character]) -> Int {
  var rows = [Array(0...right.count)]
  for i in left.indices {
    var row = [i + 1]
    for j in right.indices {
      let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
      var least = min(replaced, row[j] + 1, rows[i][j + 1] + 1)
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        least = min(least, rows[i - 1][j - 1] + 1)
      }
      row.append(least)
    }
    rows.append(row)
  }
  return rows[left.count][right.count]
}
