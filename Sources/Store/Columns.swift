/// The values of a row by the names of its columns, for `jsonb_populate_record` and for programs. A
/// column without a value is NULL.
package struct Columns: Encodable, ExpressibleByDictionaryLiteral {
  private let values: [(name: String, value: (any Encodable)?)]

  package init(_ values: [(String, (any Encodable)?)]) {
    self.values = values.map { (name: $0.0, value: $0.1) }
  }

  package init(dictionaryLiteral values: (String, (any Encodable)?)...) { self.init(values) }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Name.self)
    for (name, value) in values {
      if let value {
        try object.encode(value, forKey: Name(stringValue: name))
      } else {
        try object.encodeNil(forKey: Name(stringValue: name))
      }
    }
  }
}
