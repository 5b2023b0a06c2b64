import Configuration
import Feeds
import FuelModel
import PlainModel
import Simulator

/// A random history of two states: what their feeds and an archive report, and what goes wrong.
struct RandomHistory {
  struct Site {
    var code: String
    var name: String
    var address: String
    var suburb: String
    var brand: String
    var position: Position?
  }

  /// One answer of a feed.
  struct Answer {
    var feed: String
    var takenAt: Int
    var isList: Bool
    var lines: [PlainModel.Run.Line]
    /// Whether the answer is withdrawn some time after it arrived, and perhaps counted again.
    var isWithdrawn = false
    var isUndone = false
  }

  static let fuels = ["U91", "P98", "DL"]
  static let nsw = "nsw-fuelcheck"
  static let nt = "nt-myfuel"
  static let archive = "nsw-fuelcheck-archive"
  /// How many stations of the feed are also in its archive.
  static let archivedSites = 3

  var sites: [String: [Site]] = [:]
  var answers: [Answer] = []
  /// Files of the archive, as their rows.
  var files: [[PlainModel.ArchiveRow]] = []
  /// A site that only the archive knows, and the site of the feed that a person links it to.
  var decided: (archived: String, listed: String)?
  var isDecidedInTheEnd = false
  let begin: Int
  private(set) var end: Int
  /// Whether the history contains what was added to this type later: prices that the feed states
  /// again, an archive that depends on what the feed reports, events at the instant of a lapse, and
  /// the beginning of summer time. If false, the history is the one that the seed gave before.
  let isExtended: Bool

  /// - Parameter freezes: whether a feed repeats a list for days in the end.
  init(seed: UInt64, isExtended: Bool, freezes: Bool = false) throws {
    var random = Random(seed: seed, "model history")
    self.isExtended = isExtended
    // With some seeds this includes the end of summer time, with others the end of a month. Some
    // extended histories include the beginning of summer time, on 5 October 2025.
    let earliest = isExtended && random.chance(0.2) ? 1_758_900_000 : 1_774_000_000
    begin = earliest + random.integer(0...20) * 86_400 + random.integer(0...86_399)
    end = begin + 9 * 86_400 + random.integer(0...86_399)
    sites[Self.nsw] = Self.sites(count: 11, at: (-33.87, 151.21), "NSW", &random)
    sites[Self.nt] = Self.sites(count: 8, at: (-12.46, 130.84), "NT", &random)
    answers += try list(Self.nsw, isStamped: true, &random)
    answers += try list(Self.nt, isStamped: false, &random)
    archive(&random)
    if isExtended { oldStamps(seed) }
    guard freezes else { return }
    var frozen = Random(seed: seed, "frozen feeds")
    let begin = end
    end += 12 * 86_400
    for feed in [Self.nsw, Self.nt] where frozen.chance(0.8) {
      freeze(feed, from: begin, &frozen)
    }
  }

  /// Makes some stamps of some answers up to 400 days older: slips, and answers of the past.
  private mutating func oldStamps(_ seed: UInt64) {
    var random = Random(seed: seed, "old stamps")
    for index in answers.indices where answers[index].feed == Self.nsw && random.chance(0.15) {
      for line in answers[index].lines.indices where random.chance(0.1) {
        answers[index].lines[line].stamp? -= random.integer(1...400) * 86_400
      }
    }
  }

  /// Adds lists with changes, the last of which is repeated for days, and perhaps one more change.
  private mutating func freeze(_ feed: String, from begin: Int, _ random: inout Random) {
    let lists = answers.filter { $0.feed == feed && $0.isList && $0.takenAt < begin }
    guard var list = lists.max(by: { $0.takenAt < $1.takenAt }) else { return }
    list.isWithdrawn = false
    list.isUndone = false
    list.takenAt = begin - random.integer(0...80_000)
    func add(after seconds: ClosedRange<Int>, changes: Bool, to answers: inout [Answer]) {
      list.takenAt += random.integer(seconds)
      for index in list.lines.indices where changes && random.chance(index == 0 ? 1 : 0.1) {
        list.lines[index].tenths += random.pick([-7, 11])
        if list.lines[index].stamp != nil {
          list.lines[index].stamp = list.takenAt - random.integer(0...3_000)
        }
      }
      var answer = list
      // A repeated list that lacks stations in between, and one that is withdrawn.
      if !changes, random.chance(0.1) { answer.lines.removeFirst(min(5, answer.lines.count - 1)) }
      answer.isWithdrawn = feed == Self.nsw && random.chance(0.05)
      answers.append(answer)
    }
    for _ in 0..<random.integer(6...14) { add(after: 2_000...20_000, changes: true, to: &answers) }
    for _ in 0..<2 {
      let thaws = list.takenAt + random.integer(1...6) * 86_400
      while list.takenAt < min(thaws, end - 200_000) {
        add(after: 9_000...40_000, changes: false, to: &answers)
      }
      guard random.chance(0.7) else { return }
      for _ in 0..<random.integer(1...3) { add(after: 2_000...40_000, changes: true, to: &answers) }
    }
  }

  private static func sites(
    count: Int, at centre: (Double, Double), _ state: String, _ random: inout Random
  ) -> [Site] {
    (0..<count).map { number in
      let reach = number < 6 ? 0.2 : 2.0
      func near(_ centre: Double) -> Double {
        ((centre + random.real(-reach...reach)) * 10_000).rounded() / 10_000
      }
      return Site(
        code: "\(state == "NT" ? 500 : 100 + number)\(number)", name: "\(state) Site \(number)",
        address: "\(10 + number) Main Street",
        suburb: "\(state == "NT" ? "Darwin" : "Town")\(number)",
        brand: number % 3 == 0 ? "Coles" : "BP",
        position: Position(latitude: near(centre.0), longitude: near(centre.1)))
    }
  }

  /// Returns the lists and updates of a feed, and so what its stations charge while it is read.
  private func list(
    _ feed: String, isStamped: Bool, _ random: inout Random
  ) throws -> [Answer] {
    struct Price {
      var tenths: Int
      var stamp: Int
    }
    var prices: [String: Price] = [:]
    var gone: [String: Int] = [:]
    var answers: [Answer] = []
    let sites = sites[feed] ?? []
    let settings = try Lived.source(isStamped ? "nsw" : "nt").settings
    let (priceLapse, sightLapse) = (
      3_600 * settings.priceLapsesHours, 3_600 * settings.sightLapsesHours
    )
    var at = begin
    let last = end - 2 * 86_400
    while at < last {
      let since = answers.last?.takenAt ?? at - 62 * 86_400
      for (number, site) in sites.enumerated() {
        // The archive has the first stations of the feed. Their prices are stated more often.
        let isArchived = isExtended && feed == Self.nsw && number < Self.archivedSites
        // One price for all grades.
        let placeholder = random.chance(0.03) ? random.integer(1700...1999) : nil
        let stamp = at - random.integer(0...max(1, min(at - since, 60_000)))
        for (grade, fuel) in Self.fuels.enumerated() {
          let key = "\(site.code) \(fuel)"
          // Some prices begin exactly when the price before them lapses by its stamp.
          let lapse = prices[key].map { $0.stamp + priceLapse } ?? 0
          let beginsAtLapse =
            isExtended && isStamped && placeholder == nil && lapse > since && lapse <= at
            && random.chance(0.5)
          guard
            prices[key] == nil || placeholder != nil || beginsAtLapse
              || random.chance(isArchived ? 0.5 : 0.15)
          else { continue }
          // Late entries are older than the list before.
          var own =
            placeholder != nil
            ? stamp : at - random.integer(0...(random.chance(0.1) ? 120_000 : 30_000))
          // At first some prices are months old, so that some lapse while the feed is read.
          if answers.isEmpty, placeholder == nil {
            own =
              at
              - (random.chance(0.25)
                ? random.integer(50...61) * 86_400 : random.integer(0...900_000))
          }
          if beginsAtLapse { own = lapse }
          let level = 1_700 + 100 * grade + random.integer(0...150)
          var tenths =
            placeholder
            ?? (random.chance(0.04)
              ? level / 2 : random.chance(0.03) ? level * 8 / 5 : random.chance(0.02) ? 0 : level)
          if let known = prices[key], known.stamp > own { continue }
          // The same price again, under a newer stamp.
          if isArchived, placeholder == nil, let known = prices[key], random.chance(0.5) {
            tenths = known.tenths
          }
          // Now and then a price comes under the stamp of the price before.
          let isSlip = prices[key] != nil && random.chance(0.06)
          prices[key] = Price(tenths: tenths, stamp: isSlip ? prices[key]!.stamp : own)
        }
        if random.chance(0.03) { gone[site.code] = at + random.integer(10_000...250_000) }
      }
      // A high price at several neighbours, at times and levels that are close for some of them
      // only.
      if random.chance(0.2) {
        let fuel = random.pick(Self.fuels)
        for site in sites.prefix(6) where random.chance(0.5) {
          prices["\(site.code) \(fuel)"] = Price(
            tenths: random.integer(2_500...3_300), stamp: at - random.integer(60...50_000))
        }
      }
      var lines: [PlainModel.Run.Line] = []
      var isOut: Set<String> = []
      if random.chance(0.25) {
        isOut.insert("\(random.pick(sites).code) \(random.pick(Self.fuels))")
      }
      for site in sites where gone[site.code].map({ $0 < at }) ?? true {
        for fuel in Self.fuels where !isOut.contains("\(site.code) \(fuel)") {
          guard let price = prices["\(site.code) \(fuel)"] else { continue }
          lines.append(
            PlainModel.Run.Line(
              code: site.code, fuel: fuel, tenths: price.tenths,
              stamp: isStamped ? price.stamp : nil))
        }
      }
      var isList = true
      switch random.integer(0...19) {
      case 0, 1: lines.removeFirst(min(lines.count - 1, random.integer(3...6)))
      case 2: lines.removeLast(min(lines.count - 1, random.integer(12...20)))
      case 3: lines.removeAll { $0.fuel == "DL" }
      case 4:
        // An earlier answer again.
        if answers.count > 3 { lines = answers[answers.count - random.integer(1...3)].lines }
      case 5, 6:
        guard isStamped else { break }
        isList = false
        let named = lines.filter { $0.stamp ?? 0 > since }
        lines = named.isEmpty ? [lines[0]] : named
      default: break
      }
      answers.append(Answer(feed: feed, takenAt: at, isList: isList, lines: lines))
      // Some answers come exactly when the answer before them is no longer believed.
      if isExtended, random.chance(0.1) {
        at += sightLapse
        continue
      }
      at +=
        random.chance(0.1)
        ? random.integer(90_000...200_000)
        : random.integer(isStamped ? 12_000...80_000 : 20_000...100_000)
    }
    // A clock that was ahead, by hours or by more than a year.
    if random.chance(0.3), answers.count > 4 {
      let index = random.integer(2...(answers.count - 2))
      answers[index].takenAt += random.pick([3_601, 100_001, 250_001, 400 * 86_400 + 1])
      answers[index].isWithdrawn = answers[index].takenAt > end || random.chance(0.7)
    }
    for _ in 0..<(isStamped ? 2 : 1) where random.chance(0.5) {
      let index = random.integer(0...(answers.count - 1))
      if !isStamped, answers.contains(where: \.isWithdrawn) { continue }
      answers[index].isWithdrawn = true
      answers[index].isUndone = answers[index].takenAt <= end && random.chance(0.3)
    }
    return answers
  }

  /// Adds some months of the archive, with holes between them, for stations of the feed and others.
  private mutating func archive(_ random: inout Random) {
    let listed = Array((sites[Self.nsw] ?? []).prefix(Self.archivedSites))
    let others = (0..<2).map { number in
      Site(
        code: "", name: "Old Site \(number)", address: "\(70 + number) Side Street",
        suburb: "Gone\(number)", brand: "BP", position: nil)
    }
    sites[Self.archive] = listed + others
    decided = random.chance(0.6) ? (others[0].name, sites[Self.nsw]![5].code) : nil
    isDecidedInTheEnd = random.chance(0.5)
    var months: [Int: [PlainModel.ArchiveRow]] = [:]
    func add(_ row: PlainModel.ArchiveRow) {
      // Local times that occur twice are not tested here.
      guard !Self.isAmbiguous(row.at) else { return }
      let day = Zone.sydney.local(Instant(seconds: Int64(row.at))).day
      months[day.year * 12 + day.month, default: []].append(row)
    }
    for site in sites[Self.archive] ?? [] {
      for (grade, fuel) in Self.fuels.enumerated() {
        var at = begin - 85 * 86_400 + random.integer(0...2_000_000)
        while at < begin + 7 * 86_400 {
          let level = 1_700 + 100 * grade + random.integer(0...150)
          let row = PlainModel.ArchiveRow(
            archive: Self.archive, code: site.name, fuel: fuel,
            tenths: random.chance(0.05) ? level * 8 / 5 : level, at: at)
          add(row)
          at +=
            random.chance(0.1)
            ? random.integer(2_000_000...4_500_000) : random.integer(90_000...1_600_000)
        }
      }
    }
    if isExtended {
      for row in rowsBesideTheFeed(&random) { add(row) }
    }
    let share = isExtended ? 0.15 : 0.35
    for (_, rows) in months.sorted(by: { $0.key < $1.key }) where !random.chance(share) {
      var rows = rows.sorted { ($0.at, $0.code, $0.fuel) < ($1.at, $1.code, $1.fuel) }
      // A file that was made before its month was over.
      if random.chance(0.3) { rows = Array(rows.prefix(max(1, rows.count / 2))) }
      // More files over the same month, each with a part of its rows.
      if isExtended, random.chance(0.4) {
        for _ in 0..<random.integer(1...2) {
          let first = random.integer(0...rows.count - 1)
          files.append(Array(rows[first...random.integer(first...rows.count - 1)]))
        }
      }
      guard random.chance(0.3), rows.count > 4 else {
        files.append(rows)
        continue
      }
      // Two files that overlap and contradict each other once.
      let (low, high) = (rows.count / 3, 2 * rows.count / 3)
      files.append(Array(rows[..<high]))
      rows[low].tenths += 9
      files.append(Array(rows[low...]))
    }
  }

  /// Returns rows of the archive that depend on what the feed reports: prices between two equal
  /// prices of the feed, the feed's own prices again, and other prices for the same instants.
  private func rowsBesideTheFeed(_ random: inout Random) -> [PlainModel.ArchiveRow] {
    var rows: [PlainModel.ArchiveRow] = []
    for site in (sites[Self.nsw] ?? []).prefix(Self.archivedSites) {
      for fuel in Self.fuels {
        func add(_ tenths: Int, at: Int) {
          rows.append(
            PlainModel.ArchiveRow(
              archive: Self.archive, code: site.name, fuel: fuel, tenths: tenths, at: at))
        }
        let reports = reports(of: site.code, fuel)
        for (report, next) in zip(reports, reports.dropFirst()) {
          if random.chance(0.2) {
            add(report.tenths + random.pick([0, 0, 30]), at: report.stamp)
          }
          guard report.tenths == next.tenths, next.stamp - report.stamp > 1, random.chance(0.7)
          else { continue }
          add(
            report.tenths + random.pick([-50, -9, 9, 50]),
            at: random.integer(report.stamp + 1...next.stamp - 1))
        }
      }
    }
    return rows
  }

  /// Returns the prices that the stamped feed reports of a station, in order of their stamps and
  /// one for each stamp. Prices that a file of an archive cannot have are left out.
  private func reports(of code: String, _ fuel: String) -> [(stamp: Int, tenths: Int)] {
    var prices: [Int: Int] = [:]
    for answer in answers where answer.feed == Self.nsw {
      for line in answer.lines where line.code == code && line.fuel == fuel {
        guard let stamp = line.stamp, (1_500...3_000).contains(line.tenths) else { continue }
        prices[stamp] = line.tenths
      }
    }
    return prices.sorted { $0.key < $1.key }.map { (stamp: $0.key, tenths: $0.value) }
  }

  private static func isAmbiguous(_ second: Int) -> Bool {
    let instant = Instant(seconds: Int64(second))
    let local = Zone.sydney.local(instant)
    return [-3_600, 3_600].contains { shift in
      let other = Zone.sydney.local(Instant(seconds: Int64(second + shift)))
      return other.day == local.day && other.secondsOfDay == local.secondsOfDay
    }
  }
}
