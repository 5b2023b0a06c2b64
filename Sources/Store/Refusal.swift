package import Timeline

/// The documents as a whole contradict what is known so much that nothing from them is stored.
package struct Refusal: Error, Equatable, CustomStringConvertible {
  package let description: String
  /// The composition of the refused list; `nil` where something else was refused.
  package let list: ListSummary?

  package init(_ description: String, list: ListSummary? = nil) {
    self.description = description
    self.list = list
  }

  package static func == (left: Refusal, right: Refusal) -> Bool {
    left.description == right.description
  }
}
