import FuelModel

/// A JSON string literal.
func quoted(_ text: String) -> String { text.asJSONLiteral }

/// A JSON object with fields in the given order. The values are already JSON.
func jsonObject(_ fields: KeyValuePairs<String, String>) -> String {
  "{" + fields.map { "\(quoted($0.key)):\($0.value)" }.joined(separator: ",") + "}"
}

/// A JSON list. The elements are already JSON.
func jsonList(_ elements: [String]) -> String {
  "[" + elements.joined(separator: ",") + "]"
}

/// Cents per litre as a JSON number, without a decimal of zero: `189.9`, `189`.
func centsText(_ tenths: Int) -> String {
  tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
}

/// Text escaped for use between XML tags.
func escapedXML(_ text: String) -> String {
  text.escaping { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] }
}

/// Text escaped for an HTML attribute in single or double quotes.
func escapedAttribute(_ text: String) -> String {
  escapedXML(text).escaping { ["\"": "&quot;", "'": "&#39;"][$0] }
}
