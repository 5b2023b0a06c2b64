import CVersion

/// The version of this program.
enum Version {
  static let number = "0.5.0"
  static let commit = String(cString: bowser_commit())
}
