import Views

let metricsCommand = Command(
  name: "metrics",
  summary: "Write metrics in the Prometheus text format.",
  examples: [
    ("bowser metrics", "write to standard output"),
    (
      "bowser metrics --out /var/lib/prometheus/node-exporter/bowser.prom",
      "for node_exporter's textfile collector; the file is replaced as a whole"
    ),
  ],
  options: [.init(name: "out", value: "FILE", about: "write to a file instead of standard output")],
  notes: """
    docs/operating.md explains what each metric means; contrib/prometheus has alert rules.
    """
) { invocation in
  let views = try invocation.views(try invocation.settings())
  var text = """
    # HELP bowser_build_info The version of the program that wrote these metrics.
    # TYPE bowser_build_info gauge
    bowser_build_info{version="\(Version.number)",commit="\(Version.commit)"} 1

    """
  for metric in try views.metrics() {
    text += "# HELP \(metric.name) \(metric.help)\n# TYPE \(metric.name) gauge\n"
    text += metric.lines.map { $0 + "\n" }.joined()
  }
  if let path = invocation.options["out"] {
    try FileOutput.write(text, to: path)
  } else {
    write(text)
  }
  return .done
}
