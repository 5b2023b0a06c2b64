import FuelModel

extension SimulatedFeeds {
  /// Answers as Fair Fuel of Victoria. The configured address ends before `/fuel`.
  func fairFuel(_ path: String, _ request: Server.Request) -> Server.Answer {
    func refusal(_ status: Int, _ code: String, _ message: String) -> Server.Answer {
      .text(status, jsonObject(["code": quoted(code), "message": quoted(message)]))
    }
    guard request.headers["x-consumer-id"] == Self.keys["BOWSER_VIC_FAIRFUEL_CONSUMER_ID"] else {
      return refusal(403, "ERR_UNAUTHORIZED", "The consumer is not known.")
    }
    for name in ["x-transactionid", "user-agent"] where request.headers[name, default: ""].isEmpty {
      return refusal(400, "ERR_BAD_REQUEST", "The header \(name) is missing.")
    }
    let provider = SimulatedFairFuel(market: market)
    switch path {
    case "/fuel/prices": return .text(200, provider.prices(at: now))
    case "/fuel/reference-data/stations": return .text(200, provider.stations())
    case "/fuel/reference-data/brands": return .text(200, provider.brands())
    case "/fuel/reference-data/types": return .text(200, provider.types())
    default: return refusal(404, "ERR_NOT_FOUND", "There is no such resource.")
    }
  }
}
