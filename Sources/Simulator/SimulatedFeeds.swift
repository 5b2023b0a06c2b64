import Foundation
package import FuelModel
import Synchronization

/// Every feed of a synthetic market, each in its own protocol, keys included.
package final class SimulatedFeeds: Sendable {
  /// The keys that the simulated providers accept, by the name of the environment variable.
  package static let keys = [
    "BOWSER_QLD_FPD_TOKEN": "5a1d0000-0000-4000-8000-0000000000ad",
    "BOWSER_SA_FPD_TOKEN": "5a1d0000-0000-4000-8000-0000000000ae",
    "BOWSER_NSW_FUELCHECK_KEY": "simulated-key",
    "BOWSER_NSW_FUELCHECK_SECRET": "simulated-secret",
  ]

  /// The feeds that can be simulated.
  package static let feeds = ["nsw-fuelcheck", "qld-fpd", "sa-fpd", "wa-fuelwatch"]

  private let market: Market
  private let instant: Mutex<Instant>?

  /// - Parameter instant: what the providers' clocks show; `nil` is the real time.
  package init(_ market: Market, at instant: Instant? = nil) {
    self.market = market
    self.instant = instant.map { Mutex($0) }
  }

  /// Sets the providers' clocks.
  package func set(_ instant: Instant) { self.instant?.withLock { $0 = instant } }

  private var now: Instant { instant?.withLock { $0 } ?? .now }

  /// Where a feed is found below the server's root.
  package static func path(of feed: String) -> String { "/\(feed)" }

  /// The documents that a feed would answer with at an instant, by name: what a run records.
  package func documents(of feed: String, at instant: Instant) -> [Document] {
    var texts: [(String, String)] = []
    switch feed {
    case "nsw-fuelcheck":
      texts = [("prices", FuelCheckSide(market: market).prices(at: instant))]
    case "qld-fpd", "sa-fpd":
      let side = FuelPricesDirectSide(market: market, state: feed == "sa-fpd" ? .sa : .qld)
      texts = [
        ("brands", side.brands()), ("regions", side.regions()), ("sites", side.siteDetails()),
        ("prices", side.prices(at: instant)),
      ]
    case "wa-fuelwatch":
      let side = FuelWatchSide(market: market)
      let days =
        Zone.perth.local(instant).secondsOfDay >= 52_200 ? ["today", "tomorrow"] : ["today"]
      for day in days {
        for product in [1, 2, 4, 5, 6, 10, 11] {
          texts.append(
            ("\(day)-\(product)", side.rss(product: product, day: day, at: instant)))
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
    case "nsw-fuelcheck": return fuelCheck(rest, request)
    case "qld-fpd": return fuelPrices(rest, request, .qld, "BOWSER_QLD_FPD_TOKEN")
    case "sa-fpd": return fuelPrices(rest, request, .sa, "BOWSER_SA_FPD_TOKEN")
    case "wa-fuelwatch":
      let product = request.query["Product"].flatMap(Int.init) ?? 1
      return .text(
        200,
        FuelWatchSide(market: market).rss(
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
    let side = FuelPricesDirectSide(market: market, state: state)
    let isOurState = request.query["geoRegionId"] == (state == .qld ? "1" : "4")
    switch path {
    case "/Subscriber/GetCountryBrands": return .text(200, side.brands())
    case "/Subscriber/GetCountryFuelTypes": return .text(200, side.fuelTypes())
    case "/Subscriber/GetCountryGeographicRegions": return .text(200, side.regions())
    case "/Subscriber/GetFullSiteDetails":
      return .text(200, isOurState ? side.siteDetails() : "{\"S\":[]}")
    case "/Price/GetSitesPrices":
      return .text(200, isOurState ? side.prices(at: now) : "{\"SitePrices\":[]}")
    default: return .text(404, "{\"Message\":\"No HTTP resource was found.\"}")
    }
  }

  private func fuelCheck(_ path: String, _ request: Server.Request) -> Server.Answer {
    let key = Self.keys["BOWSER_NSW_FUELCHECK_KEY"] ?? ""
    let pair = "\(key):\(Self.keys["BOWSER_NSW_FUELCHECK_SECRET"] ?? "")"
    // A token is good for twelve hours, as the provider's are.
    let token = "simulated-\(now.seconds / 43_200)"
    switch path {
    case "/oauth/client_credential/accesstoken":
      guard request.query["grant_type"] == "client_credentials",
        request.headers["authorization"] == "Basic \(Data(pair.utf8).base64EncodedString())"
      else {
        return .text(401, "{\"ErrorCode\":\"invalid_client\",\"Error\":\"ClientId is Invalid\"}")
      }
      return .text(200, FuelCheckSide(market: market).token(token, at: now), type: "text/plain")
    case "/FuelPriceCheck/v1/fuel/prices":
      guard request.headers["authorization"] == "Bearer \(token)", request.headers["apikey"] == key,
        request.headers["transactionid"]?.isEmpty == false,
        request.headers["requesttimestamp"]?.isEmpty == false
      else { return .text(401, "{\"fault\":{\"faultstring\":\"Invalid access token\"}}") }
      return .text(200, FuelCheckSide(market: market).prices(at: now))
    default: return .text(404, "{}")
    }
  }
}
