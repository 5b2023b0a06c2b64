import Foundation
import FoundationXML
import FuelModel
import Postgres
import TestDatabase
import Testing

/// The static pages.
extension OutputTests {
  /// F-O09, F-S08: a report shows names as text, whatever they contain, and loads nothing from
  /// other servers.
  @Test func reportsHoldNamesAsText() async throws {
    try await market { target, _ in
      try Connection(target).execute(
        """
        UPDATE fuel.station SET
          name = '<script>alert(1)</script>"''&' || U&'\\202E' || station_id,
          suburb = '<img src=//x.example>';
        UPDATE fuel.station_description SET
          details = jsonb_build_object('phone', CASE station_id % 3
            WHEN 0 THEN '"><script>alert(1)</script> (08) 5550-0001'
            WHEN 1 THEN '(08) 5550-0001 or (08) 5550-0002'
            ELSE '(08) 5550-0003'
          END)
        WHERE details IS NOT NULL
        """)
      let folder = temporary()
      let result = try run(["report", "--out", folder], target)
      #expect(result.code == 0 && result.out.isEmpty && result.err.isEmpty, "\(result)")
      let pages = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
        $0.hasSuffix(".html")
      }
      #expect(pages.count > 10)
      var (named, called, uncalled) = (0, 0, 0)
      for page in pages {
        let text = try String(contentsOfFile: "\(folder)/\(page)", encoding: .utf8)
        let own = text.matches(
          of: /<script src="([.\/]*)site.js" data-home="([.\/]*)" defer><\/script>/)
        #expect(own.count == 1 && own.allSatisfy { $0.1 == $0.2 })
        let rest = text.replacing(/<script src="[.\/]*site.js"/, with: "")
          .replacing(/<script src="[.\/]*read.js" defer>/, with: "")
          .replacing(/https:..www.google.com.maps.search.\?api=1&amp;query=[-0-9.,]+"/, with: "\"")
        for forbidden in ["<script", "<img", "\u{202E}", "http:", "https:", "@import", "url("] {
          #expect(!rest.contains(forbidden), "\(page) holds \(forbidden)")
        }
        named += text.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;") ? 1 : 0
        called += text.contains("<a href=\"tel:0855500003\">(08) 5550-0003</a>") ? 1 : 0
        let isOther = text.contains("alert(1)&lt;/script&gt; (08)") || text.contains(" or (08) ")
        uncalled += isOther && !text.contains("href=\"tel:") ? 1 : 0
        // Links lead to existing files.
        let base = URL(filePath: "\(folder)/\(page)")
        for match in text.matches(of: /href="([^"#]*)/)
        where !match.1.isEmpty && match.1 != "data:," && !match.1.hasPrefix("https:")
          && !match.1.hasPrefix("tel:")
        {
          let there = base.deletingLastPathComponent().appending(path: String(match.1)).standardized
          #expect(FileManager.default.fileExists(atPath: there.path), "\(page): \(match.1)")
        }
      }
      #expect(named > 5)
      // A link calls a station, and a text that is not plainly one number has none.
      #expect(called > 1 && uncalled > 2, "\(called) \(uncalled)")
      // A second report into the same folder removes its own pages of regions that are gone, and no
      // other file.
      let list = "\(folder)/.bowser-report"
      for name in ["gone", "mine"] {
        try Data().write(to: URL(filePath: "\(folder)/region/\(name).html"))
      }
      try (String(contentsOfFile: list, encoding: .utf8) + "region/gone.html\n../../etc/x\n").write(
        toFile: list, atomically: false, encoding: .utf8)
      #expect(try run(["report", "--out", folder], target).code == 0)
      #expect(!FileManager.default.fileExists(atPath: "\(folder)/region/gone.html"))
      #expect(FileManager.default.fileExists(atPath: "\(folder)/region/mine.html"))
      #expect(
        try FileManager.default.subpathsOfDirectory(atPath: folder).allSatisfy {
          !$0.contains("partial")
        })
      // Of several reports at once, one works. The others end with 75 or work after it. Partial
      // files that a killed report left are reused.
      try Data("left".utf8).write(to: URL(filePath: "\(folder)/index.html.partial"))
      let both = try (0..<2).map { _ in
        let process = CommandTests.process(
          ["report", "--out", folder, "--now", "\(Self.now)"], target, [:])
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
      }
      for process in both { try await process.ended() }
      let codes = both.map(\.terminationStatus)
      #expect(codes.contains(0) && codes.allSatisfy { [0, 75].contains($0) }, "\(codes)")
      #expect(
        try FileManager.default.subpathsOfDirectory(atPath: folder).allSatisfy {
          !$0.contains("partial")
        })
      let foreign = temporary()
      try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: URL(filePath: "\(foreign)/index.html"))
      let refused = try run(["report", "--out", foreign], target)
      #expect(
        refused.code == 74 && refused.err.contains("other than a report of bowser"), "\(refused)")
      #expect(try String(contentsOfFile: "\(foreign)/index.html", encoding: .utf8) == "mine")
    }
  }

  /// A report is a website. Every station and every suburb has a page and a link to it, programs
  /// get prices as points of GeoJSON, and files whose content did not change keep their
  /// modification time.
  @Test func aReportIsASite() async throws {
    try await market { target, _ in
      try Connection(target).execute(
        """
        UPDATE fuel.station SET suburb = 'A "quoted" \\ place' WHERE station_id = 1;
        UPDATE fuel.station SET suburb = 'MOUNT HAWTHORN' WHERE state = 'WA'
        """)
      let folder = temporary()
      defer { try? FileManager.default.removeItem(atPath: folder) }
      #expect(try run(["report", "--out", folder], target).code == 0)
      func text(_ path: String) throws -> String {
        try String(contentsOfFile: "\(folder)/\(path)", encoding: .utf8)
      }
      let connection = try Connection(target)
      try connection.query("SELECT set_config('bowser.now', \(Self.now.description), false)")
      let stations = try connection.lines(
        "SELECT DISTINCT station_id FROM fuel_v1.current_prices WHERE is_public ORDER BY 1")
      #expect(stations.count > 50)
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
      let places = try files.filter { $0.hasPrefix("place/") && $0.hasSuffix(".html") }.map(text)
        .joined()
      for station in stations {
        #expect(files.contains("station/\(station).html"), "\(station)")
        #expect(places.contains("station/\(station).html"), "\(station)")
      }
      // There are as many points as prices with a position.
      var points = 0
      for path in files where path.hasSuffix(".geojson") {
        let object =
          try JSONSerialization.jsonObject(with: Data(try text(path).utf8)) as? [String: Any]
        points += (object?["features"] as? [Any])?.count ?? 0
      }
      #expect(
        try connection.lines(
          "SELECT count(*) FROM fuel_v1.current_prices WHERE is_public AND latitude IS NOT NULL")
          == ["\(points)"])
      let market = try text("api/v1/market.json")
      #expect(try JSONSerialization.jsonObject(with: Data(market.utf8)) is [String: Any])
      for path in files where path.hasSuffix(".atom") {
        #expect(XMLParser(data: Data(try text(path).utf8)).parse(), "\(path)")
      }
      #expect(try text("u91/nsw.html").contains("<svg class=\"map\""))
      // Each fuel has an address of its own, and the page of a region links to every fuel.
      for fuel in ["dl", "p98"] {
        #expect(try text("\(fuel)/index.html").contains("href=\"../\(fuel)/sydney.html\""))
        #expect(try text("region/sydney.html").contains("href=\"../\(fuel)/sydney.html\""))
      }
      // The page of a region has the cheapest stations and a map.
      let region = try text("region/nsw.html")
      let below = try #require(region.split(separator: "id=\"cheapest\"").last)
      let cheapest = try connection.lines(
        """
        SELECT station_id FROM fuel_v1.station_comparison WHERE region = 'NSW' AND fuel = 'U91'
        ORDER BY price_cpl, station_id LIMIT 10
        """)
      #expect(cheapest.count > 3 && region.contains("<svg class=\"map\""))
      let links = below.matches(of: /href="..\/station\/([0-9]+).html"/).map { String($0.1) }
      #expect(Array(links.prefix(cheapest.count)) == cheapest)
      // F-O15: a suburb in capitals is shown as a name. Programs get it as it is stored.
      let western = try #require(
        try connection.lines(
          """
          SELECT station_id FROM fuel_v1.current_prices WHERE is_public AND state = 'WA'
          GROUP BY station_id ORDER BY count(*) DESC, station_id LIMIT 1
          """
        ).first)
      let page = try text("station/\(western).html")
      #expect(page.contains(">Mount Hawthorn, WA</a>") && !page.contains("HAWTHORN"), "\(page)")
      #expect(try text("api/v1/prices/wa-u91.geojson").contains("\"suburb\":\"MOUNT HAWTHORN\""))
      // The page of a station has its address, since when its prices hold, a link to maps, and the
      // nearest stations.
      #expect(page.contains(">since 1 Jul, 6:00</span>"), "\(page)")
      #expect(page.contains("Open in maps</a>"), "\(page)")
      #expect(page.contains(">Nearest stations"), "\(page)")
      // F-O14: fuels have the same order on every page.
      let codes = page.matches(of: /<th scope="row">(?:[^<]*\()?([A-Z0-9]+)\)?<br>/).map {
        String($0.1)
      }
      let order = Fuel.allCases.map(\.rawValue).filter { codes.contains($0) }
      #expect(codes.count > 1 && codes == order, "\(codes)")
      // The list for the search is JSON in a script, and every page in it exists.
      let list = try text("places.js")
      let prefix = "window.bowserPlaces = "
      #expect(list.hasPrefix(prefix) && list.hasSuffix(";\n"))
      let listed =
        try JSONSerialization.jsonObject(
          with: Data(list.dropFirst(prefix.count).dropLast(2).utf8)) as? [[String]] ?? []
      #expect(listed.count > stations.count)
      for place in listed { #expect(place.count == 3 && files.contains(place[2]), "\(place)") }
      for station in stations {
        #expect(listed.contains { $0[2] == "station/\(station).html" }, "\(station)")
      }
      let named = temporary()
      defer { try? FileManager.default.removeItem(atPath: named) }
      let found = try run(["report", "--out", named, "--site", "https://fuel.example/x"], target)
      #expect(found.code == 0, "\(found)")
      #expect(
        try String(contentsOfFile: "\(named)/u91/sydney.html", encoding: .utf8).contains(
          "<link rel=\"canonical\" href=\"https://fuel.example/x/u91/sydney.html\">"))
      // A file of an older report that is no part of this one is removed.
      let (old, marker) = ("\(named)/u91/old.html", "\(named)/.bowser-report")
      try "old".write(toFile: old, atomically: false, encoding: .utf8)
      try (String(contentsOfFile: marker, encoding: .utf8) + "u91/old.html\n").write(
        toFile: marker, atomically: false, encoding: .utf8)
      #expect(try run(["report", "--out", named], target).code == 0)
      #expect(!FileManager.default.fileExists(atPath: old))
      #expect(try run(["report", "--out", named, "--site", "fuel.example"], target).code == 64)
      #expect(try text("index.html").contains("<path class=\"land\" d=\"M"))
      // A minute later, and after a list that shows the same, only files that contain the time have
      // changed.
      func times() throws -> [String: Date] {
        var times: [String: Date] = [:]
        for path in files where path.contains(".") && !path.hasPrefix(".") {
          times[path] =
            try FileManager.default.attributesOfItem(atPath: "\(folder)/\(path)")[.modificationDate]
            as? Date
        }
        return times
      }
      let before = try times()
      try Connection(target).execute(
        "UPDATE fuel.source SET last_listed_at = last_listed_at + interval '1 minute'")
      let again = try CommandTests.run(
        ["report", "--out", folder, "--now", "\(Self.now + .seconds(60))"], on: target)
      #expect(again.code == 0)
      let changed = try times().filter { before[$0.key] != $0.value }.map(\.key)
      #expect(
        !changed.isEmpty
          && changed.allSatisfy {
            !$0.hasPrefix("station/") && !$0.hasPrefix("place") && !$0.hasPrefix("feed/")
              && !$0.hasPrefix("api/v1/station") && !$0.hasPrefix("near/")
          }, "\(changed)")
    }
  }

  /// F-O09: a database without prices yields a valid report that states this.
  @Test func nothingMakesAReportToo() async throws {
    try await TestDatabase.with { target in
      let folder = temporary()
      let result = try run(["report", "--out", folder], target)
      #expect(result.code == 0, "\(result.err)")
      #expect(
        try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8).contains(
          "There are no averages yet"))
      #expect(try run(["report"], target).code == 64)
    }
  }

  /// Arrows are for the eye. Each stands beside the number that it describes, with a word for those
  /// who hear the page.
  @Test func arrowsHaveWords() async throws {
    let market = try await PlayedMarket.database()
    let folder = temporary()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let result = try CommandTests.run(["report", "--out", folder] + market.now, on: market.target)
    #expect(result.code == 0, "\(result)")
    let page = try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8)
    let arrows = page.matches(of: /[▲▼]/)
    let described = page.matches(
      of: /<span aria-hidden="true">[▲▼]<\/span><span class="unseen">(up|down)<\/span> [0-9.]+</)
    #expect(arrows.count > 5 && described.count == arrows.count, "\(arrows.count)")
    // F-O14: a chart and its table have thirty days and today so far.
    let chart = try String(contentsOfFile: "\(folder)/u91/brisbane.html", encoding: .utf8)
    let dated = chart.matches(of: /<tr><th scope="row">[0-9]+ [A-Z][a-z]{2}( so far)?<\/th>/)
    #expect(dated.count == 31 && dated.first?.1 != nil, "\(dated.count)")
    #expect(chart.contains("Daily averages of 30 days and today so far"))
    let shown = try CommandTests.run(["show"] + market.now, on: market.target).out
    let trends = shown.split(separator: "\n").filter { $0.contains(" to ") && $0.contains("█") }
    let beside = trends.filter { $0.contains(/[0-9]\.[0-9] [↗↘→ ]/) }
    #expect(trends.count > 3 && beside.count == trends.count, "\(shown)")
    let isNamed = shown.contains(/[0-9]\.[0-9] (↗  rising|↘  falling|→  steady)/)
    #expect(isNamed, "\(shown)")
  }

  /// F-O61: a first report that cannot write all its pages, as on a full disk, leaves a folder that
  /// the next report takes for its own.
  @Test func aReportThatBrokeOffIsContinued() async throws {
    let folder = temporary()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let obstacle = folder + "/api/v1/market.json.partial"
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: true)
    try await TestDatabase.with { target in
      let broken = try CommandTests.run(["report", "--out", folder], on: target)
      #expect(broken.code == 74, "\(broken)")
      try FileManager.default.removeItem(atPath: obstacle)
      #expect(FileManager.default.fileExists(atPath: folder + "/style.css"))
      let whole = try CommandTests.run(["report", "--out", folder], on: target)
      #expect(whole.code == 0, "\(whole)")
      let list = try String(contentsOfFile: folder + "/.bowser-report", encoding: .utf8)
      for path in list.split(separator: "\n") {
        #expect(FileManager.default.fileExists(atPath: "\(folder)/\(path)"), "\(path)")
      }
    }
  }

  /// F-O16: a report that cannot make its folder names the folder and the system's reason.
  @Test func aReportNamesTheFolderThatCannotBe() async throws {
    try await TestDatabase.with { target in
      let file = temporary()
      defer { try? FileManager.default.removeItem(atPath: file) }
      try Data().write(to: URL(filePath: file))
      for (folder, reason) in [
        ("/proc/foo", "/proc/foo cannot be created: No such file or directory"),
        (file, "\(file) cannot be created: File exists"),
        ("\(file)/site", "\(file)/site cannot be created: Not a directory"),
      ] {
        let refused = try run(["report", "--out", folder], target)
        #expect(refused.code == 74 && refused.err.contains(reason), "\(refused)")
      }
      #expect(try run(["report", "--out", "\(temporary())/.."], target).code == 74)
      // Folders that are missing around it are made.
      let deep = temporary() + "/one/two"
      let made = try run(["report", "--out", deep], target)
      #expect(made.code == 0, "\(made)")
      #expect(FileManager.default.fileExists(atPath: deep + "/index.html"))
    }
  }
}
