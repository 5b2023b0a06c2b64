import Glibc

/// Maps bytes to numbers: it finds the number of a station or a fuel by its raw text, without a
/// `String`.
struct ByteTable {
  private struct Slot {
    var hash: UInt64 = 0
    /// Where the text begins in `texts`.
    var start: Int32 = 0
    var count: Int32 = 0
    var value: Int32 = 0
    var isTaken = false
  }

  private var slots = [Slot](repeating: Slot(), count: 1_024)
  private var texts: [UInt8] = []
  private(set) var count = 0

  /// Returns the number of a text; `nil` where it has none.
  func value(of text: UnsafeBufferPointer<UInt8>) -> Int32? {
    let hash = Self.hash(text)
    var position = Int(truncatingIfNeeded: hash) & (slots.count - 1)
    return slots.withUnsafeBufferPointer { slots in
      while slots[position].isTaken {
        if slots[position].hash == hash, equals(slots[position], text) {
          return slots[position].value
        }
        position = (position + 1) & (slots.count - 1)
      }
      return nil
    }
  }

  /// Assigns a number to a text that has none.
  mutating func insert(_ text: UnsafeBufferPointer<UInt8>, _ value: Int32) {
    if count * 2 >= slots.count { grow() }
    let start = Int32(texts.count)
    texts.append(contentsOf: text)
    place(
      Slot(
        hash: Self.hash(text), start: start, count: Int32(text.count), value: value, isTaken: true))
    count += 1
  }

  private mutating func place(_ slot: Slot) {
    var position = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
    while slots[position].isTaken { position = (position + 1) & (slots.count - 1) }
    slots[position] = slot
  }

  private mutating func grow() {
    let old = slots
    slots = [Slot](repeating: Slot(), count: old.count * 2)
    for slot in old where slot.isTaken { place(slot) }
  }

  private func equals(_ slot: Slot, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard Int(slot.count) == text.count else { return false }
    guard let wanted = text.baseAddress else { return true }
    return texts.withUnsafeBufferPointer { texts in
      guard let known = texts.baseAddress else { return false }
      return memcmp(known + Int(slot.start), wanted, text.count) == 0
    }
  }

  /// Hashes eight bytes at a time by multiplication and folding. `equals` distinguishes texts whose
  /// hashes are equal.
  private static func hash(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var hash: UInt64 = 0x9E37_79B9_7F4A_7C15 ^ UInt64(text.count)
    guard let base = UnsafeRawPointer(text.baseAddress) else { return hash }
    var position = 0
    while position + 8 <= text.count {
      hash = mixed(hash ^ base.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      position += 8
    }
    var rest: UInt64 = 0
    while position < text.count {
      rest = rest << 8 | UInt64(text[position])
      position += 1
    }
    return mixed(hash ^ rest)
  }

  @inline(__always) private static func mixed(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0xA076_1D64_78BD_642F)
    return product.high ^ product.low
  }
}
