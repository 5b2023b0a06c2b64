import CVersion

/// Which program this is.
enum Version {
  static let number = "0.5.0"
  /// When it was released: the date of the manual.
  static let releasedOn = "November 22, 2026"
  static let commit = String(cString: bowser_commit())
}
