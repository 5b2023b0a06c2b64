/// A limit on input from outside. Each limit is checked before any work is done on the input that
/// it limits. docs/security.md prints this table.
package struct InputLimit: Sendable {
  package let name: String
  package let value: Int
  /// What happens to input beyond the limit.
  package let more: String

  private init(_ name: String, _ value: Int, _ more: String) {
    self.name = name
    self.value = value
    self.more = more
  }

  // MARK: Texts

  /// Scalars beyond this number are not read at all.
  package static let scalarsRead = InputLimit("scalars of a text that are read", 2_000, "cut")
  package static let scalars = InputLimit("scalars of a name or an address", 200, "cut")
  package static let marks = InputLimit("marks on a letter", 4, "left out")
  package static let codeBytes = InputLimit(
    "bytes of a station's code", 1_000, "the record is refused")
  package static let fuelCodeBytes = InputLimit(
    "bytes of a fuel's code", 40, "the record is refused")
  package static let fuelCodes = InputLimit(
    "fuel codes of a feed that nobody has mapped", 100, "the record is refused")
  package static let stations = InputLimit(
    "stations of a feed, or four times as many as an answer names", 20_000, "the record is refused")
  package static let details = InputLimit(
    "details of a station", 20, "the document is refused")
  package static let rejectsKept = InputLimit(
    "refused records kept of a feed", 100_000, "counted, not kept")
  package static let rejectBytes = InputLimit("bytes kept of a refused record", 2_000, "cut")

  // MARK: JSON

  package static let depth = InputLimit(
    "nested objects and lists", 64, "the document is refused")
  package static let keys = InputLimit("keys of an object", 1_000, "the document is refused")
  package static let keyBytes = InputLimit("bytes of a key", 256, "the document is refused")
  package static let textBytes = InputLimit(
    "bytes of a text in a document", 2_097_152, "the document is refused")
  package static let numberBytes = InputLimit("bytes of a number", 64, "the document is refused")
  package static let values = InputLimit(
    "values of a document", 10_000_000, "the document is refused")

  package static let tokenBytes = InputLimit(
    "bytes of an answer with a token", 65_536, "the key is refused")
  package static let documents = InputLimit(
    "answers of a run that a list asks for", 500, "the list is refused")
  package static let runBytes = InputLimit(
    "bytes of all answers of a run", 67_108_864, "the run is refused")

  // MARK: XML

  package static let tagBytes = InputLimit(
    "bytes of a tag with its attributes", 8_192, "the document is refused")
  package static let elements = InputLimit(
    "elements of a feed", 2_000_000, "the document is refused")
  package static let prologBytes = InputLimit(
    "bytes before the first element", 65_536, "the document is refused")

  // MARK: Archives

  package static let workbookRows = InputLimit(
    "rows of a workbook's sheet, empty ones too", 500_000, "the file is refused")
  package static let workbookSheets = InputLimit(
    "visible sheets of a workbook", 400, "the file is refused")
  package static let workbookParts = InputLimit(
    "elements that describe the parts of a workbook", 20_000, "the file is refused")
  package static let cells = InputLimit("cells of a workbook's row", 64, "left out")
  package static let cellBytes = InputLimit("bytes of a workbook's cell", 4_096, "cut")
  package static let sharedTexts = InputLimit(
    "texts that a workbook's cells share", 1_000_000, "the file is refused")
  package static let sharedBytes = InputLimit(
    "bytes of all these texts", 67_108_864, "the file is refused")
  package static let rejectedRows = InputLimit(
    "rows of a file that are refused", 200_000, "the file is refused")
  package static let rejectedBytes = InputLimit(
    "bytes of a file's refused rows", 33_554_432, "the file is refused")
  package static let blankRows = InputLimit(
    "blank rows of a file", 1_000_000, "the file is refused")
  package static let descriptions = InputLimit(
    "descriptions of stations of an archive", 250_000, "the file is refused")
  package static let descriptionMonths = InputLimit(
    "descriptions times months of a file", 10_000_000, "the file is refused")
  package static let months = InputLimit("months of a file", 600, "the file is refused")

  package static let all: [InputLimit] = [
    scalarsRead, scalars, marks, codeBytes, fuelCodeBytes, fuelCodes, stations, details,
    rejectsKept, rejectBytes,
    depth, keys, keyBytes, textBytes, numberBytes, values, tokenBytes, documents, runBytes,
    tagBytes, elements, prologBytes,
    workbookRows, workbookSheets, workbookParts, cells, cellBytes, sharedTexts, sharedBytes,
    rejectedRows, rejectedBytes,
    blankRows,
    descriptions, descriptionMonths, months,
  ]
}
