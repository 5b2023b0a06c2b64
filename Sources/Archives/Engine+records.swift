import FuelModel

/// Rows that are no records: sums, averages, notes, and the header again.
extension Engine {
  /// Rejects a row that cannot be read as a record, as what it is.
  mutating func turnAway(_ reason: Reject.Reason, _ record: ArchiveRecord) throws {
    try reject(isNoRecord(record) ? .notARecord : reason, record)
  }

  /// Whether a row that cannot be read is certainly no record. After a header in another order, the
  /// rows below it are read in that order.
  mutating func isNoRecord(_ record: ArchiveRecord) throws -> Bool {
    let isOther = record.fields.count != layout.fieldCount
    // The header's name of the column of times does not begin with a digit.
    let stamp = layout[.stamp]
    let isTime = stamp < record.fields.count && Self.beginsWithDigit(record[stamp])
    if isOther, isTime, try header(in: record) != nil {
      throw refusal(
        "in row \(rows) a second table begins beside the first; move it to a file of its own")
    }
    if !isTime, try findHeader(record) { return true }
    let filled = record.fields.indices.filter { !record[$0].isEmpty }
    let required = format.requiredColumns.map { layout[$0] }
    if !isOther, required.allSatisfy(filled.contains) {
      let telling = [ArchiveFormat.Column.code, .name, .address, .fuel, .stamp]
      return telling.contains { column in
        let index = layout[column]
        return index >= 0 && RowLabel.isLabel(record.text(index))
      }
    }
    // A note, which stands in one cell.
    let prices = [layout[.price]] + layout.fuelColumns.map(\.column)
    if filled.count == 1, layout.fieldCount > 1, !prices.contains(filled[0]) { return true }
    return filled.contains { RowLabel.isLabelOfPart(record.text($0)) }
  }

  private static func beginsWithDigit(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.first.map { (0x30...0x39).contains($0) } ?? false
  }

  // MARK: Printed reports

  /// Whether sheets of this archive may be printed reports: a row of one names its station by what
  /// people call it, and has one fuel.
  var canBeReport: Bool { !format.isWide && !format.hasCodes }

  /// Whether a row of a sheet has a price with a fuel or a stamp, and says nothing of its station.
  func isOfStationAbove(_ record: ArchiveRecord) -> Bool {
    layout.identity.allSatisfy(record.repeatsAbove)
      && isFilled(.price, record) && (isFilled(.fuel, record) || isFilled(.stamp, record))
  }

  private func isFilled(_ column: ArchiveFormat.Column, _ record: ArchiveRecord) -> Bool {
    !record[layout[column]].isEmpty
  }

  /// Returns what a row of a printed report is, by the cells that stand in it and the row above.
  ///
  /// In the reports of New South Wales every record has its own price and most have their own
  /// stamp. One without has its own address with a name or a fuel, or repeats the row above whole.
  func kindInReport(_ record: ArchiveRecord, above: [[UInt8]]) throws -> RowOfReport {
    func has(_ column: ArchiveFormat.Column) -> Bool { isFilled(column, record) }
    let filled = record.fields.indices.filter { !record[$0].isEmpty }
    let price = layout[.price]
    if filled == [price] {
      return price < above.count && record[price].elementsEqual(above[price]) ? .record : .noRecord
    }
    let isNamedOnly = has(.name) && !has(.address)
    // A name or a suburb may contain such a word where a record repeats other cells.
    if isNamedOnly || !has(.stamp) && !has(.address),
      filled.first.map({ RowLabel.isLabelOfPart(record.text($0)) }) ?? false
    {
      return .noRecord
    }
    let isNumber = !has(.price) || Self.beginsWithDigit(record[price])
    if !isNumber, try header(in: record) != nil { return .noRecord }
    let isWhole = has(.stamp) || has(.address) && (has(.name) || has(.fuel))
    return has(.price) && isWhole && !isNamedOnly ? .record : .unclear
  }
}
