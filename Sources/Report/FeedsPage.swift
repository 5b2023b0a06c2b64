import FuelModel
import Views

extension Report {
  /// The health of each feed, and who owns its data.
  func feedsPage() -> HTML {
    let aggregated: HTML =
      market.pipeline.aggregatedAt.map { instant in
        "Averages and verdicts were last updated at \(localTime(instant, nil))."
          as HTML
      } ?? "Averages and verdicts have not been computed yet."
    return page(
      "Feeds", path: "feeds.html",
      """
      <h1>Feed health</h1>
      <p class="lead">\(aggregated)</p>
      <div class="panel">
      \(table(
        "Feeds",
        [
          ("Feed", false), ("Status", false), ("Last good read", false), ("Newest price", false),
          ("Stations", true), ("Prices", true),
        ],
        market.feeds.map(row)))</div>
      <p class="note">Times are \(clockName(of: nil)). A feed is failing after two bad runs, late if no run was good for twice \
      its interval, and stale if its prices are too old to be believed or its lists have stopped changing. The newest \
      price may lie ahead: Western Australia publishes tomorrow's.</p>
      <h2>Whose data these are</h2>
      <div class="panel">
      \(table(
        "Licences", [("Feed", false), ("Attribution", false), ("Licence", false)],
        market.feeds.map { feed in
          """
          <tr><th scope="row">\(feed.feed)</th><td>\(feed.attribution)</td><td>\(feed.licence ?? "not read yet")</td></tr>

          """
        }))</div>

      """)
  }

  private func row(_ feed: FeedHealth) -> HTML {
    let mark = ["ok": "ok", "off": "same"][feed.status] ?? "bad"
    let why: HTML = feed.why.map { "<br><span class=\"unit\">\($0)</span>" as HTML } ?? ""
    return """
      <tr><th scope="row">\(feed.feed)</th><td><span class="\(mark)">\(feed.status)</span>\(why)</td>\
      <td>\(feed.lastSuccess.map { Words.time($0, zone(of: nil)) } ?? "never")</td>\
      <td>\(feed.newestPrice.map { Words.time($0, zone(of: nil)) } ?? "none")</td>\
      <td class="number">\(feed.stations)</td><td class="number">\(feed.prices)</td></tr>

      """
  }
}
