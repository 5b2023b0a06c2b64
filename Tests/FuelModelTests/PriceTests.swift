import FuelModel
import Testing

struct PriceTests {
  @Test(arguments: [
    ("189.9", 1899), ("189", 1890), ("189.90", 1899), ("60.0", 600), ("450.0", 4500), ("0.1", 1),
  ])
  func readsCentsExactly(text: String, tenths: Int) {
    #expect(Price(centsPerLitre: text)?.tenths == Int32(tenths))
  }

  /// F-V01, F-V08, F-V09, F-C05: a price is neither guessed nor rounded.
  @Test(arguments: [
    "", "0", "0.0", "-1", "-0", "+189.9", "189.95", "184.949", "1,899", "189.9abc", "nan", "NaN",
    "Infinity", "0x10", "1e3", "189.", ".9", " 189.9", "１８９.９", "9999999999999999", "N/A", "-",
    "$1.899",
  ])
  func refusesWhatIsNoPrice(text: String) {
    #expect(Price(centsPerLitre: text) == nil)
  }

  @Test func readsTenthsAsTheyStandOnTheWire() {
    #expect(Price(tenthsText: "1849")?.centsPerLitre == "184.9")
    #expect(Price(tenthsText: "1849.0")?.centsPerLitre == "184.9")
    #expect(Price(tenthsText: "1849.5") == nil)
    #expect(Price(tenths: 0) == nil)
  }

  @Test func everyTenthSurvivesThereAndBack() {
    for tenths in 1...6000 {
      let price = Price(tenths: tenths)
      #expect(price.flatMap { Price(centsPerLitre: $0.centsPerLitre) } == price)
    }
  }
}

/// F-N40: a value of two decimals is shown the same everywhere, and halves are rounded away from
/// zero.
struct CentsTests {
  @Test func halvesGoAwayFromZero() {
    for hundredths in 0...40_000 {
      // Numbers arrive from the views like this, through their text.
      let text = "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
      let value = Double(text)!
      let tenths = (hundredths + 5) / 10
      #expect(Cents.text(value) == "\(tenths / 10).\(tenths % 10)", "\(text)")
      #expect(Cents.tenths(-value) == -tenths)
    }
    #expect(Cents.text(165.45) == "165.5")
    #expect(Cents.text(-0.04) == "0.0")
    #expect(Cents.text(-3.85) == "-3.9")
  }
}
