// The bytes of faulty answers: their heads, and changes of the body.

let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

/// The head of an answer with status 200. The connection closes after the body.
func head(_ fields: [String]) -> [UInt8] {
  let lines = ["HTTP/1.1 200 OK", "Connection: close"] + fields
  return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
}

func whole(
  _ body: [UInt8], type: String?, _ fields: [String] = [], announcing length: Int? = nil
) -> Server.Answer {
  let type = type.map { ["Content-Type: \($0)"] } ?? []
  return .raw([head(type + ["Content-Length: \(length ?? body.count)"] + fields) + body])
}

/// Cuts a body at a random position before its last byte that is not blank. Without its trailing
/// blank lines alone, a document would still be complete.
func cut(_ body: [UInt8], _ random: inout Random) -> [UInt8] {
  let last = body.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
  return Array(body[..<random.integer(0...last)])
}

/// Inserts text after the first occurrence of a mark. A body without the mark is unchanged.
func inserting(_ text: String, after mark: String, in body: [UInt8]) -> [UInt8] {
  guard let found = body.firstRange(of: Array(mark.utf8)) else { return body }
  return body[..<found.upperBound] + Array(text.utf8) + body[found.upperBound...]
}

func replacing(_ old: String, by new: String, in body: [UInt8]) -> [UInt8] {
  body.replacing(Array(old.utf8), with: Array(new.utf8))
}

/// UTF-16 in little-endian order, without a byte order mark.
func utf16(_ body: [UInt8]) -> [UInt8] {
  let bytes = body.starts(with: mark) ? body.dropFirst(mark.count) : body[...]
  let text = String(decoding: bytes, as: UTF8.self)
  return text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
}
