import Foundation
import FuelModel
import Views

let exportCommand = Command(
  name: "export",
  summary: "Write a published view as CSV or NDJSON.",
  operands: "VIEW",
  examples: [
    ("bowser export averages_now", "CSV on standard output"),
    (
      "bowser export daily_averages --since 2026-07-01 --format ndjson",
      "one JSON object per line, from a given day on"
    ),
    (
      "bowser export price_history --out prices.csv",
      "into a file that is replaced once the export is complete"
    ),
    ("bowser export --list", "list the views, and the column that --since and --until use"),
  ],
  options: [
    .init(name: "format", value: "csv|ndjson", about: "the format (default csv)"),
    .init(name: "since", value: "INSTANT", about: "only rows from this instant or day on"),
    .init(name: "until", value: "INSTANT", about: "only rows before this instant or day"),
    .init(
      name: "out", value: "FILE", about: "write to a file instead of standard output, which is -"),
    .init(name: "list", about: "list the views that can be exported"),
  ],
  notes: """
    Instants are UTC, such as 2026-07-02T12:00:00Z. In CSV an empty field is NULL, and a text that a
    spreadsheet would take for a formula begins with an apostrophe. Rows are sorted by their columns from
    left to right, except those of price_history, which are not sorted. Where the column holds days,
    --since and --until use the UTC day of their instant.
    """,
  deadlineSeconds: 3_600
) { invocation in
  let views = try invocation.views(try invocation.settings())
  let names = try views.publishedViews()
  for name in ["since", "until", "out", "format"] { try invocation.refuse(name, beside: "list") }
  if invocation.flags.contains("list") {
    for view in names {
      write(padded(view, 20) + (Views.timeColumn(of: view).map { "by \($0)" } ?? "") + "\n")
    }
    return .done
  }
  guard let named = invocation.operands.first, invocation.operands.count == 1 else {
    throw UsageError.message("name one view; bowser export --list lists them")
  }
  // The name of a view may have the prefix that it has in a query.
  let view = named.hasPrefix("fuel_v1.") ? String(named.dropFirst(8)) : named
  guard names.contains(view) else {
    throw UsageError.unknown("view", view, among: names, hint: "bowser export --list lists them")
  }
  guard let format = ExportFormat(rawValue: invocation.options["format"] ?? "csv") else {
    throw UsageError.message("--format must be csv or ndjson")
  }
  let since = try invocation.instant("since", orDay: true)
  let until = try invocation.instant("until", orDay: true)
  guard since == nil && until == nil || Views.timeColumn(of: view) != nil else {
    throw UsageError.message("\(view) shows only the present and takes no --since or --until")
  }
  if let since, let until, until <= since {
    throw UsageError.message("--until must be later than --since")
  }
  if let path = invocation.options["out"], path != "-" {
    try FileOutput.write(to: path) { file in
      try views.export(view, as: format, since: since, until: until) { try file.write($0) }
    }
  } else {
    try views.export(view, as: format, since: since, until: until) { writeBytes($0) }
  }
  return .done
}
