import Foundation
import FuelModel
import Synchronization

extension SimulatedFeeds {
  /// FuelCheck: the same keys and tokens for New South Wales and Tasmania.
  func fuelCheck(_ path: String, _ request: Server.Request) -> Server.Answer {
    let now = self.now
    let key = Self.keys["BOWSER_NSW_FUELCHECK_KEY"] ?? ""
    let pair = "\(key):\(Self.keys["BOWSER_NSW_FUELCHECK_SECRET"] ?? "")"
    // A token is good for twelve hours, as the provider's are.
    let token = "simulated-\(now.seconds / 43_200)"
    if path == "/oauth/client_credential/accesstoken" {
      guard request.query["grant_type"] == "client_credentials",
        request.headers["authorization"] == "Basic \(Data(pair.utf8).base64EncodedString())"
      else {
        return .text(401, "{\"ErrorCode\":\"invalid_client\",\"Error\":\"ClientId is Invalid\"}")
      }
      return .text(200, FuelCheckSide(market: market).token(token, at: now), type: "text/plain")
    }
    guard path.hasPrefix("/FuelPriceCheck/") else { return .text(404, "{}") }
    guard request.headers["authorization"] == "Bearer \(token)", request.headers["apikey"] == key,
      request.headers["transactionid"]?.isEmpty == false,
      request.headers["requesttimestamp"]?.isEmpty == false
    else { return .text(401, "{\"fault\":{\"faultstring\":\"Invalid access token\"}}") }
    switch path {
    case "/FuelPriceCheck/v1/fuel/prices":
      noteListCall(at: now)
      return .text(200, FuelCheckSide(market: market).prices(at: now))
    case "/FuelPriceCheck/v1/fuel/prices/new":
      let side = FuelCheckSide(market: market)
      return .text(200, side.newPrices(since: lastKnown(at: now), at: now))
    case "/FuelPriceCheck/v2/fuel/prices":
      guard request.query["states"] == "TAS" else {
        return .text(
          400, "{\"errorDetails\":[{\"code\":\"E0001\",\"description\":\"Invalid states\"}]}")
      }
      let side = FuelCheckSide(market: market, states: [.tas])
      return .text(200, side.prices(at: now, version: 2))
    default: return .text(404, "{}")
    }
  }

  /// Up to when the key has seen everything: its call before this one, if that was today. Notes this
  /// call, so that what it answers is not answered again: a lost answer stays lost.
  private func lastKnown(at now: Instant) -> Instant {
    let begin = beginOfDay(now)
    if let last = noteListCall(at: now), begin <= last, last <= now { return last }
    // The first call of a day gets the day's first instant too.
    return Instant(microseconds: begin.microseconds - 1)
  }

  /// - Returns: the call before.
  @discardableResult
  private func noteListCall(at now: Instant) -> Instant? {
    lastListCall.withLock { last in
      let before = last
      last = now
      return before
    }
  }

  private func beginOfDay(_ instant: Instant) -> Instant {
    guard let zone = newPricesDay else {
      return Instant(seconds: floorDivide(instant.seconds, by: 86_400) * 86_400)
    }
    return zone.instant(of: 0, on: zone.local(instant).day)
  }
}
