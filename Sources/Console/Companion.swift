import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A program beside this one that runs one of its commands, so that this one need not contain what
/// only that command needs.
enum Companion {
  struct Absent: Error, CustomStringConvertible {
    let description: String
  }

  /// Makes this process run the companion. Returns only if it cannot, and then says why.
  static func become(_ name: String, _ arguments: [String]) -> Absent {
    let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let path = folder.appending(path: name).path
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    words.append(nil)
    execv(path, words)
    let code = errno
    return Absent(
      description: code == ENOENT
        ? "\(name) is not installed; it belongs beside bowser in \(folder.path), "
          + "where make build, make install and the Debian package put it"
        : "\(path) cannot be started: \(String(cString: strerror(code)))")
  }
}
