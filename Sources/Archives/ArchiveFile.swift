package import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A file of an archive on disk. Its form follows from its content, because the names and formats
/// on the portals are often wrong.
package struct ArchiveFile: Sendable {
  package enum Form: Sendable, Equatable {
    case csv
    case gzip
    /// The paths of the first sheet and of the shared texts within the workbook.
    case workbook(sheet: String, texts: String?)
    case zip(members: [String])
  }

  package let path: String

  package init(_ path: String) {
    // The tools that unpack the file would take a name that begins with a dash for an option.
    self.path = path.hasPrefix("-") ? "./" + path : path
  }

  package var name: String { URL(filePath: path).lastPathComponent }

  // A file with more bytes is a decompression bomb, not a month of prices: the largest real one has
  // 60 MB.
  package static let mostBytes = 4 << 30

  package func form() throws -> Form {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ArchiveRefusal(file: name, "cannot be read")
    }
    let head = [UInt8](try handle.read(upToCount: 4) ?? Data())
    try handle.close()
    if head.starts(with: [0x1F, 0x8B]) { return .gzip }
    guard head.starts(with: [0x50, 0x4B]) else {
      if head.starts(with: [0xD0, 0xCF]) {
        throw ArchiveRefusal(
          file: name, "an old Excel workbook (.xls); save it as .xlsx or .csv first")
      }
      if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
        throw ArchiveRefusal(file: name, "text in UTF-16; expected UTF-8")
      }
      return .csv
    }
    let listing = try ByteStream(["unzip", "-Z1", path])
    let members = String(decoding: try listing.all(), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    guard listing.finish() else {
      throw ArchiveRefusal(
        file: name, "a damaged zip file or workbook; it may be cut off, so fetch it again")
    }
    // The sheet with the lowest number.
    let sheets = members.filter { $0.hasPrefix("xl/worksheets/sheet") && $0.hasSuffix(".xml") }
    if let sheet = sheets.min(by: { ($0.count, $0) < ($1.count, $1) }) {
      return .workbook(sheet: sheet, texts: members.first { $0 == "xl/sharedStrings.xml" })
    }
    return .zip(members: members.filter { !$0.hasSuffix("/") })
  }

  /// Returns the bytes of a CSV file, or the unpacked bytes of a gzip file.
  func plain(_ form: Form) throws -> ByteStream {
    try form == .gzip ? ByteStream(["gzip", "-dc", "--", path]) : ByteStream(file: path)
  }

  /// Returns the bytes of a member of a zip file.
  func member(_ member: String) throws -> ByteStream {
    // unzip takes the name for a pattern, so brackets, stars and the like are escaped.
    let pattern = member.map { "[]*?\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    return try ByteStream(["unzip", "-p", path, pattern])
  }
}

/// Bytes that are read once from the beginning: those of a file, or the output of a program.
package final class ByteStream {
  let descriptor: Int32
  private let handle: FileHandle
  /// The program that writes the bytes, until its end was waited for.
  private var process: pid_t?

  package init(file: String) throws {
    guard let handle = FileHandle(forReadingAtPath: file) else {
      throw ArchiveRefusal(file: URL(filePath: file).lastPathComponent, "cannot be read")
    }
    self.handle = handle
    descriptor = handle.fileDescriptor
  }

  /// `/dev/null`, opened before the process is confined. A confined process may not open any file
  /// for writing.
  package static let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)

  /// Starts a program whose output is read.
  ///
  /// Foundation's `Process` learns through a socket that a program has ended. A confined process
  /// may not use sockets and waited for ever (F-N46), so this class waits for the program with
  /// `waitpid`.
  ///
  /// - Parameter command: a program on `PATH`, and its arguments.
  package init(_ command: [String]) throws {
    let output = Pipe()
    handle = output.fileHandleForReading
    descriptor = handle.fileDescriptor
    let end = output.fileHandleForWriting
    // The output ends for the reader only once this process has closed its copy of the writing end.
    defer { try? end.close() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, Self.nothing, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, Self.nothing, STDERR_FILENO)
    // This environment may contain keys, which a tool that unpacks files does not need.
    let path = ProcessInfo.processInfo.environment["PATH"].map { ["PATH=\($0)"] } ?? []
    let words = command.map { strdup($0) } + [nil]
    let environment = (path + ["LC_ALL=C.UTF-8"]).map { strdup($0) } + [nil]
    defer { for text in words + environment { free(text) } }
    var process: pid_t = 0
    let status = posix_spawnp(&process, command[0], &actions, nil, words, environment)
    guard status == 0 else { throw POSIXError(.init(rawValue: status) ?? .EIO) }
    self.process = process
  }

  deinit {
    // Where reading stopped early, the program's output has no reader any more.
    if let process { kill(process, SIGKILL) }
    _ = wait()
  }

  /// Reads everything at once.
  package func all() throws -> Data {
    var data = Data()
    while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
      data += piece
      // A small file can unpack to gigabytes.
      guard data.count <= Self.mostWhole else { throw TooLarge() }
    }
    return data
  }

  /// Reads the next bytes and returns their number, which is 0 at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw CSVRecords.Fault.readFailed(errno) }
    }
  }

  static let mostWhole = 256 << 20

  package struct TooLarge: Error, CustomStringConvertible {
    package var description: String { "more than \(ByteStream.mostWhole >> 20) MB" }
  }

  /// Waits for the program after its output was read. A program that has more to write ends,
  /// because its output has no reader any more.
  ///
  /// - Returns: whether the program ended successfully.
  package func finish() -> Bool {
    // An error here only means that the handle is closed already.
    try? handle.close()
    return wait() == 0
  }

  /// Returns the program's status as the system reports it: 0 after a successful end.
  private func wait() -> Int32 {
    guard let process else { return 0 }
    self.process = nil
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    return status
  }
}
