package import FuelModel
import Synchronization

/// All feeds of a synthetic market, each with its own protocol and keys.
package final class SimulatedFeeds: Sendable {
  /// The keys that the simulated providers accept, by environment variable.
  package static let keys = [
    "BOWSER_QLD_FPD_TOKEN": "5a1d0000-0000-4000-8000-0000000000ad",
    "BOWSER_SA_FPD_TOKEN": "5a1d0000-0000-4000-8000-0000000000ae",
    // The Tasmanian feed uses these two as well.
    "BOWSER_NSW_FUELCHECK_KEY": "simulated-key",
    "BOWSER_NSW_FUELCHECK_SECRET": "simulated-secret",
    "BOWSER_VIC_FAIRFUEL_CONSUMER_ID": "5a1d0000-0000-4000-8000-0000000000af",
    "BOWSER_NT_MYFUEL_USERNAME": "simulated",
    "BOWSER_NT_MYFUEL_PASSWORD": "simulated-password",
  ]

  /// The states whose stations each feed reports.
  package static let states: [String: [State]] = [
    "nsw-fuelcheck": [.nsw, .act], "nt-myfuel": [.nt], "qld-fpd": [.qld], "sa-fpd": [.sa],
    "tas-fuelcheck": [.tas], "vic-fairfuel": [.vic], "wa-fuelwatch": [.wa],
  ]

  /// The feeds that can be simulated.
  package static let feeds = states.keys.sorted()

  /// The market that they report.
  package let market: Market
  private let instant: Mutex<Instant>?
  /// The zone whose midnight empties FuelCheck's list of changes. `nil` is UTC. Which zone the
  /// provider uses is not known.
  package let newPricesDay: Zone?
  /// When FuelCheck's key last asked for the full list or for its changes.
  let lastListCall = Mutex<Instant?>(nil)

  /// - Parameters:
  ///   - instant: what the providers' clocks show. `nil` is the real time.
  ///   - newPricesDay: the zone whose midnight empties FuelCheck's list of changes. `nil` is UTC.
  package init(_ market: Market, at instant: Instant? = nil, newPricesDay: Zone? = nil) {
    self.market = market
    self.instant = instant.map { Mutex($0) }
    self.newPricesDay = newPricesDay
  }

  /// Sets the providers' clocks. Has no effect on feeds that use the real time.
  package func set(_ instant: Instant) { self.instant?.withLock { $0 = instant } }

  var now: Instant { instant?.withLock { $0 } ?? .now }

  /// Returns the environment variables with which bowser finds these providers on a port of this
  /// machine. They include the keys, and remove the pauses and quotas that the real providers need.
  package static func settings(port: Int) -> [String: String] {
    var settings = keys
    settings["BOWSER_ALLOW_LOOPBACK"] = "true"
    for feed in feeds {
      let prefix = "BOWSER_" + feed.uppercased().replacing("-", with: "_")
      settings["\(prefix)_URL"] = "http://127.0.0.1:\(port)/\(feed)"
      settings["\(prefix)_PAUSE_MILLISECONDS"] = "0"
      settings["\(prefix)_CALLS_PER_MONTH"] = "0"
      settings["\(prefix)_CALLS_PER_MINUTE"] = "0"
      settings["\(prefix)_LEAST_SECONDS_BETWEEN_RUNS"] = "0"
    }
    return settings
  }

  /// Returns the documents of a feed at an instant, with their names, as a run records them.
  package func documents(of feed: String, at instant: Instant) -> [Document] {
    var texts: [(String, String)] = []
    switch feed {
    case "nsw-fuelcheck":
      texts = [("prices", SimulatedFuelCheck(market: market).prices(at: instant))]
    case "tas-fuelcheck":
      let provider = SimulatedFuelCheck(market: market, states: [.tas])
      texts = [("prices", provider.prices(at: instant, version: 2))]
    case "vic-fairfuel":
      let provider = SimulatedFairFuel(market: market)
      texts = [("brands", provider.brands()), ("prices", provider.prices(at: instant))]
    case "nt-myfuel":
      texts = [("page", SimulatedMyFuel(market: market).page(at: instant))]
    case "qld-fpd", "sa-fpd":
      let provider = SimulatedFuelPricesDirect(market: market, state: feed == "sa-fpd" ? .sa : .qld)
      texts = [
        ("brands", provider.brands()), ("regions", provider.regions()),
        ("sites", provider.siteDetails()), ("prices", provider.prices(at: instant)),
      ]
    case "wa-fuelwatch":
      let provider = SimulatedFuelWatch(market: market)
      let days =
        Zone.perth.local(instant).secondsOfDay >= 52_200 ? ["today", "tomorrow"] : ["today"]
      for day in days {
        for product in [1, 2, 4, 5, 6, 10, 11] {
          texts.append(
            ("\(day)-\(product)", provider.rss(product: product, day: day, at: instant)))
        }
      }
    default: break
    }
    return texts.map {
      Document(name: $0.0, bytes: Array($0.1.utf8), fetchedAt: instant)
    }
  }

  /// Answers a request as the provider would.
  package func answer(_ request: Server.Request) -> Server.Answer {
    let parts = request.path.split(separator: "/", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? "/" + parts[1] : ""
    switch parts.first {
    // In reality these two feeds share one address. Here each has a path of its own.
    case "nsw-fuelcheck", "tas-fuelcheck": return fuelCheck(rest, request)
    case "nt-myfuel": return myFuel(rest, request)
    case "vic-fairfuel": return fairFuel(rest, request)
    case "qld-fpd": return fuelPrices(rest, request, .qld, "BOWSER_QLD_FPD_TOKEN")
    case "sa-fpd": return fuelPrices(rest, request, .sa, "BOWSER_SA_FPD_TOKEN")
    case "wa-fuelwatch":
      let product = request.query["Product"].flatMap(Int.init) ?? 1
      return .text(
        200,
        SimulatedFuelWatch(market: market).rss(
          product: product, day: request.query["Day"] ?? "today", at: now),
        type: "text/xml")
    default: return .text(404, "{\"Message\":\"no such feed\"}")
    }
  }

  private func fuelPrices(
    _ path: String, _ request: Server.Request, _ state: State, _ variable: String
  ) -> Server.Answer {
    let key = Self.keys[variable] ?? ""
    guard request.headers["authorization"] == "FPDAPI SubscriberToken=\(key)" else {
      return .text(401, "{\"Message\":\"Authorization has been denied for this request.\"}")
    }
    guard request.query["countryId"] == "21" else {
      return .text(400, "{\"Message\":\"The request is invalid.\"}")
    }
    let provider = SimulatedFuelPricesDirect(market: market, state: state)
    let isOurState = request.query["geoRegionId"] == (state == .qld ? "1" : "4")
    switch path {
    case "/Subscriber/GetCountryBrands": return .text(200, provider.brands())
    case "/Subscriber/GetCountryGeographicRegions": return .text(200, provider.regions())
    case "/Subscriber/GetFullSiteDetails":
      return .text(200, isOurState ? provider.siteDetails() : "{\"S\":[]}")
    case "/Price/GetSitesPrices":
      return .text(200, isOurState ? provider.prices(at: now) : "{\"SitePrices\":[]}")
    default: return .text(404, "{\"Message\":\"No HTTP resource was found.\"}")
    }
  }
}
