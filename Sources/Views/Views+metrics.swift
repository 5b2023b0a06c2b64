import FuelModel
import Postgres

extension Views {
  /// Returns the metrics in the Prometheus text format: for each its name, its help and its lines.
  /// All of them are gauges.
  package func metrics() throws -> [(name: String, help: String, lines: [String])] {
    var metrics: [(name: String, help: String, lines: [String])] = []
    for row in try connection.query(
      """
      SELECT name, help, array_to_json(labels)::text AS labels, value::text AS value
      FROM fuel_v1.metrics()
      ORDER BY sort_order, labels
      """)
    {
      let name = try row.text("name")
      if metrics.last?.name != name { metrics.append((name, try row.text("help"), [])) }
      let labels = try row.texts("labels")
      let pairs = stride(from: 0, to: labels.count, by: 2).map { index in
        "\(labels[index])=\"\(labels[index + 1].asPrometheusLabel)\""
      }
      metrics[metrics.count - 1].lines.append(
        name + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}")
          + " \(try row.text("value"))")
    }
    return metrics
  }
}
