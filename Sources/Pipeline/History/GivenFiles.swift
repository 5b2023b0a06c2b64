import Configuration
import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// How the files and folders on a command line are read. A folder stands for the files in it whose
/// names have certain endings; everything else in it is left alone.
package struct GivenFiles {
  private let isRecursive: Bool
  private let say: (String) -> Void

  /// - Parameters:
  ///   - isRecursive: whether the folders in a folder are read too.
  ///   - say: receives a sentence about each folder before any file is read.
  package init(isRecursive: Bool = false, say: @escaping (String) -> Void = { _ in }) {
    self.isRecursive = isRecursive
    self.say = say
  }

  /// A file, and whether it was named itself rather than found in a folder.
  typealias File = (path: String, isNamed: Bool)

  /// What a folder has.
  private struct Contents {
    var files: [String] = []
    /// Names of other files.
    var others: [String] = []
    var folders: [String] = []
  }

  /// Lists the files that the given paths stand for, those of a folder by name.
  ///
  /// - Returns: the files, and the companions of other files among those that were named.
  func files(
    _ paths: [String], ending endings: [String]
  ) throws -> (files: [File], companions: [String]) {
    var files: [File] = []
    var companions: [String] = []
    for path in paths {
      guard let kind = Self.kind(of: path) else {
        throw Backfill.Failure.noFile(path, near: Self.near(path))
      }
      if kind == S_IFDIR {
        files += try contents(of: path, endings).map { ($0, false) }
      } else if ["~$", "._"].contains(where: URL(filePath: path).lastPathComponent.hasPrefix) {
        companions.append(URL(filePath: path).lastPathComponent)
      } else {
        // The file is read twice, for its digest and for its rows. A pipe can be read only once.
        guard kind == S_IFREG else { throw Backfill.Failure.noRegularFile(path) }
        try Self.check(path, R_OK)
        files.append((path, true))
      }
    }
    return (files, companions)
  }

  /// Lists the files of a folder, and says what is left alone.
  private func contents(of path: String, _ endings: [String]) throws -> [String] {
    var found = Contents()
    try Self.list(path, endings, isRecursive, into: &found)
    guard !found.files.isEmpty else {
      var below = Contents()
      // A folder below that cannot be read only makes the message less helpful, as does the end of
      // the search in a large tree.
      below.folders = found.folders
      var looked = 0
      while below.files.isEmpty, looked < min(100, below.folders.count) {
        let folder = below.folders[looked]
        looked += 1
        if !Self.isLink(folder) { try? Self.list(folder, endings, false, into: &below) }
      }
      throw Backfill.Failure.noFiles(
        path, endings: endings, other: found.others.first,
        below: below.files.first.map { URL(filePath: $0).deletingLastPathComponent().path })
    }
    func count(_ number: Int, _ one: String, _ many: String) -> String? {
      number == 0 ? nil : "\(number) \(number == 1 ? one : many)"
    }
    let folders = isRecursive ? 0 : found.folders.count
    let left = [count(found.others.count, "other", "others"), count(folders, "folder", "folders")]
      .compactMap { $0 }.joined(separator: " and ")
    let alone = found.others.count + folders == 1 ? "is left alone" : "are left alone"
    say(
      "\(path): \(found.files.count) \(found.files.count == 1 ? "file" : "files") to read"
        + (left.isEmpty ? "" : ", \(left) \(alone)")
        + (folders > 0 ? "; --recursive reads folders in it too" : ""))
    return found.files
  }

  private static func list(
    _ folder: String, _ endings: [String], _ isRecursive: Bool, into found: inout Contents
  ) throws {
    try check(folder, R_OK | X_OK)
    let first = found.folders.count
    for name in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
      let path = folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
      let kind = kind(of: path)
      if kind == S_IFDIR {
        if !isCompanion(name) { found.folders.append(path) }
      } else if !isCompanion(name), endings.contains(where: { name.lowercased().hasSuffix($0) }),
        // A link that leads nowhere is a file that cannot be read, and is refused by its name.
        kind == nil || kind == S_IFREG
      {
        found.files.append(path)
      } else {
        found.others.append(name)
      }
    }
    guard isRecursive else { return }
    // A link to a folder may lead to one around it.
    for path in found.folders[first...] where !isLink(path) {
      try list(path, endings, true, into: &found)
    }
  }

  /// Whether a name is that of a file or folder that the desktop keeps beside a file: what a
  /// program has open, what macOS stores of a file, and whatever is hidden.
  private static func isCompanion(_ name: String) -> Bool {
    name.hasPrefix(".") && name != "." && name != ".." || name.hasPrefix("~$") || name == "__MACOSX"
  }

  /// Returns the kind of a file, of the one that it leads to where it is a link.
  private static func kind(of path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  private static func isLink(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }

  private static func check(_ path: String, _ right: Int32) throws {
    guard access(path, right) == 0 else {
      throw Backfill.Failure.unreadable(path, reason: String(cString: strerror(errno)))
    }
  }

  /// Returns the name beside a missing file that differs least from its name.
  private static func near(_ path: String) -> String? {
    let file = URL(filePath: path)
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: file.deletingLastPathComponent().path)
    return nearest(to: file.lastPathComponent, in: names ?? [])
  }
}
