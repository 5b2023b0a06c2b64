import Foundation

/// A value of a JSON5 file.
package enum Value: Decodable, Equatable, Sendable, CustomStringConvertible {
  case null
  case boolean(Bool)
  case number(Double)
  case text(String)
  case list([Value])
  case table([String: Value])

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // A type that does not fit is not an error: the next one is tried, and the last one must fit. The
    // most frequent ones come first, because each that does not fit takes time.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .text(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode([String: Value].self) {
      self = .table(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .boolean(value)
    } else {
      self = .list(try container.decode([Value].self))
    }
  }

  package var description: String {
    switch self {
    case .null: "null"
    case .boolean(let value): String(value)
    case .number(let value):
      value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    case .text(let value): value
    case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
    case .table(let entries):
      "{"
        + entries.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        .joined(separator: ", ") + "}"
    }
  }

  /// Reads a JSON5 file whose top level is a table.
  package static func table(file: String) throws(ConfigurationError) -> [String: Value] {
    guard case .table(let entries) = try read(file: file) else {
      throw .unreadable(file: file, reason: "the top of the file is not { ... }")
    }
    return entries
  }

  /// Says why a file cannot be read.
  private static func obstacle(to file: String) -> String {
    let folder = URL(filePath: file).deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) else {
      return "there is no folder \(folder)"
    }
    guard isFolder.boolValue else { return "\(folder) is a file: name the folder that it is in" }
    guard FileManager.default.fileExists(atPath: file) else { return "there is no such file" }
    return FileManager.default.isReadableFile(atPath: file)
      ? "cannot be read" : "cannot be read: permission denied"
  }

  /// Returns the sorted names of the files in a folder of the configuration.
  package static func names(in folder: String) throws(ConfigurationError) -> [String] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    } catch {
      let isThere = FileManager.default.fileExists(atPath: folder)
      throw .unreadable(
        file: folder, reason: isThere ? "the folder cannot be read" : "there is no such folder")
    }
  }

  /// Returns the line of each entry of a file that is a list.
  static func linesOfEntries(file: String) -> [Int] {
    SyntaxFault.linesOfEntries(in: Array(FileManager.default.contents(atPath: file) ?? Data()))
  }

  /// Reads a JSON5 file of at most 1 MB.
  package static func read(file: String) throws(ConfigurationError) -> Value {
    guard let bytes = FileManager.default.contents(atPath: file) else {
      throw .unreadable(file: file, reason: obstacle(to: file))
    }
    guard bytes.count <= 1_000_000 else {
      throw .unreadable(file: file, reason: "larger than 1 MB")
    }
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let value = try? decoder.decode(Value.self, from: bytes)
    let fault = SyntaxFault(in: Array(bytes))
    if let fault, value == nil || fault.isRepeatedKey {
      throw .unreadable(
        file: "\(file):\(fault.line):\(fault.column)", reason: "expected \(fault.expected)")
    }
    guard let value else { throw .unreadable(file: file, reason: "not JSON5") }
    return value
  }
}
