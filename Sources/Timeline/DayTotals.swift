/// The totals of a region's stations for one day: exact sums, and the station means around each
/// published rank.
///
/// One station's day can be taken out and another put in without reading the days of the others,
/// because the sums are whole numbers and each such change moves a median by one place at most.
/// After too many changes the day has to be made from all stations again.
package struct DayTotals: Sendable, Equatable {
  /// The number of stations that have a mean.
  package private(set) var count = 0
  /// The sum of the stations' means, in 65,536ths of a tenth of a cent.
  package private(set) var total: Int64 = 0
  /// The sum of the shares of these stations' days for which a price is believed, in 65,536ths of a
  /// day.
  package var covered: Int64 = 0
  /// The numbers of stations left out: with prices that are too old, with doubtful prices only, and
  /// open to members only.
  package var stale: Int32 = 0
  package var flagged: Int32 = 0
  package var restricted: Int32 = 0
  /// The number of stations from which a price is expected.
  package var expected: Int32 = 0
  private var ranks: [Ranks]

  /// Consecutive means in ascending order. The first of them has the rank `first` among all means.
  private struct Ranks: Sendable, Equatable {
    var first: Int
    var means: [Int32]
  }

  /// The published ranks as shares of the means below them: lowest, lower quartile, median and
  /// highest.
  private static let shares = [0, 0.25, 0.5, 1]
  /// The number of means kept on either side of a rank.
  private static let reach = 6

  /// Makes the totals of some means. Everything else is 0.
  ///
  /// - Parameter means: in ascending order.
  package init(of means: [Int32]) {
    count = means.count
    total = means.reduce(0) { $0 + Int64($1) }
    ranks = Self.shares.map { share in
      let (first, last) = Self.kept(share, of: means.count)
      return Ranks(first: first, means: first > last ? [] : Array(means[first...last]))
    }
  }

  /// Makes the totals of some means when everything else has been counted already.
  init(of means: [Int32], counts: DayTotals, expected: Int) {
    self.init(of: means)
    covered = counts.covered
    (stale, flagged, restricted) = (counts.stale, counts.flagged, counts.restricted)
    self.expected = Int32(expected)
  }

  private static func kept(_ share: Double, of count: Int) -> (first: Int, last: Int) {
    let index = Int(share * Double(count - 1))
    return (max(0, index - reach), min(count - 1, index + 1 + reach))
  }

  package var lowest: Int32? { at(0).map { Int32($0) } }
  package var quarter: Double? { at(1) }
  package var median: Double? { at(2) }
  package var highest: Int32? { at(3).map { Int32($0) } }

  /// Returns the value at a published rank, interpolated between its two neighbours as PostgreSQL's
  /// `percentile_cont` does.
  ///
  /// - Returns: `nil` where the means around the rank are not kept.
  private func at(_ position: Int) -> Double? {
    let rank = Self.shares[position] * Double(count - 1)
    let low = Int(rank)
    let part = rank - Double(low)
    let known = ranks[position]
    guard low >= known.first, low - known.first < known.means.count else { return nil }
    let mean = Double(known.means[low - known.first])
    if part == 0 { return mean }
    guard low + 1 - known.first < known.means.count else { return nil }
    return mean + part * (Double(known.means[low + 1 - known.first]) - mean)
  }

  /// Counts everything about a station's day except its mean.
  ///
  /// - Parameters:
  ///   - share: the share of the day for which a price is believed, in 65,536ths.
  ///   - isPublic: whether anybody may buy there.
  ///   - by: 1 to count the day, -1 to take it back.
  mutating func count(_ day: StationDay, share: Int64, isPublic: Bool, by sign: Int32) {
    switch day.standing {
    case .known where isPublic: covered += Int64(sign) * share
    case .known: restricted += sign
    case .doubtful where isPublic: flagged += sign
    case .stale where isPublic: stale += sign
    default: break
    }
  }

  /// Adds the mean of one more station.
  package mutating func put(_ mean: Int32) {
    for position in ranks.indices {
      guard let first = ranks[position].means.first, let last = ranks[position].means.last else {
        // No means are kept for this rank. Only the first mean of all can start it.
        if count == 0 { ranks[position] = Ranks(first: 0, means: [mean]) }
        continue
      }
      let isAtEnd = ranks[position].first + ranks[position].means.count == count
      if mean < first, ranks[position].first > 0 {
        ranks[position].first += 1
      } else if mean <= last || isAtEnd {
        let index = ranks[position].means.firstIndex { $0 > mean } ?? ranks[position].means.endIndex
        ranks[position].means.insert(mean, at: index)
      }
    }
    count += 1
    total += Int64(mean)
  }

  /// Removes the mean of a station that was counted before.
  package mutating func take(_ mean: Int32) {
    for position in ranks.indices {
      guard let first = ranks[position].means.first, let last = ranks[position].means.last else {
        continue
      }
      if mean < first {
        ranks[position].first -= 1
      } else if mean <= last {
        guard let index = ranks[position].means.firstIndex(of: mean) else {
          // This mean was never counted, so the means kept for this rank are wrong.
          ranks[position].means = []
          continue
        }
        ranks[position].means.remove(at: index)
      }
    }
    count -= 1
    total -= Int64(mean)
  }

  // MARK: As bytes

  /// The totals as they are stored: all numbers in sequence, little-endian. Of each rank only the
  /// means it needs are written.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(44 + ranks.count * (8 + 4 * (2 * Self.reach + 2)))
    func write(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    write(Int32(count))
    write(total)
    write(covered)
    for value in [stale, flagged, restricted, expected] { write(value) }
    for (rank, share) in zip(ranks, Self.shares) {
      let (first, last) = Self.kept(share, of: count)
      let from = max(0, first - rank.first)
      let until = min(rank.means.count, last - rank.first + 1)
      let means = from < until ? rank.means[from..<until] : []
      write(Int32(rank.first + from))
      write(Int32(means.count))
      for mean in means { write(mean) }
    }
    return bytes
  }

  /// Reads totals from their stored bytes.
  ///
  /// - Returns: `nil` where the bytes are not totals.
  package init?(bytes: UnsafeRawBufferPointer) {
    var offset = 0
    func read<Number: FixedWidthInteger>(_: Number.Type) -> Number? {
      let size = MemoryLayout<Number>.size
      guard offset + size <= bytes.count else { return nil }
      defer { offset += size }
      return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
    }
    guard let count = read(Int32.self), let total = read(Int64.self),
      let covered = read(Int64.self), let stale = read(Int32.self), let flagged = read(Int32.self),
      let restricted = read(Int32.self), let expected = read(Int32.self), count >= 0
    else { return nil }
    ranks = []
    ranks.reserveCapacity(Self.shares.count)
    for _ in Self.shares {
      guard let first = read(Int32.self), let kept = read(Int32.self), kept >= 0,
        offset + 4 * Int(kept) <= bytes.count
      else { return nil }
      let means = (0..<Int(kept)).map { number in
        Int32(
          littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4 * number, as: Int32.self))
      }
      offset += 4 * Int(kept)
      ranks.append(Ranks(first: Int(first), means: means))
    }
    guard offset == bytes.count else { return nil }
    (self.count, self.total, self.covered) = (Int(count), total, covered)
    (self.stale, self.flagged, self.restricted, self.expected) = (
      stale, flagged, restricted, expected
    )
  }
}
