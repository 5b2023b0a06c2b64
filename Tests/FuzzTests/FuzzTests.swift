import Foundation
import Fuzzing
import Testing

/// Does for a second each what `make fuzz` does for minutes. A fault ends the process, so the last
/// test that began names the target.
@Suite struct FuzzTests {
  @Test(arguments: FuzzTarget.allCases) func whateverComesIsAnEnd(target: FuzzTarget) async {
    var taken = 0
    let seeds = target.seeds
    for (number, seed) in seeds.enumerated() {
      let isTaken = await target.run(seed)
      #expect(isTaken, "sound input \(number) of \(target.rawValue) is not taken")
    }
    for number in 0..<target.shortCount {
      var mutation = Mutation(seed: UInt64(number))
      if await target.run(mutation.change(seeds[number % seeds.count])) { taken += 1 }
    }
    // Some changed inputs must still be accepted, otherwise they tried little.
    #expect(taken > 0, "\(target.rawValue)")
  }

  /// F-N41, F-N44: inputs that once broke a reader, or took a path of their own through it, are
  /// tried again.
  @Test(arguments: FuzzTarget.allCases) func whatWasKeptIsAnEnd(target: FuzzTarget) async throws {
    for file in try target.corpus() { await target.run([UInt8](try Data(contentsOf: file))) }
  }
}
