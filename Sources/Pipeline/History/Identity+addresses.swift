import Store

/// Records with one address.
extension Identity.Work {
  mutating func matchAddresses(_ described: [Int], _ coded: [Int]) {
    var groups: [String: (described: [Int], coded: [Int])] = [:]
    for id in described {
      for address in Set(record(id).addresses) {
        groups[address, default: ([], [])].described.append(id)
      }
    }
    for id in coded {
      for address in Set(record(id).addresses) { groups[address]?.coded.append(id) }
    }
    for address in groups.keys.sorted() {
      guard let group = groups[address] else { continue }
      // A short address without a number, such as a highway, may be many places. There names
      // decide.
      let isExact =
        Identity.Street(address).numbers != nil || address.split(separator: " ").count > 3
      if group.coded.count > 1 { joinByName(group.described, group.coded) }
      // A record that a person separated from a coded station of this address is not joined to
      // the other records here.
      let free = group.described.filter { id in
        !group.coded.contains { apart.contains(Pair(id, $0)) }
      }
      joinUncoded(free, needsName: !isExact)
      joinToCoded(group.described, oneEach(group.coded), at: address, needsName: !isExact)
    }
  }

  /// Joins each record to the one station of its address that has exactly the same name, where
  /// the feed lists several stations there.
  private mutating func joinByName(_ described: [Int], _ coded: [Int]) {
    for id in described {
      let same = coded.filter { !Set(record($0).names).isDisjoint(with: record(id).names) }
      if oneEach(same).count == 1, !clash(id, same[0]) { join(same[0], id, by: "name") }
    }
  }

  /// Joins those uncoded records of one address that are one station.
  private mutating func joinUncoded(_ ids: [Int], needsName: Bool) {
    let hasTwins = ids.indices.contains { a in
      ids[(a + 1)...].contains { areTwins(ids[a], $0) }
    }
    for (position, id) in ids.enumerated() where position > 0 {
      // The earlier record with the most similar name, which this record may be joined to.
      var best: (id: Int, likeness: Double)?
      var isOpen = false
      for other in ids[..<position] where clusterOf[other] != clusterOf[id] {
        guard !clash(id, other) else { continue }
        let likeness = likeness(id, other)
        if let known = best, clusterOf[known.id] != clusterOf[other],
          abs(known.likeness - likeness) < 0.05
        {
          isOpen = true
        }
        if likeness > best?.likeness ?? -1 {
          if let known = best,
            likeness - known.likeness >= 0.05 || clusterOf[known.id] == clusterOf[other]
          {
            isOpen = false
          }
          best = (other, likeness)
        }
      }
      guard let best else { continue }
      if !hasTwins && !needsName {
        join(best.id, id, by: "address")
      } else if best.likeness >= Identity.leastSimilarity, !isOpen {
        join(best.id, id, by: "name")
      } else if hasTwins {
        leaveOpen(
          id, among: ids[..<position].filter { clusterOf[$0] != clusterOf[id] && !clash(id, $0) },
          "several stations share its address, and none has a similar name")
      }
    }
  }

  /// Joins the uncoded stations of one address to the stations that the feed lists there.
  private mutating func joinToCoded(
    _ described: [Int], _ coded: [Int], at address: String, needsName: Bool
  ) {
    var open = Set(described.compactMap { clusterOf[$0] })
    let free = coded.filter { id in !open.contains(clusterOf[id] ?? id) }
    open = open.filter { cluster in
      !(clusters[cluster] ?? []).contains { record($0).isCoded }
    }
    guard !open.isEmpty, !free.isEmpty else {
      return
    }
    func first(_ cluster: Int) -> Int { members(cluster)[0] }
    let stations = open.map(first).sorted { rank($0) < rank($1) }
    if stations.count == 1, free.count == 1, !needsName {
      if !clash(stations[0], free[0]) { join(free[0], stations[0], by: "address") }
      return
    }
    // The most similar pair comes first, provided that neither side has a pair as similar.
    var pairs: [(station: Int, code: Int, likeness: Double)] = []
    for station in stations {
      for code in free where !clash(station, code) {
        pairs.append((station, code, likeness(station, code)))
      }
    }
    pairs.sort {
      ($1.likeness, rank($0.station), rank($0.code)) < (
        $0.likeness, rank($1.station), rank($1.code)
      )
    }
    var taken: Set<Int> = []
    for pair in pairs where pair.likeness >= Identity.leastSimilarity {
      guard !taken.contains(pair.station), !taken.contains(pair.code) else { continue }
      let rivals = pairs.filter { rival in
        (rival.station == pair.station) != (rival.code == pair.code)
          && !taken.contains(rival.station) && !taken.contains(rival.code)
          && rival.likeness > pair.likeness - 0.05
      }
      guard rivals.isEmpty else { continue }
      join(pair.code, pair.station, by: "name")
      taken.formUnion([pair.station, pair.code])
    }
    for station in stations where !taken.contains(station) && doubts[station] == nil {
      let codes = free.map { record($0).code }.sorted().joined(separator: ", ")
      leaveOpen(
        station, among: free.filter { !clash(station, $0) },
        "\(record(free[0]).source) lists \(codes) at its address")
    }
  }
}
