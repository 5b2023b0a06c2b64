import Foundation
import FuelModel
import Report
import Synchronization
import Views

let reportCommand = Command(
  name: "report",
  summary: "Write the market as static HTML pages.",
  examples: [
    ("bowser report --out /var/www/fuel", "pages of regions, suburbs, stations and feeds"),
    (
      "bowser report --out /var/www/fuel --site https://fuel.example/",
      "pages and feeds also state their own address, for a public site"
    ),
  ],
  options: [
    .init(name: "out", value: "DIR", about: "the folder: new, empty, or with an older report"),
    .init(name: "site", value: "URL", about: "the web address that the folder will have"),
  ],
  notes: """
    Writes a page for each fuel and region (dl/sydney.html), each suburb and each station. Programs find
    all their files by api/v1/index.json, among them api/v1/prices/STATE-FUEL.geojson; feed/REGION.atom
    has the changes of a region's verdicts. The pages load nothing from other sites, not even for maps,
    and can be served from any folder or opened as files. Only the search, "Near me", the age of the
    prices and the values of a chart need a script, which is part of the report. A changed file is
    replaced as a whole, and a file that is no longer part of the report is removed. A folder that is
    not empty and holds no report is refused.
    """,
  deadlineSeconds: 3_600
) { invocation in
  guard let folder = invocation.options["out"] else {
    throw UsageError.message("name the folder with --out DIR, such as --out /var/www/fuel")
  }
  let address = try invocation.options["site"].map { text in
    guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host() != nil,
      url.query() == nil, url.fragment() == nil, url.user() == nil
    else { throw UsageError.message("--site must be an address such as https://fuel.example/") }
    return text.hasSuffix("/") ? text : text + "/"
  }
  let views = try invocation.views(try invocation.settings())
  let now = try invocation.clock().now()
  let market = try views.marketReport()
  if market.averages.isEmpty {
    writeError("no averages yet, so the pages are empty: bowser ingest --all && bowser aggregate")
  }
  let report = Report(market, now: now, version: Version.number, address: address)
  try write(report.files, into: URL(filePath: folder))
  return .done
}

/// The file that marks a folder as a report of this program. It lists the files of the report.
private let marker = ".bowser-report"

private func write(_ files: [Report.File], into folder: URL) throws {
  try makeFolders(for: files.map(\.path), in: folder)
  let manager = FileManager.default
  let list = folder.appending(path: marker).path
  let old = (manager.contents(atPath: list).map { String(decoding: $0, as: UTF8.self) } ?? "")
    .split(separator: "\n").map(String.init)
  let current = Set(files.map(\.path))
  // The list names each page before it is there. A run that cannot write them all, as on a full
  // disk, then leaves a folder that the next run knows for its own.
  if !current.isSubset(of: old) {
    try FileOutput.write(
      current.union(old).sorted().map { $0 + "\n" }.joined(), to: list)
  }
  // The list is open, and therefore locked, until all pages are written.
  try FileOutput.write(to: list) { held in
    let failure = Mutex<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: files.count - 1) { index in
      guard failure.withLock({ $0 == nil }) else { return }
      do {
        try write(files[index], into: folder.path)
      } catch {
        failure.withLock { $0 = $0 ?? error }
      }
    }
    if let error = failure.withLock({ $0 }) { throw error }
    try write(files[files.count - 1], into: folder.path)
    for path in old
    where !current.contains(path)
      && path.wholeMatch(of: /[a-z0-9-]+(\/[a-z0-9-]+)*\.[a-z]+/) != nil
    {
      unlink(folder.appending(path: path).path)
    }
    var text = current.sorted().map { $0 + "\n" }.joined()
    try text.withUTF8 { try held.write(UnsafeRawBufferPointer($0)) }
  }
}

/// Makes and writes one file. An unchanged file keeps its time of modification, which matters when the
/// folder is copied elsewhere.
private func write(_ file: Report.File, into folder: String) throws {
  let path = folder + "/" + file.path
  let text = file.text()
  if FileManager.default.contents(atPath: path) == Data(text.utf8) {
    // This file remained if an earlier run was killed.
    unlink(path + ".partial")
  } else {
    // What a crash of the machine leaves empty, the next run finds changed.
    try FileOutput.write(text, to: path, isDurable: false)
  }
}

/// Makes the folder of a report and the folders in it. Throws where it holds anything else.
private func makeFolders(for paths: [String], in folder: URL) throws {
  let manager = FileManager.default
  var parents: Set<String> = []
  for path in paths {
    var parts = path.split(separator: "/").dropLast()
    while !parts.isEmpty {
      parents.insert(parts.joined(separator: "/"))
      parts = parts.dropLast()
    }
  }
  let folders = Set(parents.compactMap { $0.split(separator: "/").first.map(String.init) })
  // A parent folder comes before the folders in it.
  for path in [folder] + parents.sorted().map({ folder.appending(path: $0) }) {
    do {
      try manager.createDirectory(at: path, withIntermediateDirectories: true)
    } catch let error as CocoaError {
      let reason = (error.underlying as? POSIXError)?.code.rawValue ?? EIO
      throw FileOutput.Failure(
        description: "\(path.path) cannot be created: \(String(cString: strerror(reason)))")
    }
    let type = try manager.attributesOfItem(atPath: path.path)[.type] as? FileAttributeType
    guard path == folder || type == .typeDirectory, try isOurs(folder, folders) else {
      throw FileOutput.Failure(
        description:
          "\(folder.path) holds something other than a report of bowser; nothing was written: "
          + "name a new or an empty folder")
    }
  }
}

/// Whether a folder is empty or an older report.
///
/// - Parameter folders: the folders that a report makes. A run that was killed may have made these
///   and nothing else.
private func isOurs(_ folder: URL, _ folders: Set<String>) throws -> Bool {
  let there = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
    !folders.contains($0)
  }
  return there.isEmpty || there.contains { $0.hasPrefix(marker) }
}
