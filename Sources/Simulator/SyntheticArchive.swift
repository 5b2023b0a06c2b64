import Foundation
package import FuelModel

/// Synthetic months of price changes in the format of New South Wales. They have as many stations
/// and fuels as the real archive, prices that drift at random, and rows that are spread over each
/// month to the second.
package struct SyntheticArchive: Sendable {
  private let seed: UInt64
  private let stations: Int
  private let firstMonth: Month

  // The real archive has rows of about as many fuels in a month.
  private static let codes = ([.u91, .e10, .p95, .p98, .dl, .pdl, .lpg] as [Fuel]).map {
    Array("\($0.rawValue),".utf8)
  }
  private static let brands = ["Ampol", "BP", "7-Eleven", "Shell", "Metro Fuel", "United"]
  private static let suburbs = ["Bankstown", "Dubbo", "Gosford", "Kiama", "Orange", "Parramatta"]
  private static let streets = ["High St", "Pacific Highway", "Main Road", "Station St"]

  package init(seed: UInt64, stations: Int = 2_300, firstMonth: Month) {
    self.seed = seed
    self.stations = stations
    self.firstMonth = firstMonth
  }

  /// Writes one CSV file for each month.
  ///
  /// - Returns: the paths, oldest first.
  package func write(months: Int, rowsPerMonth: Int, into folder: String) throws -> [String] {
    var random = Random(seed: seed, "archive")
    let heads = (0..<stations).map(head)
    var prices = (0..<stations * Self.codes.count).map { _ in random.integer(1_400...1_900) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return try (0..<months).map { offset in
      let month = Month(number: firstMonth.number + Int32(offset))
      let path = "\(folder)/price_history_\(month).csv"
      let bytes = file(of: month, rows: rowsPerMonth, heads, &prices, &random)
      try Data(bytes).write(to: URL(filePath: path))
      return path
    }
  }

  /// Returns the fields with which every row of a station begins.
  private func head(_ number: Int) -> [UInt8] {
    let brand = Self.brands[number % Self.brands.count]
    let suburb = Self.suburbs[number / 7 % Self.suburbs.count]
    let street = Self.streets[number / 3 % Self.streets.count]
    return Array(
      ("\(brand) \(suburb) \(number),\"\(number + 1) \(street), \(suburb) NSW \(2_000 + number % 800)\","
        + "\(suburb),\(2_000 + number % 800),\(brand),").utf8)
  }

  /// Returns the file of one month. Its rows are in order of time, as in the real files.
  private func file(
    of month: Month, rows: Int, _ heads: [[UInt8]], _ prices: inout [Int], _ random: inout Random
  ) -> [UInt8] {
    var bytes = Array(
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n".utf8)
    bytes.reserveCapacity(rows * 110)
    let days = Month(number: month.number + 1).firstDay.sinceEpoch - month.firstDay.sinceEpoch
    for row in 0..<rows {
      let pair = random.integer(0...(prices.count - 1))
      prices[pair] = min(2_400, max(1_000, prices[pair] + random.integer(-6...6) * 10))
      bytes += heads[pair / Self.codes.count]
      bytes += Self.codes[pair % Self.codes.count]
      let second = Int(Double(row) / Double(rows) * Double(days * 86_400))
      append(second: second, of: month, to: &bytes)
      bytes.append(UInt8(ascii: ","))
      append(pad: (prices[pair] / 10, 1), to: &bytes)
      bytes.append(UInt8(ascii: "."))
      append(pad: (prices[pair] % 10, 1), to: &bytes)
      bytes.append(0x0A)
    }
    return bytes
  }

  /// Appends a local time. On one day of the year Sydney's clocks skip the hour from 02:00 to
  /// 03:00, so the seconds of every day are spread over the other hours.
  private func append(second: Int, of month: Month, to bytes: inout [UInt8]) {
    let ofDay = second % 86_400 * 23 / 24
    let hour = ofDay / 3_600
    append(pad: (month.firstDay.year, 4), to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    append(pad: (month.firstDay.month, 2), to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    append(pad: (second / 86_400 + 1, 2), to: &bytes)
    bytes.append(UInt8(ascii: " "))
    append(pad: (hour < 2 ? hour : hour + 1, 2), to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(pad: (ofDay / 60 % 60, 2), to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    append(pad: (ofDay % 60, 2), to: &bytes)
  }

  private func append(pad: (value: Int, width: Int), to bytes: inout [UInt8]) {
    let digits = Array(String(pad.value).utf8)
    for _ in 0..<max(0, pad.width - digits.count) { bytes.append(UInt8(ascii: "0")) }
    bytes += digits
  }
}
