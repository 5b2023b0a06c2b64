import Store

extension Report {
  /// The meaning of the numbers, and how good the verdicts were.
  func methodPage() -> HTML {
    let regions = market.regions.filter { region in
      market.fuels.contains { market.scores[.init(region.code, $0.code)] != nil }
    }
    return page(
      "Method", path: "method.html",
      """
      <h1>What the numbers mean</h1>
      <div class="panel">
      <h2>Average now</h2>
      <p>The mean over stations of the price in effect. Prices that are too old to believe, doubtful, for members \
      only or of another day are left out. Fewer than three stations make no average.</p>
      <h2>Daily average</h2>
      <p>Over stations, of each station's price through the local day, weighted by how long it held; in Western \
      Australia the price day runs from 06:00 to 06:00. A day without enough stations is a gap.</p>
      <h2>Should you fill up?</h2>
      <p>Where tomorrow's prices are published, they decide. Elsewhere each market's own past does: of a few plain \
      rules (the place in the price cycle, the direction of the last days, the cheapest weekday) the one that \
      would have saved most over the last months speaks, corrected by how likely a fall is today, and only while it \
      saves anything. Where none does, the answer is that it makes no difference, which is an answer.</p>
      <h2>How it is scored</h2>
      <p>Each day is judged by what was known on it. A driver who can wait some days follows the advice; \
      perfect timing would have known the future. The share of perfect timing's saving that the advice reached is \
      given here, good or bad, beside the best of three habits that need no advice: going with the price of the \
      last days, always the cheapest weekday, and comparing with the month's average.</p>
      </div>
      <h2>How good the advice was</h2>
      <div class="panel">
      \(regions.isEmpty
        ? "<p class=\"empty\">Not scored yet: it takes some months of history.</p>\n" as HTML
        : scores(regions))</div>
      \(calibration())
      """)
  }

  /// How likely a fall in price was stated to be, and how often one came.
  private func calibration() -> HTML {
    guard !market.calibration.isEmpty else { return "" }
    return """
      <h2>How often a stated chance came true</h2>
      <div class="panel">
      <p>The chance that it would be a cent cheaper within three days, as it was said, and the share of days on which \
      it was.</p>
      \(table(
        "Chances",
        [("Said", true), ("Came", true), ("Days", true)],
        market.calibration.map { row in
          """
          <tr><th scope="row" class="number">\(Words.percent(row.stated))</th>\
          <td class="number">\(Words.percent(row.real))</td>\
          <td class="number">\(row.days)</td></tr>

          """
        }))</div>

      """
  }

  private func scores(_ regions: [MarketReport.Region]) -> HTML {
    table(
      "Scores",
      [
        ("Region", false), ("Fuel", false), ("Share of perfect", true), ("Best habit", true),
        ("Saved c/L", true),
        ("Perfect c/L", true), ("Days", true), ("Since", false),
      ],
      regions.flatMap { region in
        market.fuels.compactMap { fuel -> HTML? in
          guard let score = market.scores[.init(region.code, fuel.code)] else { return nil }
          return """
            <tr><th scope="row">\(Words.title(region.name))</th><td>\(fuel.code)</td>\
            <td class="number">\(score.capture.map(Words.percent) ?? "·")</td>\
            <td class="number">\(score.bestHabit.map(Words.percent) ?? "·")</td>\
            <td class="number">\(Words.cents(score.saving))</td>\
            <td class="number">\(Words.cents(score.perfect))</td>\
            <td class="number">\(score.windows)</td><td>\(Words.dateWithYear(score.from))</td></tr>

            """
        }
      })
  }
}
