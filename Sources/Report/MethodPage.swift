import Views

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
      <p>The mean over stations of the price in effect. Prices that are too old to be believed, doubtful or for \
      members only are left out. Averages over several states also leave out prices that are published a day late. \
      With fewer than three stations there is no average.</p>
      <h2>Daily average</h2>
      <p>The mean over stations of each station's prices through the local day, weighted by how long they held. In \
      Western Australia the price day runs from 06:00 to 06:00. A day without enough stations is a gap.</p>
      <h2>Should you fill up?</h2>
      <p>Where tomorrow's prices are published and clearly differ from today's, they decide. Elsewhere the habit with \
      the best recent record decides: waiting while the price falls from day to day or a rise has nearly stopped, \
      waiting while the last days point down, or buying on the cheapest weekday. If following the advice has saved next \
      to nothing lately, the advice is that the day makes no difference. The chance of a lower price is computed \
      separately and does not decide; where it contradicts the habit, the advice says so.</p>
      <h2>How it is scored</h2>
      <p>The advice of each day uses only what was known on that day. The saving of a driver who can wait some days and \
      follows the advice is compared with that of perfect timing, which knows the future. The table shows the share \
      that the advice reached, good or bad. “Best habit” is the share of the best simple habit that needs no advice, \
      such as always buying on the cheapest weekday.</p>
      </div>
      <h2>How good the advice was</h2>
      <div class="panel">
      \(regions.isEmpty
        ? "<p class=\"empty\">Not scored yet: scoring needs some months of history.</p>\n" as HTML
        : scores(regions))</div>
      """)
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
