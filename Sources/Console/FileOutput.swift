import Foundation
import Glibc

/// A file that is replaced as a whole or not at all. It is written beside its place and renamed
/// when complete. Until then an older file stays unchanged.
struct FileOutput {
  private let descriptor: Int32

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Busy: Error, CustomStringConvertible {
    let path: String
    var description: String { "another run is writing \(path)" }
  }

  private static func open(_ name: String) throws -> (path: String, partial: String, Int32) {
    // A symbolic link is followed. A device or a pipe would be replaced by a file, so only ordinary
    // files are accepted.
    let path = URL(filePath: name).resolvingSymlinksInPath().path
    var old = stat()
    let isThere = lstat(path, &old) == 0
    guard !isThere || old.st_mode & S_IFMT != S_IFDIR else {
      throw Failure(description: "\(path) is a folder: name a file in it")
    }
    guard !isThere || old.st_mode & S_IFMT == S_IFREG else {
      throw Failure(
        description: "\(path) is not an ordinary file; write to standard output instead")
    }
    // The partial file is in the same folder, because a rename does not cross file systems. It
    // always has the same name, so that the one that a killed process left is used again.
    let partial = path + ".partial"
    let (descriptor, mine) = try lock(partial, of: path)
    // In a folder that others may write to, the file may be somebody else's, or a link to another
    // file.
    guard mine.st_mode & S_IFMT == S_IFREG, mine.st_nlink == 1,
      mine.st_uid == geteuid() || (isThere && mine.st_uid == old.st_uid)
    else {
      close(descriptor)
      throw Failure(description: "\(partial) is a link or belongs to another user; remove it")
    }
    ftruncate(descriptor, 0)
    if isThere {
      // A private file stays private, and its owner stays the same.
      _ = fchown(descriptor, old.st_uid, old.st_gid)
      fchmod(descriptor, old.st_mode & 0o777)
    }
    return (path, partial, descriptor)
  }

  /// Opens the partial file of a path, which is made if necessary, and takes its lock.
  private static func lock(_ partial: String, of path: String) throws -> (Int32, stat) {
    while true {
      let descriptor = Glibc.open(
        partial, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644)
      guard descriptor >= 0 else {
        throw Failure(description: "\(path) cannot be written: \(String(cString: strerror(errno)))")
      }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        close(descriptor)
        throw Busy(path: path)
      }
      // The previous holder of the lock may have renamed this file to its final name. Then the loop
      // opens another one.
      var (mine, there) = (stat(), stat())
      if fstat(descriptor, &mine) == 0, lstat(partial, &there) == 0, mine.st_ino == there.st_ino {
        return (descriptor, mine)
      }
      close(descriptor)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Glibc.write(
        descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      guard count >= 0 || errno == EINTR else {
        throw Failure(description: String(cString: strerror(errno)))
      }
      rest = rest.dropFirst(max(0, count))
    }
  }

  /// Writes a whole text to a file.
  ///
  /// - Parameter isDurable: whether the text is on the disk when the function returns.
  static func write(_ text: String, to path: String, isDurable: Bool = true) throws {
    try write(to: path, isDurable: isDurable) { file in
      var text = text
      try text.withUTF8 { try file.write(UnsafeRawBufferPointer($0)) }
    }
  }

  /// Writes a file by a body, and moves it to its place when the body returns.
  static func write(
    to name: String, isDurable: Bool = true, _ body: (FileOutput) throws -> Void
  ) throws {
    let (path, partial, descriptor) = try open(name)
    do {
      try body(FileOutput(descriptor: descriptor))
      // The file is renamed before the lock ends with the descriptor.
      guard !isDurable || fsync(descriptor) == 0, rename(partial, path) == 0 else {
        throw Failure(description: String(cString: strerror(errno)))
      }
      close(descriptor)
    } catch {
      unlink(partial)
      close(descriptor)
      // Another error describes itself. An unavailable database, for example, is no fault of the
      // file.
      throw error is Failure ? Failure(description: "\(path) was not written: \(error)") : error
    }
  }
}
