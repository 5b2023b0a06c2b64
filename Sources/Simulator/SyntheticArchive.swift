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
  private static let fuels: [Fuel] = [.u91, .e10, .p95, .p98, .dl, .pdl, .lpg]
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
    var prices = (0..<stations * Self.fuels.count).map { _ in random.integer(1_400...1_900) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return try (0..<months).map { offset in
      let month = Month(number: firstMonth.number + Int32(offset))
      let path = "\(folder)/price_history_\(month).csv"
      let text = file(of: month, rows: rowsPerMonth, heads, &prices, &random)
      try Data(text.utf8).write(to: URL(filePath: path))
      return path
    }
  }

  /// Returns the fields with which every row of a station begins.
  private func head(_ number: Int) -> String {
    let brand = Self.brands[number % Self.brands.count]
    let suburb = Self.suburbs[number / 7 % Self.suburbs.count]
    let street = Self.streets[number / 3 % Self.streets.count]
    return
      "\(brand) \(suburb) \(number),\"\(number + 1) \(street), \(suburb) NSW \(2_000 + number % 800)\","
      + "\(suburb),\(2_000 + number % 800),\(brand),"
  }

  /// Returns the file of one month. Its rows are in order of time, as in the real files.
  private func file(
    of month: Month, rows: Int, _ heads: [String], _ prices: inout [Int], _ random: inout Random
  ) -> String {
    var text = "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    let first = month.firstDay
    let days = Month(number: month.number + 1).firstDay.sinceEpoch - first.sinceEpoch
    for row in 0..<rows {
      let pair = random.integer(0...(prices.count - 1))
      prices[pair] = min(2_400, max(1_000, prices[pair] + random.integer(-6...6) * 10))
      let fuel = Self.fuels[pair % Self.fuels.count].rawValue
      let second = Int(Double(row) / Double(rows) * Double(days * 86_400))
      // On one day of the year Sydney's clocks skip the hour from 02:00 to 03:00, so the seconds of
      // every day are spread over the other hours.
      let ofDay = second % 86_400 * 23 / 24
      let hour = ofDay / 3_600 < 2 ? ofDay / 3_600 : ofDay / 3_600 + 1
      text += heads[pair / Self.fuels.count] + "\(fuel),\(first + second / 86_400) "
      text += "\(pad(hour)):\(pad(ofDay / 60 % 60)):\(pad(ofDay % 60)),"
      text += "\(prices[pair] / 10).\(prices[pair] % 10)\n"
    }
    return text
  }
}
