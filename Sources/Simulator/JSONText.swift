import FuelModel

/// A JSON string literal.
func quoted(_ text: String) -> String { text.asJSONLiteral }

/// A JSON object of values that are JSON already, in the given order.
func jsonObject(_ fields: KeyValuePairs<String, String>) -> String {
  "{" + fields.map { "\(quoted($0.key)):\($0.value)" }.joined(separator: ",") + "}"
}

/// A JSON list of elements that are JSON already.
func jsonList(_ elements: [String]) -> String {
  "[" + elements.joined(separator: ",") + "]"
}

/// Cents per litre as a JSON number, without a decimal that says nothing: `189.9`, `189`.
func centsText(_ tenths: Int) -> String {
  tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
}

/// A number with leading zeros.
func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

/// XML text that may stand between tags.
func escapedXML(_ text: String) -> String {
  text.escaping { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] }
}

/// HTML text that may stand in an attribute, whichever quotes it has.
func escapedAttribute(_ text: String) -> String {
  escapedXML(text).escaping { ["\"": "&quot;", "'": "&#39;"][$0] }
}
