import Archives
import FuelModel
package import Trends

/// Daily prices of markets in a plain CSV file, so that verdicts can be judged without a database.
///
/// The columns `region,fuel,day,price` are found by name in any order; other columns are ignored.
/// `price` is in cents per litre and empty where a day has none.
package struct PriceFile: Sendable {
  private struct Market: Hashable {
    var region: String
    var fuel: String
  }

  /// The markets in the order of the file.
  package private(set) var markets: [(region: String, fuel: String, series: DailySeries)] = []

  // A hundred years. Every day between the first and the last takes memory.
  private static let mostDays = 36_600

  /// Reads the file.
  ///
  /// - Throws: `CSVFileError`, which names the file, the row, the column and the value.
  package init(_ path: String) throws {
    var columns: [String: Int] = [:]
    var order: [Market] = []
    var known: [Market: [Day: Double]] = [:]
    try csvRows(path) { number, fields in
      let row = Row(path: path, number: number, fields: fields, columns: columns)
      if columns.isEmpty {
        columns = try row.header()
        return
      }
      try row.checkLength()
      let (market, day, price) = (row.market, try row.day(), try row.price())
      if known[market] == nil {
        known[market] = [:]
        order.append(market)
      }
      guard let price else { return }
      if let other = known[market]?[day], other != price {
        throw row.wrong("day \(day) has two prices, \(other) and \(price)")
      }
      known[market]?[day] = price
    }
    if columns.isEmpty { throw CSVFileError.malformed(path, "the file is empty") }
    for market in order {
      let days = (known[market] ?? [:]).sorted { $0.key < $1.key }
      guard let first = days.first?.key, let last = days.last?.key else { continue }
      guard last.sinceEpoch - first.sinceEpoch < Self.mostDays else {
        throw CSVFileError.malformed(
          path, "\(market.region) \(market.fuel) spans more than a hundred years")
      }
      guard let series = DailySeries(days.map { (day: $0.key, average: $0.value) }) else {
        continue
      }
      markets.append((market.region, market.fuel, series))
    }
  }

  private struct Row {
    let path: String
    let number: Int
    let fields: [String]
    let columns: [String: Int]

    func wrong(_ what: String) -> CSVFileError { .malformed(path, "row \(number): \(what)") }

    /// Returns the positions of the columns that the row names.
    func header() throws -> [String: Int] {
      var columns: [String: Int] = [:]
      for (position, name) in fields.enumerated() {
        guard columns.updateValue(position, forKey: name.lowercased()) == nil else {
          throw wrong("column '\(name)' appears twice in the header")
        }
      }
      for name in ["region", "fuel", "day", "price"] where columns[name] == nil {
        throw wrong(
          "no column '\(name)' in the header; region, fuel, day and price are expected, with commas "
            + "between them")
      }
      return columns
    }

    /// Refuses a row with more or fewer fields than the header, such as one with a decimal comma.
    /// `columns` has one entry for each field of the header.
    func checkLength() throws {
      guard fields.count == columns.count else {
        throw wrong("\(fields.count) fields, where the header has \(columns.count)")
      }
    }

    private func field(_ name: String) -> String {
      columns[name].map { $0 < fields.count ? fields[$0] : "" } ?? ""
    }

    var market: Market { Market(region: field("region"), fuel: field("fuel")) }

    func day() throws -> Day {
      guard let day = Day(field("day")) else {
        throw wrong("day '\(field("day"))' is not a day such as 2026-07-01")
      }
      return day
    }

    /// Returns the price in cents per litre; `nil` where the day has none.
    func price() throws -> Double? {
      if field("price").isEmpty { return nil }
      guard field("price").utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
        let price = Double(field("price")), price > 0, price <= 3_000
      else {
        throw wrong("price '\(field("price"))' is not a price in cents per litre")
      }
      guard price >= 10 else {
        throw wrong("price '\(field("price"))' looks like dollars: cents per litre are expected")
      }
      return price
    }
  }
}
