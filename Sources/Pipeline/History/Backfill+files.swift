import Archives
import Configuration
import Foundation

/// The files that a load is given, and their digests.
extension Backfill {
  /// Lists the files that the given paths stand for, and those files in folders whose names are not
  /// names of archive files.
  static func files(_ paths: [String]) throws -> (files: [ArchiveFile], others: [String]) {
    var files: [ArchiveFile] = []
    var others: [String] = []
    for path in paths {
      let attributes: [FileAttributeKey: Any]
      do {
        attributes = try FileManager.default.attributesOfItem(
          atPath: URL(filePath: path).resolvingSymlinksInPath().path)
      } catch {
        throw Failure.noFile(path, near: near(path))
      }
      guard attributes[.type] as? FileAttributeType == .typeDirectory else {
        // The file is read twice, for its digest and for its rows. A pipe can be read only once.
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
          throw Failure.noRegularFile(path)
        }
        guard access(path, R_OK) == 0 else {
          throw Failure.unreadable(path, reason: String(cString: strerror(errno)))
        }
        files.append(ArchiveFile(path))
        continue
      }
      let found = files.count
      guard access(path, R_OK | X_OK) == 0 else {
        throw Failure.unreadable(path, reason: String(cString: strerror(errno)))
      }
      for name in try FileManager.default.subpathsOfDirectory(atPath: path).sorted() {
        var isFolder: ObjCBool = false
        let entry = "\(path)/\(name)"
        if FileManager.default.fileExists(atPath: entry, isDirectory: &isFolder), isFolder.boolValue
        {
          continue
        }
        if [".csv", ".csv.gz", ".xlsx", ".zip"].contains(where: { name.lowercased().hasSuffix($0) })
        {
          files.append(ArchiveFile(entry))
        } else {
          others.append(name)
        }
      }
      guard files.count > found else { throw Failure.noFiles(path) }
    }
    return (files, others)
  }

  /// Returns the name beside a missing file that differs least from its name.
  private static func near(_ path: String) -> String? {
    let file = URL(filePath: path)
    let names = try? FileManager.default.contentsOfDirectory(
      atPath: file.deletingLastPathComponent().path)
    return nearest(to: file.lastPathComponent, in: names ?? [])
  }

  /// Computes the BLAKE2 digest of each file in hex. A file that cannot be read has none. BLAKE2 is
  /// the quickest of the digests that every machine has a program for.
  static func digests(_ all: [String]) throws -> [String: String] {
    var digests: [String: String] = [:]
    // Two processes run at a time, each with no more names than any command line allows.
    let size = min(200, max(1, (all.count + 1) / 2))
    let batches = stride(from: 0, to: all.count, by: size).map { begin in
      Array(all[begin..<min(begin + size, all.count)])
    }
    for begin in stride(from: 0, to: batches.count, by: 2) {
      let running = try batches[begin..<min(begin + 2, batches.count)].map { paths in
        // Lines end with NUL, so that no name needs escaping.
        try ByteStream(["b2sum", "--length=256", "--zero", "--"] + paths)
      }
      for stream in running {
        let lines = String(decoding: try stream.all(), as: UTF8.self)
        // A file that cannot be read has no line; the other files have theirs.
        _ = stream.finish()
        for line in lines.split(separator: "\0") {
          let parts = line.split(separator: " ", maxSplits: 1)
          guard parts.count == 2 else { continue }
          digests[String(parts[1].dropFirst())] = String(parts[0])
        }
      }
    }
    return digests
  }
}
