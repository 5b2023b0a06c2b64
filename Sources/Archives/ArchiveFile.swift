package import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A file as it lies on disk, told by its content: the portal's names and formats are often wrong.
package struct ArchiveFile: Sendable {
  package enum Form: Sendable, Equatable {
    case csv
    case gzip
    /// The path of the first sheet and of the shared texts inside.
    case workbook(sheet: String, texts: String?)
    case zip(members: [String])
  }

  package let path: String

  package init(_ path: String) {
    // A name that begins with a dash would be an option to the tools that unpack it.
    self.path = path.hasPrefix("-") ? "./" + path : path
  }

  package var name: String { URL(filePath: path).lastPathComponent }

  // More than this from one file is a bomb, not a month of prices: the largest real one is 60 MB.
  static let mostBytes = 4 << 30

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
    guard listing.finish() else { throw ArchiveRefusal(file: name, "a damaged zip file") }
    // The first sheet, by its number.
    let sheets = members.filter { $0.hasPrefix("xl/worksheets/sheet") && $0.hasSuffix(".xml") }
    if let sheet = sheets.min(by: { ($0.count, $0) < ($1.count, $1) }) {
      return .workbook(sheet: sheet, texts: members.first { $0 == "xl/sharedStrings.xml" })
    }
    return .zip(members: members.filter { !$0.hasSuffix("/") })
  }

  /// The plain bytes of a CSV file or of what gzip packed.
  func plain(_ form: Form) throws -> ByteStream {
    try form == .gzip ? ByteStream(["gzip", "-dc", "--", path]) : ByteStream(file: path)
  }

  /// The bytes of a member of a zip file.
  func member(_ member: String) throws -> ByteStream {
    // unzip takes the name for a pattern; brackets and stars in it are meant as they are.
    let pattern = member.map { "[]*?\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    return try ByteStream(["unzip", "-p", path, pattern])
  }
}

/// Bytes that are read once from the beginning: a file, or what a program of the shell unpacks.
package final class ByteStream {
  let descriptor: Int32
  private let handle: FileHandle
  /// The program that writes them, until it was waited for.
  private var process: pid_t?

  init(file: String) throws {
    guard let handle = FileHandle(forReadingAtPath: file) else {
      throw ArchiveRefusal(file: URL(filePath: file).lastPathComponent, "cannot be read")
    }
    self.handle = handle
    descriptor = handle.fileDescriptor
  }

  /// Opened before a process is confined, which may open nothing to write to.
  package static let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)

  /// Foundation's `Process` learns by a socket that a program has ended. A confined process may not use sockets, and
  /// waited for ever (F-N46): this one asks the system.
  ///
  /// - Parameter command: a program of the shell and its arguments.
  package init(_ command: [String]) throws {
    let output = Pipe()
    handle = output.fileHandleForReading
    descriptor = handle.fileDescriptor
    let end = output.fileHandleForWriting
    // Else nobody would see where the output ends.
    defer { try? end.close() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, Self.nothing, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, end.fileDescriptor, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, Self.nothing, STDERR_FILENO)
    // Keys of this process are nothing to a tool that unpacks files.
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
    // Whoever gave up in the middle leaves a program that nobody reads from.
    if let process { kill(process, SIGKILL) }
    _ = wait()
  }

  /// Everything, for what is read as a whole.
  package func all() throws -> Data {
    var data = Data()
    while let piece = try handle.read(upToCount: 1 << 20), !piece.isEmpty {
      data += piece
      // A small file can hold gigabytes of nothing.
      guard data.count <= Self.mostWhole else { throw TooLarge() }
    }
    return data
  }

  /// The next bytes, none at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    while true {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count >= 0 { return count }
      guard errno == EINTR else { throw CSVRecords.Fault.readFailed(errno) }
    }
  }

  static let mostWhole = 256 << 20

  package struct TooLarge: Error, CustomStringConvertible {
    package var description: String { "more than \(ByteStream.mostWhole >> 20) MB when unpacked" }
  }

  /// Waits for the program, when everything was read; one that had more to say ends for want of a reader.
  ///
  /// - Returns: whether it ended well.
  package func finish() -> Bool {
    // What is closed already stays closed.
    try? handle.close()
    return wait() == 0
  }

  /// The status of the program as the system tells it: 0 where it ended well.
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
