import FuelModel
import Testing

@testable import Report

/// The band below a chart that shows what the market was doing.
struct StateBandTests {
  private func band(_ states: [String]) throws -> StateBand {
    let first = try #require(Day(year: 2026, month: 9, day: 1))
    let days = states.indices.map { first + $0 }
    let known = zip(days, states).filter { !$0.1.isEmpty }
    return StateBand(days: days, states: Dictionary(uniqueKeysWithValues: known))
  }

  /// Each run of days with one state is one shape below its days, with words. A day without
  /// a state is left empty and ends a run.
  @Test func eachRunIsAShapeWithWords() throws {
    let states = [
      "falling", "falling", "falling", "near_low", "", "rising", "rising", "near_high", "shock",
      "quiet", "quiet",
    ]
    // The line of a chart of this width has a point every 4 units, from 40 on.
    let drawn = try band(states).drawing(width: 134).text
    #expect(drawn.matches(of: /<polygon/).count == 6)
    for shape in [
      "<polygon class=\"falling\" points=\"38.5,1 49.5,13 38.5,13\"><title>falling 1 Sep to 3 Sep</title>",
      "<polygon class=\"near_low\" points=\"50.5,8 53.5,8 53.5,13 50.5,13\"><title>near the low on 4 Sep</title>",
      "<polygon class=\"rising\" points=\"58.5,13 65.5,1 65.5,13\">",
      "role=\"img\" aria-label=\"What the market was doing: falling 1 Sep to 3 Sep; near the low on 4 Sep; "
        + "rising 6 Sep to 7 Sep; near the high on 8 Sep; out of its usual range on 9 Sep; "
        + "quiet 10 Sep to 11 Sep\"",
    ] { #expect(drawn.contains(shape), "\(shape)") }
    let legend = try band(["rising", "quiet"]).legend().text
    #expect(legend.contains("</svg>rising</li>") && legend.contains("</svg>quiet</li>"))
    #expect(!legend.contains("falling"))
  }

  /// Nothing is drawn where no state is known.
  @Test func nothingKnownIsNotDrawn() throws {
    #expect(try band(["", ""]).drawing(width: 840).text == "")
    #expect(try band([]).legend().text == "")
  }
}
