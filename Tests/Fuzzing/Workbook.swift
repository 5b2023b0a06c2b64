/// Workbooks and zip files of any content.
package enum Workbook {
  /// A workbook as Excel's own zip files are, with nothing packed.
  package static func file(prolog: String = "", rows: String, texts: String? = nil) -> [UInt8] {
    let sheet =
      "<?xml version=\"1.0\"?>\(prolog)<worksheet><sheetData>\(rows)</sheetData></worksheet>"
    var members = [("xl/worksheets/sheet1.xml", Array(sheet.utf8))]
    if let texts { members.append(("xl/sharedStrings.xml", Array(texts.utf8))) }
    return zip(members)
  }

  /// A zip file with nothing packed.
  package static func zip(_ members: [(name: String, bytes: [UInt8])]) -> [UInt8] {
    func number(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }
    var (file, directory): ([UInt8], [UInt8]) = ([], [])
    for (name, bytes) in members {
      let about =
        number(UInt16(20)) + number(UInt32(0)) + number(UInt32(0)) + number(crc32(bytes))
        + number(UInt32(bytes.count)) + number(UInt32(bytes.count))
        + number(UInt16(name.utf8.count)) + number(UInt16(0))
      directory += [0x50, 0x4B, 1, 2] + number(UInt16(20)) + about + number(UInt16(0))
      directory +=
        number(UInt32(0)) + number(UInt32(0)) + number(UInt32(file.count)) + Array(name.utf8)
      file += [0x50, 0x4B, 3, 4] + about + Array(name.utf8) + bytes
    }
    let end =
      number(UInt32(0)) + number(UInt16(members.count)) + number(UInt16(members.count))
      + number(UInt32(directory.count)) + number(UInt32(file.count)) + number(UInt16(0))
    return file + directory + [0x50, 0x4B, 5, 6] + end
  }

  private static let crcTable: [UInt32] = (0..<256).map { number in
    (0..<8).reduce(UInt32(number)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }

  private static func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~UInt32(0)) { crcTable[Int(($0 ^ UInt32($1)) & 0xFF)] ^ $0 >> 8 }
  }
}
