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
    anything but a report is refused.
    """,
  isJob: true
) { invocation in
  guard invocation.operands.isEmpty, let folder = invocation.options["out"], !folder.isEmpty else {
    throw UsageError.message("where to? --out DIR")
  }
  let store = try invocation.readerStore(try invocation.settings())
  let now = try invocation.clock().now()
  if invocation.options["now"] != nil { try store.setViewClock(now.description) }
  let report = Report(try store.marketReport(), now: now, version: Version.number)
  try write(report.files, into: URL(filePath: folder))
  return .done
}

/// A file by which a folder is known to be ours.
private let marker = ".bowser-report"

private func write(_ files: [(path: String, text: String)], into folder: URL) throws {
  let manager = FileManager.default
  try manager.createDirectory(at: folder, withIntermediateDirectories: true)
  let there = try manager.contentsOfDirectory(atPath: folder.path)
  guard there.isEmpty || there.contains(marker) else {
    throw FileOutput.Failure(
      description: "\(folder.path) holds something that is no report of ours; nothing was written")
  }
  try FileOutput.write("", to: folder.appending(path: marker).path)
  try manager.createDirectory(
    at: folder.appending(path: "region"), withIntermediateDirectories: true)
  for (path, text) in files {
    try FileOutput.write(text, to: folder.appending(path: path).path)
  }
  let current = Set(files.map(\.path))
  for name in try manager.contentsOfDirectory(atPath: folder.appending(path: "region").path)
  where !current.contains("region/\(name)") {
    try manager.removeItem(at: folder.appending(path: "region/\(name)"))
  }
}
