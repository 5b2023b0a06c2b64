/// A named way in which a provider's answer can be wrong.
package struct Fault: Sendable {
  /// The correct answer of a provider.
  package typealias Sound = (status: Int, body: [UInt8], type: String)

  /// The required result of a run whose every answer has the fault. The numbers are exit codes of
  /// bowser.
  package enum Result: Sendable {
    /// No usable answer after all tries, which includes redirects: 69.
    case unavailable
    /// An answer that is not the expected data: 65.
    case refused
    /// The provider asks to be left alone for a while: 75.
    case comeBack
    /// The provider does not accept the key: 77.
    case notAllowed
    /// The run succeeds with the true data. A client must not be stricter than this.
    case harmless
  }

  /// In lower case, with hyphens.
  package let name: String
  /// The entries of the fault catalogue (docs/faults.md) that the fault stands for.
  package let ids: [String]
  package let result: Result
  /// The only format to which the fault applies, `json` or `xml`, or `nil` for any format.
  package let format: String?
  /// Makes the faulty answer from the correct one.
  package let spoil: @Sendable (_ sound: Sound, _ random: inout Random) -> Server.Answer

  package static let all: [Fault] = [
    statuses, waits, pages, redirects, lengths, connections, compressions, sizes, types, encodings,
    jsonTexts, jsonShapes, xmlTexts, xmlDeclarations,
  ].flatMap { $0 }

  /// Returns the fault with a name; `nil` where there is none.
  package static func named(_ name: String) -> Fault? { all.first { $0.name == name } }

  init(
    _ name: String, _ ids: [String], _ result: Result, format: String? = nil,
    spoil: @escaping @Sendable (_ sound: Sound, _ random: inout Random) -> Server.Answer
  ) {
    self.name = name
    self.ids = ids
    self.result = result
    self.format = format
    self.spoil = spoil
  }

  /// A fault of the body only. The rest of the answer is correct.
  static func body(
    _ name: String, _ ids: [String], _ result: Result, format: String? = nil,
    _ change: @escaping @Sendable (_ body: [UInt8], _ random: inout Random) -> [UInt8]
  ) -> Fault {
    Fault(name, ids, result, format: format) { sound, random in
      whole(change(sound.body, &random), type: sound.type)
    }
  }

  /// A fault that replaces the answer with a short text.
  static func text(
    _ name: String, _ ids: [String], _ result: Result, format: String? = nil, status: Int = 200,
    type: String = "application/json", headers: [String: String] = [:], _ text: String = "{}"
  ) -> Fault {
    Fault(name, ids, result, format: format) { _, _ in
      .text(status, text, type: type, headers: headers)
    }
  }
}
