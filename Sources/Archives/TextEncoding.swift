/// Decides how the letters of a text file are encoded that are not ASCII.
///
/// A file is in UTF-8. One that is not is read as Windows-1252, in which Excel for Windows saves
/// CSV, if each of its bytes is a letter of Western Europe or a typographic mark there. Either
/// holds for the whole file: a file with both is refused, because some of its letters would come
/// out wrong.
struct TextEncoding {
  private enum Found { case nothing, utf8, windows1252 }
  private var found = Found.nothing

  /// Why a row cannot be decoded.
  struct Fault: Error {
    let words: String
  }

  var isWindows1252: Bool { found == .windows1252 }

  /// Takes a row that contains letters other than ASCII.
  ///
  /// - Returns: the bytes of the row's fields in UTF-8, one after the other; `nil` where the row
  ///   is in UTF-8 already.
  mutating func decoded(_ record: ArchiveRecord) throws(Fault) -> DecodedRow? {
    let isUTF8 = record.fields.indices.allSatisfy {
      String(validating: record[$0], as: UTF8.self) != nil
    }
    switch (found, isUTF8) {
    case (.windows1252, true), (.utf8, false):
      throw Fault(
        words: "some rows are in UTF-8 and others are not, such as \(record.raw.prefix(120)); "
          + "save the file again as UTF-8")
    case (_, true):
      found = .utf8
      return nil
    case (_, false):
      found = .windows1252
      return try DecodedRow(windows1252: record)
    }
  }
}

extension TextEncoding {
  /// Whether another program has damaged a text: it has U+FFFD in the place of a letter, or it is
  /// UTF-8 that was read as Windows-1252, such as `CafÃ©`, `Oâ€™Brien` and `Cafï¿½`.
  static func isDamaged(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    return scalars.contains("\u{FFFD}")
      || zip(scalars, scalars.dropFirst()).contains { first, second in
        "ÂÃâï".unicodeScalars.contains(first) && !second.isASCII
      }
  }
}

extension DecodedRow {
  init(windows1252 record: ArchiveRecord) throws(TextEncoding.Fault) {
    for index in record.fields.indices {
      var text: [UInt8] = []
      let field = record[index]
      for (position, byte) in field.enumerated() {
        let isWithinWord =
          byte != 0x92 && Self.marks[byte] != nil && position > 0 && position + 1 < field.count
          && Self.isLetter(field[position - 1]) && Self.isLetter(field[position + 1])
        guard !isWithinWord, let scalar = Self.scalar(windows1252: byte) else {
          throw TextEncoding.Fault(
            words: "neither in UTF-8 nor in Windows-1252 (byte \(String(byte, radix: 16))), such "
              + "as \(record.raw.prefix(120)); save the file again as UTF-8")
        }
        text += Array(String(scalar).utf8)
      }
      append(text, as: record.fields[index])
    }
  }

  /// Windows-1252 has letters from 80 to 9F too, and signs from A0 to BF, that no station of
  /// Australia needs. Files of other encodings have them in the middle of words (MacRoman writes é
  /// as 8E, Latin-2 writes ł as B3), so they are refused, as is any mark but an apostrophe between two
  /// letters.
  private static func scalar(windows1252 byte: UInt8) -> Unicode.Scalar? {
    byte < 0x80 || byte >= 0xC0 ? Unicode.Scalar(byte) : marks[byte]
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte | 0x20) || byte >= 0xC0
  }

  private static let marks: [UInt8: Unicode.Scalar] = [
    0x80: "€", 0x85: "…", 0x91: "‘", 0x92: "’", 0x93: "“", 0x94: "”", 0x95: "•", 0x96: "–",
    0x97: "—", 0x99: "™", 0xA0: "\u{A0}", 0xA9: "©", 0xAB: "«", 0xAE: "®", 0xB0: "°", 0xB4: "´",
    0xB7: "·", 0xBB: "»", 0xBD: "½",
  ]
}
