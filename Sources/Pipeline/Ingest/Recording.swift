import Archives
import Foundation
package import FuelModel

/// Documents on disk, byte for byte as they arrived: `<folder>/<feed>/<instant>/<name>.<json|xml>`.
/// The instant, in UTC as `20260702T235701Z`, is when the last document of the run was fetched.
package struct Recording: Sendable {
  private let folder: String

  package init(folder: String) { self.folder = folder }

  /// Keeps the documents of one run. They are written to a temporary folder that is then renamed,
  /// so that an unfinished folder is never taken for a complete run.
  package func keep(_ documents: [Document], of feed: String) throws {
    guard let takenAt = documents.map(\.fetchedAt).max() else { return }
    let final = "\(folder)/\(feed)/\(takenAt.compact)"
    let unfinished =
      "\(folder)/\(feed)/.\(takenAt.compact).\(ProcessInfo.processInfo.processIdentifier)"
    do {
      let files = FileManager.default
      // Only the owner may read them, whatever the umask: a provider's terms may restrict their
      // use.
      try files.createDirectory(
        atPath: unfinished, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      for document in documents {
        let isXML =
          document.bytes.first { ![0xEF, 0xBB, 0xBF, 0x20, 0x0A, 0x0D].contains($0) } == 0x3C
        let path = "\(unfinished)/\(document.name).\(isXML ? "xml" : "json")"
        guard
          files.createFile(
            atPath: path, contents: Data(document.bytes), attributes: [.posixPermissions: 0o600])
        else { throw IngestError.recording(path: path, reason: "cannot be written") }
      }
      if files.fileExists(atPath: final) { try files.removeItem(atPath: final) }
      try files.moveItem(atPath: unfinished, toPath: final)
    } catch let error as IngestError {
      throw error
    } catch {
      throw IngestError.recording(path: final, reason: error.localizedDescription)
    }
  }

  /// A recorded run.
  package struct Run: Sendable {
    let path: String
    let takenAt: Instant

    /// Returns the paths of its files.
    func files() throws -> [String] {
      do {
        return try FileManager.default.contentsOfDirectory(atPath: path)
          .filter { !$0.hasPrefix(".") }.sorted().map { "\(path)/\($0)" }
      } catch {
        throw IngestError.recording(path: path, reason: error.localizedDescription)
      }
    }

    /// Reads the documents, as if all were fetched at one instant. Files may be gzipped.
    package func documents() throws -> [Document] {
      try files().map { path in
        let file = path.hasSuffix(".gz") ? String(path.dropLast(3)) : path
        guard file.hasSuffix(".json") || file.hasSuffix(".xml"),
          let stem = URL(filePath: file).lastPathComponent.split(separator: ".").first
        else { throw IngestError.recording(path: path, reason: "is neither .json nor .xml") }
        return Document(name: String(stem), bytes: try Recording.bytes(path), fetchedAt: takenAt)
      }
    }
  }

  /// Returns the recorded runs of a feed, oldest first.
  package func runs(of feed: String) throws -> [Run] {
    guard FileManager.default.fileExists(atPath: folder) else {
      throw IngestError.recording(path: folder, reason: "no such folder")
    }
    let runs = try Self.runs(in: "\(folder)/\(feed)")
    guard !runs.isEmpty else {
      throw IngestError.recording(
        path: "\(folder)/\(feed)",
        reason: "there is no recording of this feed; "
          + (folder.hasSuffix("/\(feed)")
            ? "name the folder that contains \(feed)" : "bowser ingest FEED --record DIR makes one")
      )
    }
    return runs
  }

  /// Returns the recorded runs in the folder of one feed, oldest first; none where it does not exist.
  static func runs(in path: String) throws -> [Run] {
    guard FileManager.default.fileExists(atPath: path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: path).compactMap { name in
      Instant(iso: name).map { Run(path: "\(path)/\(name)", takenAt: $0) }
    }.sorted { $0.takenAt < $1.takenAt }
  }

  /// Returns the bytes of a file, decompressed if its name ends in .gz.
  static func bytes(_ path: String) throws -> [UInt8] {
    try path.hasSuffix(".gz") ? unzip(path) : read(path)
  }

  private static func read(_ path: String) throws -> [UInt8] {
    do {
      return [UInt8](try ByteStream(file: path).all())
    } catch let error as ByteStream.TooLarge {
      throw IngestError.recording(path: path, reason: error.description)
    } catch {
      throw IngestError.recording(path: path, reason: "cannot be read")
    }
  }

  private static func unzip(_ path: String) throws -> [UInt8] {
    let gzip = try ByteStream(["gzip", "-dc", "--", path])
    let data: Data
    do {
      data = try gzip.all()
    } catch let error as ByteStream.TooLarge {
      throw IngestError.recording(path: path, reason: "\(error) when unpacked")
    }
    guard try gzip.finish() else {
      throw IngestError.recording(path: path, reason: "gzip cannot read it")
    }
    return [UInt8](data)
  }
}
