import Foundation
import FuelModel
import Synchronization

extension SimulatedFeeds {
  /// Answers as FuelCheck, with the same keys and tokens for New South Wales and Tasmania.
  func fuelCheck(_ path: String, _ request: Server.Request) -> Server.Answer {
    let now = self.now
    let key = Self.keys["BOWSER_NSW_FUELCHECK_KEY"] ?? ""
    let pair = "\(key):\(Self.keys["BOWSER_NSW_FUELCHECK_SECRET"] ?? "")"
    // A token is valid for twelve hours, like the provider's tokens.
    let token = "simulated-\(now.seconds / 43_200)"
    if path == "/oauth/client_credential/accesstoken" {
      guard request.query["grant_type"] == "client_credentials",
        request.headers["authorization"] == "Basic \(Data(pair.utf8).base64EncodedString())"
      else {
        return .text(401, "{\"ErrorCode\":\"invalid_client\",\"Error\":\"ClientId is Invalid\"}")
      }
      return .text(
        200, SimulatedFuelCheck(market: market).token(token, at: now), type: "text/plain")
    }
    guard path.hasPrefix("/FuelPriceCheck/") else { return .text(404, "{}") }
    guard request.headers["authorization"] == "Bearer \(token)", request.headers["apikey"] == key,
      request.headers["transactionid"]?.isEmpty == false,
      request.headers["requesttimestamp"]?.isEmpty == false
    else { return .text(401, "{\"fault\":{\"faultstring\":\"Invalid access token\"}}") }
    switch path {
    case "/FuelPriceCheck/v1/fuel/prices":
      noteListCall(at: now)
      return .text(200, SimulatedFuelCheck(market: market).prices(at: now))
    case "/FuelPriceCheck/v1/fuel/prices/new":
      let provider = SimulatedFuelCheck(market: market)
      return .text(200, provider.prices(at: now, since: lastKnown(at: now)))
    case "/FuelPriceCheck/v2/fuel/prices":
      guard request.query["states"] == "TAS" else {
        return .text(
          400, "{\"errorDetails\":[{\"code\":\"E0001\",\"description\":\"Invalid states\"}]}")
      }
      let provider = SimulatedFuelCheck(market: market, states: [.tas])
      return .text(200, provider.prices(at: now, version: 2))
    default: return .text(404, "{}")
    }
  }

  /// Returns the instant up to which the key has received every change: that of its previous call
  /// if it was on the same day, and otherwise the instant just before the day began. Records this
  /// call, so that the next answer omits the changes of this one, even if the client never received
  /// them.
  private func lastKnown(at now: Instant) -> Instant {
    let zone = newPricesDay ?? .utc
    let begin = zone.instant(of: 0, on: zone.local(now).day)
    if let last = noteListCall(at: now), begin <= last, last <= now { return last }
    // A call without a predecessor on its day must also get the changes of the day's first instant.
    return Instant(microseconds: begin.microseconds - 1)
  }

  /// - Returns: the instant of the previous call.
  @discardableResult
  private func noteListCall(at now: Instant) -> Instant? {
    lastListCall.withLock { last in
      let before = last
      last = now
      return before
    }
  }
}
