import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A file that appears whole or not at all: written beside its place and renamed when it is done, so
/// that an old one stays as it was until then.
struct FileOutput: ~Copyable {
  private let path: String
  private let partial: String
  private let handle: FileHandle

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  init(_ name: String) throws {
    let (path, partial, descriptor) = try Self.open(name)
    self.path = path
    self.partial = partial
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
  }

  private static func open(_ name: String) throws -> (path: String, partial: String, Int32) {
    // Behind a link lies what is meant; a device or a pipe would be replaced by a file.
    let path = URL(filePath: name).resolvingSymlinksInPath().path
    var status = stat()
    guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(description: "\(path) is no ordinary file; it can be had on standard output")
    }
    // In the same folder, because a rename does not cross file systems.
    let partial = "\(path).\(ProcessInfo.processInfo.processIdentifier).partial"
    let descriptor = Glibc.open(
      partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o644)
    guard descriptor >= 0 else {
      throw Failure(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
    return (path, partial, descriptor)
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    try handle.write(contentsOf: Data(bytes))
  }

  /// Puts the file in its place.
  consuming func finish() throws {
    guard fsync(handle.fileDescriptor) == 0, close(handle.fileDescriptor) == 0,
      rename(partial, path) == 0
    else {
      let reason = String(cString: strerror(errno))
      unlink(partial)
      throw Failure(description: "\(path) cannot be written: \(reason)")
    }
  }

  /// Leaves no trace.
  consuming func abandon() {
    close(handle.fileDescriptor)
    unlink(partial)
  }

  /// Writes a whole text.
  static func write(_ text: String, to path: String) throws {
    try write(to: path) { file in
      var text = text
      try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0)) }
    }
  }

  static func write(to path: String, _ body: (borrowing FileOutput) throws -> Void) throws {
    let file = try FileOutput(path)
    do {
      try body(file)
    } catch {
      file.abandon()
      throw Failure(description: "\(path) was not written: \(error)")
    }
    try file.finish()
  }
}
