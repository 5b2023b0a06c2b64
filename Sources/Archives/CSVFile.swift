import Glibc

/// Reads a small file of comma-separated values with a header, row by row.
///
/// - Parameters:
///   - path: a file, or `-` for standard input.
///   - body: receives the number of the row, where the header is 1, and the row's fields. It is not
///     called for blank rows, which count all the same.
/// - Throws: `CSVFileError` where the file cannot be read or has another form, and what `body`
///   throws.
package func csvRows(
  _ path: String, _ body: (_ row: Int, _ fields: [String]) throws -> Void
) throws {
  let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else {
    throw CSVFileError.unreadable(path, String(cString: strerror(errno)))
  }
  defer { close(descriptor) }
  var records = CSVRecords(descriptor: descriptor)
  var row = 0
  do {
    _ = try records.read { record in
      row += 1
      if !record.isBlank { try body(row, record.fields.indices.map { record.text($0) }) }
      return true
    }
  } catch let fault as CSVRecords.Fault {
    switch fault {
    case .readFailed(let number):
      throw CSVFileError.unreadable(path, String(cString: strerror(number)))
    case .rowTooLong, .unclosedQuote:
      throw CSVFileError.malformed(path, "row \(row + 1) is not a row of comma-separated values")
    }
  }
}

/// Why a small file of comma-separated values cannot be used.
package enum CSVFileError: Error, Equatable, CustomStringConvertible {
  case unreadable(String, String)
  case malformed(String, String)

  package var description: String {
    switch self {
    case .unreadable(let file, let reason), .malformed(let file, let reason): "\(file): \(reason)"
    }
  }
}
