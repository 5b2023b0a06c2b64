import CVersion

/// The version of this program.
enum Version {
  static let number = "1.0.0"
  static let commit = String(cString: bowser_commit())
}
