// Runs one target of Tests/Fuzzing, as `make fuzz` does: libFuzzer, with which it builds the
// program, searches for inputs that reach new code.

import Foundation
import Fuzzing
import Glibc

nonisolated(unsafe) private var target = FuzzTarget.text

@_cdecl("bowser_fuzz_one")
func one(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let target = target
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    await target.run(bytes)
    done.signal()
  }
  done.wait()
  return 0
}

let words = CommandLine.arguments
guard words.count > 1, let chosen = FuzzTarget(rawValue: words[1]) else {
  print(FuzzTarget.allCases.map(\.rawValue).joined(separator: "\n"))
  exit(words.count > 1 ? 64 : 0)
}
target = chosen
if words.count > 3, words[2] == "seeds" {
  // The corpus begins with valid inputs.
  for (index, seed) in chosen.seeds.enumerated() {
    try Data(seed).write(to: URL(filePath: "\(words[3])/sound-\(index)"))
  }
  exit(0)
}
typealias Run =
  @convention(c) (
    UnsafeMutablePointer<CInt>,
    UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
  ) -> CInt
guard let driver = dlsym(nil, "LLVMFuzzerRunDriver") else {
  print("built without libFuzzer: make fuzz")
  exit(69)
}
var arguments: [UnsafeMutablePointer<CChar>?] = ([words[0]] + words.dropFirst(2)).map { strdup($0) }
var count = CInt(arguments.count)
arguments.append(nil)
let status = arguments.withUnsafeMutableBufferPointer { buffer in
  var pointer = buffer.baseAddress
  return withUnsafeMutablePointer(to: &pointer) {
    unsafeBitCast(driver, to: Run.self)(&count, $0, one)
  }
}
exit(status)
