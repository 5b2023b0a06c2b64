import CVersion

/// The version of this program.
enum Version {
  static let number = "0.5.0"
  /// The day of the release, which the manual names.
  static let releasedOn = "November 22, 2026"
  static let commit = String(cString: bowser_commit())
}
