package import FuelModel
import Synchronization

/// The stations that the reader of an archive has numbered, with the database's numbers for those
/// that are stored. Loaders that work side by side share one instance.
package final class ArchiveStations: Sendable {
  struct Description {
    var content: ArchiveDescription
    /// The station's number in the database and the digest of the description: 0 and empty until a
    /// file with the description is stored.
    var station: Int32 = 0
    var md5: [UInt8] = []
  }

  struct Known {
    var descriptions: [Description] = []
    /// The station's number in the database, for each record.
    var stationIDs: [Int32] = []

    mutating func learn(_ number: Int, station: Int32, md5: [UInt8]) {
      descriptions[number].station = station
      descriptions[number].md5 = md5
      stationIDs[descriptions[number].content.record] = station
    }
  }

  private let known = Mutex(Known())

  package init() {}

  /// Adds the descriptions that are new in a batch. Batches must come in the reader's order.
  package func number(_ batch: ArchiveBatch) {
    known.withLock { known in
      for description in batch.newDescriptions {
        known.descriptions.append(Description(content: description))
        while known.stationIDs.count <= description.record { known.stationIDs.append(0) }
      }
    }
  }

  var snapshot: Known { known.withLock { $0 } }

  /// Makes what one loader has stored known to all loaders. Call it only after the commit.
  func publish(_ learnt: [(number: Int, station: Int32, md5: [UInt8])]) {
    known.withLock { known in
      for (number, station, md5) in learnt { known.learn(number, station: station, md5: md5) }
    }
  }
}
