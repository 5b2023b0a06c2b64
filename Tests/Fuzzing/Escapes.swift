import Foundation
import FuelModel
import Logging
import Report
import Synchronization

/// Reads what was escaped as whoever gets it reads it: byte by byte, by the syntax of the target and not by ours.
func checkEscapes(_ text: String) {
  let bytes = Array(text.utf8)
  precondition(unescaped(Array(text.asPrometheusLabel.utf8), quote: 0x22) == bytes, "a label")

  let literal = Array(text.asJSON5Literal.utf8)
  precondition(literal.first == 0x27 && literal.last == 0x27 && literal.count > 1, "no literal")
  precondition(unescaped(Array(literal.dropFirst().dropLast()), quote: 0x27) == bytes, "JSON5")

  // Without U+FEFF, which the platform's reader drops behind any escape, as a mark of byte order.
  let unmarked = text.escaping { $0 == "\u{FEFF}" ? "" : nil }
  let json = unmarked.asJSONLiteral
  precondition(!json.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control sign in JSON")
  let list = try? JSONSerialization.jsonObject(with: Data("[\(json)]".utf8)) as? [String]
  precondition(list.map { $0.map { Array($0.utf8) } } == [Array(unmarked.utf8)], "JSON")

  precondition(field(Array(text.asCSVField.utf8)) == bytes, "a field")

  for scalar in text.asTerminalLine.unicodeScalars {
    precondition(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value), "a control sign")
    precondition(!(0x2028...0x202E).contains(scalar.value), "another line or direction")
  }

  let page: HTML = "<p title=\"\(text)\">"
  let inside = Array(page.text.utf8.dropFirst(#"<p title=""#.utf8.count).dropLast(2))
  let shown = text.unicodeScalars.map { isShown($0) ? $0 : "\u{FFFD}" }
  precondition(attribute(inside) == Array(String(String.UnicodeScalarView(shown)).utf8), "HTML")

  let lines = Mutex<[String]>([])
  Logger(.debug, write: { line in lines.withLock { $0.append(line) } }).info("x", ["name": text])
  checkLine(lines.withLock { $0 }[0], text)
}

/// Takes backslashes off. A quote or a line break without one would end the value.
private func unescaped(_ escaped: [UInt8], quote: UInt8) -> [UInt8]? {
  var read: [UInt8] = []
  var index = 0
  while index < escaped.count {
    switch escaped[index] {
    case 0x5C:
      index += 1
      guard index < escaped.count else { return nil }
      read.append([0x6E: 0x0A, 0x72: 0x0D][escaped[index]] ?? escaped[index])
    case quote, 0x0A: return nil
    case let byte: read.append(byte)
    }
    index += 1
  }
  return read
}

/// A field of RFC 4180.
private func field(_ written: [UInt8]) -> [UInt8]? {
  guard written.first == 0x22 else {
    return written.contains { [0x2C, 0x22, 0x0A, 0x0D].contains($0) } ? nil : written
  }
  guard written.count > 1, written.last == 0x22 else { return nil }
  var read: [UInt8] = []
  var index = 1
  while index < written.count - 1 {
    if written[index] == 0x22 {
      index += 1
      guard index < written.count - 1, written[index] == 0x22 else { return nil }
    }
    read.append(written[index])
    index += 1
  }
  return read
}

/// The value of an attribute in double quotes.
private func attribute(_ written: [UInt8]) -> [UInt8]? {
  let entities: [String: UInt8] = [
    "amp": 0x26, "lt": 0x3C, "gt": 0x3E, "quot": 0x22, "#39": 0x27,
  ]
  var read: [UInt8] = []
  var index = 0
  while index < written.count {
    switch written[index] {
    case 0x22, 0x27, 0x3C, 0x3E: return nil
    case 0x26:
      let name = written[(index + 1)...].prefix { $0 != 0x3B }
      guard let byte = entities[String(decoding: name, as: UTF8.self)] else { return nil }
      read.append(byte)
      index += name.count + 1
    case let byte: read.append(byte)
    }
    index += 1
  }
  return read
}

private func isShown(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0...0x8, 0xB, 0xC, 0xE...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069:
    false
  default: true
  }
}

/// A line of the log with one field: one line, the value whole.
private func checkLine(_ line: String, _ text: String) {
  precondition(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control sign in a line")
  guard let start = line.utf8.firstRange(of: " msg=x name=".utf8) else { fatalError("no field") }
  let value = Array(line.utf8[start.upperBound...])
  let whole = Array(String(String.UnicodeScalarView(text.unicodeScalars.prefix(1_000))).utf8)
  guard value.first == 0x22 else {
    precondition(value == whole && !value.contains { [0x20, 0x22, 0x3D].contains($0) }, "a value")
    return
  }
  var ends = 0
  var index = 1
  while index < value.count {
    if value[index] == 0x5C {
      index += 1
    } else if value[index] == 0x22 {
      ends += 1
      precondition(index == value.count - 1, "a quote inside")
    }
    index += 1
  }
  precondition(ends == 1, "a value without an end")
}
