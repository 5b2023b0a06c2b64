import FuelModel

/// The batches in which facts leave the reader.
extension Engine {
  mutating func batch(isFirst: Bool, isLast: Bool, bytes: Int) -> ArchiveBatch {
    var batch = ArchiveBatch(file: file, isFirst: isFirst, isLast: isLast)
    noteDays()
    for (month, facts, days) in months {
      batch.months[Month(number: month)] = distinct(facts, &batch)
      for (description, days) in days.enumerated() where days != 0 {
        batch.sightings.append(
          .init(stationDescription: description, month: Month(number: month), days: days))
      }
    }
    // New descriptions of a refused file are part of the next batch, so that the numbers stay the
    // same.
    batch.newDescriptions = newDescriptions
    newDescriptions = []
    batch.rejects += rejects
    batch.received = receivedInBatch
    batch.bytes = bytes
    batch.warnings = warnings
    warnings = []
    clearBatch()
    return batch
  }

  /// Returns facts grouped by station record and sorted by key; each key occurs once. Where one
  /// station and fuel has several prices in one second, the last one in the file is kept, because
  /// corrections follow what they correct. The other prices become rejects.
  private func distinct(_ facts: [ArchiveFact], _ batch: inout ArchiveBatch) -> [ArchiveFact] {
    var sorted = facts.sorted { ($0.key, $0.position) < ($1.key, $1.position) }
    var kept = 0
    var begin = 0
    while begin < sorted.count {
      var end = begin + 1
      while end < sorted.count, sorted[end].key == sorted[begin].key { end += 1 }
      let last = sorted[end - 1]
      if end - begin > 1 {
        // Each different price was corrected and becomes a reject; the rest are repetitions.
        let others = Set(sorted[begin..<end].map(\.tenths)).subtracting([last.tenths]).sorted()
        batch.duplicates += end - begin - 1 - others.count
        for tenths in others {
          let fuel = Fuel.allCases.first { $0.id == last.fuel }
          let observation = Observation(
            stationCode: codes[last.record], fuel: fuel ?? .unmapped("?"),
            price: Price(tenths: Int(tenths)), effectiveAt: last.effectiveAt)
          batch.rejects.append(Reject(.conflictingPrice, raw: observation.asText))
        }
      }
      sorted[kept] = last
      kept += 1
      begin = end
    }
    sorted.removeLast(sorted.count - kept)
    return sorted
  }
}

/// What the days of a whole file show.
extension Engine {
  /// Checks the end of a text file, or of one sheet of a workbook.
  mutating func endFile() throws {
    guard isHeaderFound else { throw unknownLayout() }
    if encoding.isWindows1252 {
      warnings.append("not in UTF-8, so read as Windows-1252")
    }
    noteDays()
    try checkDays()
  }

  mutating func noteDays() {
    for (month, _, days) in months { daysOfMonth[month, default: 0] |= days.reduce(0, |) }
  }

  /// Detects files in which day and month are exchanged. Some exports exchange them where both are
  /// below 13. A file of one month then has rows in up to twelve months, all on the same day of the
  /// month. Files of the Northern Territory also have a day of each month beside their own.
  ///
  /// - Throws: `ArchiveRefusal` for such a file.
  private func checkDays() throws {
    // Months with rows on days from 13 to 31, which cannot result from an exchange.
    let proof = daysOfMonth.filter { $0.value & ~0xFFF != 0 }
    let others = daysOfMonth.filter { $0.value & ~0xFFF == 0 }
    guard others.count >= 2 else { return }
    let common = others.values.reduce(~0, &)
    let days = others.values.reduce(0) { $0 + $1.nonzeroBitCount }
    guard common.nonzeroBitCount == 1, days <= others.count + 1 else { return }
    let number = common.trailingZeroBitCount + 1
    if proof.isEmpty || proof.keys.contains(where: { Int($0 % 12) + 1 == number }) {
      throw refusal(
        "day and month are swapped: \(others.count) months have rows on day \(number) alone; "
          + "expected the original file, not a portal's export")
    }
  }
}
