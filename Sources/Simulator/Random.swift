/// Pseudo-random numbers (SplitMix64) that are the same for the same seed on every machine.
/// Source: https://prng.di.unimi.it/splitmix64.c
package struct Random: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// Begins a separate stream for one named part of a seed's world, so that an added station does
  /// not change the other stations.
  package init(seed: UInt64, _ names: any CustomStringConvertible...) {
    // FNV-1a over the names.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
    for name in names {
      for byte in "\(name)|".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    state = hash
  }

  /// Returns the next 64 random bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// Returns a number within a range.
  package mutating func real(_ range: ClosedRange<Double>) -> Double {
    let unit = Double(next() >> 11) / 9_007_199_254_740_992
    return range.lowerBound + unit * (range.upperBound - range.lowerBound)
  }

  /// Returns a whole number within a range.
  package mutating func integer(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(next() % UInt64(range.upperBound - range.lowerBound + 1))
  }

  /// Returns true with a probability from 0 to 1.
  package mutating func chance(_ probability: Double) -> Bool { real(0...1) < probability }

  /// Returns one of the elements, each as likely as the others.
  package mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[integer(0...elements.count - 1)]
  }
}
