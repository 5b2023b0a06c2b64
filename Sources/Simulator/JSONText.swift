import FuelModel

/// Cents per litre as a JSON number, without a decimal of zero: `189.9`, `189`.
func centsText(_ tenths: Int) -> String {
  tenths % 10 == 0 ? String(tenths / 10) : "\(tenths / 10).\(tenths % 10)"
}

/// A day as `dd/MM/yyyy`.
func dayFirst(_ day: Day) -> String { "\(pad(day.day))/\(pad(day.month))/\(day.year)" }

/// Text escaped for use between XML tags.
func escapedXML(_ text: String) -> String {
  text.escaping { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] }
}

/// Text escaped for an HTML attribute in single or double quotes.
func escapedAttribute(_ text: String) -> String {
  escapedXML(text).escaping { ["\"": "&quot;", "'": "&#39;"][$0] }
}
