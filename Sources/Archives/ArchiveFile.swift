package import Foundation
import Glibc

/// A file of an archive on disk. Its form follows from its content, because the names and formats
/// on the portals are often wrong.
package struct ArchiveFile: Sendable {
  /// What a file is, by its first bytes.
  package enum Form: Sendable, Equatable {
    case csv
    case gzip
    case workbook(members: [String])
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

  /// Reads the first bytes of the file, and the table of contents where it is a zip.
  package func form() throws -> Form {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ArchiveRefusal(file: name, "cannot be read")
    }
    let head = [UInt8](try handle.read(upToCount: 512) ?? Data())
    try handle.close()
    if head.starts(with: [0x1F, 0x8B]) { return .gzip }
    if let other = Self.otherKinds.first(where: { head.starts(with: $0.head) }) {
      throw ArchiveRefusal(file: name, other.words)
    }
    if head.dropFirst(257).starts(with: Array("ustar".utf8)) {
      throw ArchiveRefusal(file: name, Self.tar)
    }
    guard head.starts(with: [0x50, 0x4B]) else {
      if head.contains(0x0D), !head.contains(0x0A), !head.contains(where: { $0 < 0x09 }) {
        throw ArchiveRefusal(file: name, Self.oldMac)
      }
      return .csv
    }
    let listing = try unzip(["-Z1"])
    let members = String(decoding: try listing.all(), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    guard try listing.finish() else {
      throw ArchiveRefusal(
        file: name, "a damaged zip file or workbook; it may be cut off, so fetch it again")
    }
    if let other = Self.otherDocuments.first(where: { members.contains($0.member) }) {
      throw ArchiveRefusal(file: name, other.words)
    }
    // Nearly all programs put the parts of a workbook into xl/, but they may lie anywhere.
    if members.contains(where: { $0.lowercased().hasPrefix("xl/") || $0 == "[Content_Types].xml" })
    {
      return .workbook(members: members)
    }
    return .zip(members: members.filter { !$0.hasSuffix("/") && !Self.isCompanion($0) })
  }

  /// How files begin that hold no text, and what to do with them.
  private static let otherKinds: [(head: [UInt8], words: String)] = [
    (
      [0xD0, 0xCF, 0x11, 0xE0],
      "an old Excel workbook (.xls), or one with a password; save it as .xlsx or .csv first"
    ),
    ([0xFF, 0xFE], "text in UTF-16; save it again as UTF-8 first"),
    ([0xFE, 0xFF], "text in UTF-16; save it again as UTF-8 first"),
    (Array("PAR1".utf8), "a Parquet file; convert it to CSV first, for instance with DuckDB"),
    (Array("%PDF".utf8), "a PDF document; download the data as .csv or .xlsx"),
  ]

  private static let oldMac =
    "text whose lines end as on an old Mac (CR alone); save it again as CSV UTF-8 first"

  static let tar = "a tar archive; unpack it into a folder with tar -xf first, then load the folder"

  /// Documents of other programs that are zip files, by a member that each of them has.
  private static let otherDocuments: [(member: String, words: String)] = [
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb); save it as .xlsx or .csv first"),
    ("content.xml", "an OpenDocument file such as .ods; save it as .xlsx or .csv first"),
  ]

  /// Whether desktop programs put a member beside the files that they pack.
  private static func isCompanion(_ member: String) -> Bool {
    let parts = member.split(separator: "/")
    guard let last = parts.last else { return true }
    return parts.contains("__MACOSX") || last.hasPrefix("._") || last.hasPrefix("~$")
      || [".DS_Store", "Thumbs.db", "desktop.ini"].contains(last)
  }

  /// Returns the bytes of a CSV file, or the unpacked bytes of a gzip file.
  func plain(_ form: Form) throws -> ByteStream {
    try form == .gzip ? ByteStream(["gzip", "-dc", "--", path]) : ByteStream(file: path)
  }

  /// Returns the bytes of a member of a zip file.
  func member(_ member: String) throws -> ByteStream {
    // unzip takes the name for a pattern, so brackets, stars and the like are escaped, and a
    // leading dash for an option, so it becomes a pattern of one character.
    let pattern = member.map { "[]*?\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    // Without a password it would ask at the terminal for that of a locked file.
    return try unzip(
      ["-P", "", "-p"], pattern.hasPrefix("-") ? "[-]" + pattern.dropFirst() : pattern)
  }

  /// unzip takes the path of the zip file for a pattern too, and may then read another file. So it
  /// finds the open file as its standard input.
  private func unzip(_ options: [String], _ member: String...) throws -> ByteStream {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw ArchiveRefusal(file: name, "cannot be read")
    }
    // The program has a copy of the descriptor by then, and nothing was written that could be lost.
    defer { try? handle.close() }
    return try ByteStream(
      ["unzip"] + options + ["/proc/self/fd/0"] + member, input: handle, of: name)
  }
}

/// Bytes that are read once from the beginning: those of a file, or the output of a program.
package final class ByteStream {
  let descriptor: Int32
  private let handle: FileHandle
  /// The program that writes the bytes, until its end was waited for.
  private var process: pid_t?
  /// The name of the file that the program unpacks.
  private let file: String

  package init(file: String) throws {
    guard let handle = FileHandle(forReadingAtPath: file) else {
      throw ArchiveRefusal(file: URL(filePath: file).lastPathComponent, "cannot be read")
    }
    self.handle = handle
    self.file = file
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
  /// - Parameters:
  ///   - command: a program on `PATH`, and its arguments.
  ///   - input: the program's standard input; `nil` for none.
  ///   - file: the name of the file that it unpacks.
  package init(_ command: [String], input: FileHandle? = nil, of file: String = "") throws {
    self.file = file
    let output = Pipe()
    handle = output.fileHandleForReading
    descriptor = handle.fileDescriptor
    let end = output.fileHandleForWriting
    // The output ends for the reader only once this process has closed its copy of the writing end.
    // An error here only means that it is closed already.
    defer { try? end.close() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(
      &actions, input?.fileDescriptor ?? Self.nothing, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, Self.nothing, STDERR_FILENO)
    // This environment may contain keys, which a tool that unpacks files does not need.
    let path = ProcessInfo.processInfo.environment["PATH"].map { ["PATH=\($0)"] } ?? []
    let words = command.map { strdup($0) } + [nil]
    let environment = (path + ["LC_ALL=C.UTF-8"]).map { strdup($0) } + [nil]
    defer { for text in words + environment { free(text) } }
    var process: pid_t = 0
    let status = posix_spawnp(&process, command[0], &actions, nil, words, environment)
    if MissingProgram.means(status) { throw MissingProgram(name: command[0]) }
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

  /// A part of a file is larger unpacked than memory may hold.
  package struct TooLarge: Error, CustomStringConvertible {
    package var description: String { "more than \(ByteStream.mostWhole >> 20) MB" }
  }

  /// Waits for the program after its output was read. A program that has more to write ends,
  /// because its output has no reader any more.
  ///
  /// - Returns: whether the program ended successfully.
  /// - Throws: `ArchiveRefusal` for a zip file that is whole and that unzip cannot unpack.
  package func finish() throws -> Bool {
    // An error here only means that the handle is closed already.
    try? handle.close()
    let status = wait()
    // The codes with which unzip ends.
    switch status >> 8 {
    case 81:
      throw ArchiveRefusal(
        file: file,
        "a zip file packed by a method that unzip cannot read, or with a password; "
          + "unpack it first with the program that packed it")
    case 82: throw ArchiveRefusal(file: file, "a zip file with a password; unpack it first")
    default: return status == 0
    }
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
