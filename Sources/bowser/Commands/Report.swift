import Foundation
import FuelModel
import Report
import Store

let reportCommand = Command(
  name: "report",
  summary: "Write the market as static HTML pages.",
  operands: "",
  examples: [
    ("bowser report --out /var/www/fuel", "index.html, a page per region, feeds and method")
  ],
  options: [.init(name: "out", value: "DIR", about: "the folder, new, empty or an older report")],
  notes: """
    The pages need no script, load nothing from elsewhere and can be served from any folder or opened as
    files. Each is replaced whole; pages of regions that are gone are removed. A folder that holds
    something else and no report is refused.
    """,
  isJob: true,
  deadlineSeconds: 3_600
) { invocation in
  guard invocation.operands.isEmpty, let folder = invocation.options["out"], !folder.isEmpty else {
    throw UsageError.message("where to? --out DIR")
  }
  let store = try invocation.readerStore(try invocation.settings())
  let now = try invocation.clock().now()
  let report = Report(try store.marketReport(), now: now, version: Version.number)
  try write(report.files, into: URL(filePath: folder))
  return .done
}

/// A file by which a folder is known to be ours: the list of what is in it.
private let marker = ".bowser-report"

private func write(_ files: [(path: String, text: String)], into folder: URL) throws {
  let manager = FileManager.default
  let list = folder.appending(path: marker).path
  for path in [folder, folder.appending(path: "region")] {
    do {
      try manager.createDirectory(at: path, withIntermediateDirectories: true)
    } catch {
      throw FileOutput.Failure(description: "\(path.path) cannot be made")
    }
    let there = try manager.contentsOfDirectory(atPath: folder.path).filter { $0 != "region" }
    let type = try manager.attributesOfItem(atPath: path.path)[.type] as? FileAttributeType
    guard there.isEmpty || there.contains(where: { $0.hasPrefix(marker) }),
      path == folder || type == .typeDirectory
    else {
      throw FileOutput.Failure(
        description: "\(folder.path) holds something that is no report of ours; nothing was written"
      )
    }
  }
  let old = manager.contents(atPath: list).map { String(decoding: $0, as: UTF8.self) } ?? ""
  // The list is open, and so locked, until all pages are written.
  try FileOutput.write(to: list) { held in
    for (path, text) in files {
      try FileOutput.write(text, to: folder.appending(path: path).path)
    }
    let current = Set(files.map(\.path))
    for path in old.split(separator: "\n").map(String.init)
    where !current.contains(path) && path.wholeMatch(of: /region\/[a-z0-9-]+\.html/) != nil {
      unlink(folder.appending(path: path).path)
    }
    var text = files.map { $0.path + "\n" }.joined()
    try text.withUTF8 { try held.write(UnsafeRawBufferPointer($0)) }
  }
}
