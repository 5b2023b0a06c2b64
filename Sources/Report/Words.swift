import FuelModel
import Views

/// Formats numbers and instants for readers.
package enum Words {
  /// Cents per litre with one decimal.
  static func cents(_ value: Double?) -> String {
    value.map { Cents.text($0, minus: "−") } ?? "·"
  }

  /// A coordinate of a drawing, with one decimal at most.
  static func coordinate(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return tenths % 10 == 0
      ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }

  /// A share as whole percent.
  static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  static func date(_ day: Day) -> String { "\(day.day) \(months[day.month - 1])" }

  static func month(_ day: Day) -> String { months[day.month - 1] }

  static func dateWithYear(_ day: Day) -> String { "\(date(day)) \(day.year)" }

  /// An instant in a zone's local time, such as `22 Nov, 14:05`.
  static func time(_ instant: Instant, _ zone: Zone) -> String {
    let (day, seconds) = zone.local(instant)
    let minutes = seconds / 60 % 60
    return "\(date(day)), \(seconds / 3_600):\(minutes < 10 ? "0" : "")\(minutes)"
  }

  private static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

  /// A day of this week or the next, such as `Mon 30 Nov`.
  static func weekday(_ day: Day) -> String { "\(weekdays[day.weekday]) \(date(day))" }

  /// When something begins that begins soon, such as `tomorrow from 6:00`.
  static func begin(_ instant: Instant, _ zone: Zone, now: Instant) -> String {
    let (day, today) = (zone.local(instant).day, zone.local(now).day)
    let clock = time(instant, zone).split(separator: " ").last ?? ""
    let word = day == today ? "today" : day == today + 1 ? "tomorrow" : weekday(day)
    return clock == "0:00" ? word : "\(word) from \(clock)"
  }

  /// The name of a region inside a sentence: `Perth`, `the rest of Victoria`.
  static func place(_ name: String) -> String {
    if name.hasPrefix("Rest of ") { return "the r" + name.dropFirst() }
    return name.hasSuffix(" Territory") ? "the " + name : name
  }

  /// A name with a capital first letter.
  package static func title(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// What a market is doing, or `nil` if that is nothing worth mentioning.
  static func state(_ state: String) -> String? {
    switch state {
    case "falling": "Falling"
    case "near_low": "Near the low"
    case "rising": "Rising"
    case "near_high": "Near the high"
    case "shock": "Out of its usual range"
    default: nil
    }
  }

  /// How many stations get dearer or cheaper by the prices published ahead.
  static func stations(_ next: MarketReport.Tomorrow) -> String {
    let counts = [
      (next.dearer, "gets dearer", "get dearer"), (next.cheaper, "gets cheaper", "get cheaper"),
      (next.same, "stays the same", "stay the same"),
    ].filter { $0.0 > 0 }
    return counts.enumerated().map { index, count in
      let noun = index > 0 ? "" : count.0 == 1 ? " station" : " stations"
      return "\(count.0)\(noun) \(count.0 == 1 ? count.1 : count.2)"
    }.joined(separator: ", ")
  }

  /// A verdict in one or two words. What is not known yet is not the same as the knowledge that there
  /// is no difference.
  static func verdict(_ verdict: String, _ basis: String) -> String {
    switch verdict {
    case _ where basis == "insufficient_data": "Not known yet"
    case "fill_up": "Fill up"
    case "wait": "Wait"
    default: "No difference"
    }
  }
}
