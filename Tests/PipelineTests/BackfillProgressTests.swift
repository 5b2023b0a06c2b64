import Foundation
import FuelModel
import Logging
import Pipeline
import Postgres
import Store
import Synchronization
import TestDatabase
import Testing

struct BackfillProgressTests {
  /// F-L60: progress counts the files that are read, above and below the line, whatever else their
  /// folder has.
  @Test func progressCountsWhatIsRead() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for number in 0..<100 {
      try Data().write(to: URL(filePath: "\(folder)/\(number).pdf"))
    }
    let header =
      "ServiceStationName,Address,Suburb,Postcode,Brand,FuelCode,PriceUpdatedDate,Price\n"
    for day in 1...3 {
      let row = "A,1 High St,Kiama,2533,X,U91,2025-02-0\(day) 08:00:00,18\(day).9\n"
      try Data((header + row).utf8).write(to: URL(filePath: "\(folder)/\(day).csv"))
    }
    try Data("no archive\n".utf8).write(to: URL(filePath: "\(folder)/4.csv"))
    try await TestDatabase.with { target in
      let steps = Mutex<[String]>([])
      let results = try await Backfill(
        try HistoryOrderTests.archive("nsw"), store: Store(try Connection(target)), decisions: [],
        clock: .system, log: Logger(.error)
      ).run([folder]) { _, done, all in steps.withLock { $0.append("\(done) of \(all)") } }
      #expect(results.count == 4)
      #expect(steps.withLock { $0 } == ["1 of 4", "2 of 4", "3 of 4", "4 of 4"])
    }
  }
}
