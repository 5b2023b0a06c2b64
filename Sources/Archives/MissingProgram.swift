import Glibc

/// A program that reads files for this one and is not there. It is no fault of any file.
package struct MissingProgram: Error, CustomStringConvertible {
  /// The programs that loads of archives and of kept answers start, and their packages.
  private static let packages = ["b2sum": "coreutils", "gzip": "gzip", "unzip": "unzip"]

  package let name: String

  init(name: String) { self.name = name }

  /// - Parameter name: a name that another process sent; `nil` unless it is one of those programs.
  package init?(known name: String) {
    guard Self.packages[name] != nil else { return nil }
    self.name = name
  }

  package var description: String {
    "\(name) is not installed, or not on PATH, and bowser backfill needs it: "
      + "apt install \(Self.packages[name] ?? name)"
  }

  /// Whether a program could not be started because there is none.
  static func means(_ status: Int32) -> Bool { [ENOENT, EACCES, ENOTDIR].contains(status) }

  /// Returns those of the programs that are in no folder of a PATH.
  package static func all(on path: String) -> [MissingProgram] {
    packages.keys.sorted().filter { name in
      !path.split(separator: ":").contains { access("\($0)/\(name)", X_OK) == 0 }
    }.map { MissingProgram(name: $0) }
  }
}
