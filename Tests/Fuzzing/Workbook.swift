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

  /// A workbook with several sheets, in the order of their tabs.
  ///
  /// - Parameters:
  ///   - sheets: the names of the sheets, their rows as XML, and their states.
  ///   - properties: the attributes of `workbookPr`.
  ///   - prefix: the prefix of all elements of the sheets, with its colon.
  ///   - namespace: that of the sheets' elements.
  ///   - targets: how the relations lead to the sheets: `worksheets/` or `/xl/worksheets/`.
  package static func book(
    _ sheets: [(name: String, rows: String, state: String)], properties: String = "",
    prefix: String = "",
    namespace: String = "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    targets: String = "worksheets/", texts: String? = nil
  ) -> [UInt8] {
    let relations =
      namespace.hasPrefix("http://purl")
      ? "http://purl.oclc.org/ooxml/officeDocument/relationships"
      : "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    var tabs = ""
    var related = ""
    var members: [(name: String, bytes: [UInt8])] = []
    for (index, sheet) in sheets.enumerated() {
      // The numbers of the files run against the order of the tabs.
      let file = "sheet\(sheets.count - index).xml"
      tabs += "<sheet name=\"\(sheet.name)\" sheetId=\"\(index + 7)\""
      tabs += sheet.state.isEmpty ? "" : " state=\"\(sheet.state)\""
      tabs += " q:id=\"rId\(index + 1)\"/>"
      related += "<Relationship Id=\"rId\(index + 1)\" Type=\"\(relations)/worksheet\" "
      related += "Target=\"\(targets)\(file)\"/>"
      let declared = prefix.isEmpty ? "xmlns" : "xmlns:\(prefix.dropLast())"
      let data =
        "<?xml version=\"1.0\"?><\(prefix)worksheet \(declared)=\"\(namespace)\"><\(prefix)sheetData>"
        + sheet.rows + "</\(prefix)sheetData></\(prefix)worksheet>"
      members.append(("xl/worksheets/\(file)", Array(data.utf8)))
    }
    if let texts {
      related += "<Relationship Id=\"t\" Type=\"\(relations)/sharedStrings\" Target=\"texts.xml\"/>"
      members.append(("xl/texts.xml", Array(texts.utf8)))
    }
    let book =
      "<workbook xmlns=\"\(namespace)\" xmlns:q=\"\(relations)\"><workbookPr \(properties)/>"
      + "<sheets>\(tabs)</sheets></workbook>"
    members.append(("xl/workbook.xml", Array(book.utf8)))
    let list =
      "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
      + related + "</Relationships>"
    members.append(("xl/_rels/workbook.xml.rels", Array(list.utf8)))
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
