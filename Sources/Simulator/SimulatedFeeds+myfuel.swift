import Foundation
import FuelModel

extension SimulatedFeeds {
  /// Answers as MyFuel of the Northern Territory. The page needs no key, the interface needs an
  /// account.
  func myFuel(_ path: String, _ request: Server.Request) -> Server.Answer {
    let now = self.now
    let provider = SimulatedMyFuel(market: market)
    // A token is valid for a day, like the provider's tokens.
    let token = "simulated-territory-\(now.seconds / 86_400)"
    switch (request.method, path) {
    case ("GET", "/Home/Results"):
      return .text(200, provider.page(at: now), type: "text/html; charset=utf-8")
    case ("POST", "/api/token"):
      let form = Self.fields(ofForm: request.body)
      guard form["grant_type"] == "password",
        form["username"] == Self.keys["BOWSER_NT_MYFUEL_USERNAME"],
        form["password"] == Self.keys["BOWSER_NT_MYFUEL_PASSWORD"]
      else {
        return .text(
          400, "{\"error\":\"invalid_grant\",\"error_description\":\"Wrong name or password.\"}")
      }
      return .text(200, provider.token(token))
    default: break
    }
    guard path.hasPrefix("/api/v1/") else { return .text(404, "{\"Message\":\"Not found.\"}") }
    guard request.headers["authorization"] == "Bearer \(token)" else {
      return .text(401, "{\"Message\":\"Authorization has been denied for this request.\"}")
    }
    switch (request.method, path) {
    case ("GET", "/api/v1/getReferenceData"): return .text(200, provider.reference())
    case ("POST", "/api/v1/getFuelPrice/fuelOutletIdentifier"):
      guard let ids = Self.identifiers(in: request.body),
        ids.count <= SimulatedMyFuel.mostIdentifiers
      else { return .text(400, "{\"Message\":\"The request is invalid.\"}") }
      return .text(200, provider.prices(of: ids, at: now))
    default: return .text(404, "{\"Message\":\"Not found.\"}")
    }
  }

  /// Returns the decoded fields of `name=value&name=value`.
  private static func fields(ofForm body: [UInt8]) -> [String: String] {
    // A plus sign means a space in a form, but a plus sign in a query, and a parser of queries
    // reads this form.
    let text = String(decoding: body, as: UTF8.self).replacing("+", with: "%20")
    var fields: [String: String] = [:]
    for item in URLComponents(string: "?" + text)?.queryItems ?? [] {
      fields[item.name] = item.value ?? ""
    }
    return fields
  }

  /// Returns the outlets that a body `{"FuelOutletIdentifier":[...]}` asks for, or `nil` for any
  /// other body.
  private static func identifiers(in body: [UInt8]) -> [String]? {
    let question = try? JSONDecoder().decode([String: [String]].self, from: Data(body))
    return question?["FuelOutletIdentifier"]
  }
}
