import Foundation
import FuelModel
import HTTP

/// The token in an answer of OAuth 2.0 or of a similar service.
struct BearerToken: Decodable {
  private let text: String
  /// In seconds.
  private let lifetime: LooseID?

  private enum CodingKeys: String, CodingKey {
    case text = "access_token"
    case lifetime = "expires_in"
  }

  /// Returns the authority that an answer grants, and until when. A lifetime of more than a week is
  /// cut to a week. Where it is missing or not a number above 0, `expiresAt` is `nil`, and the
  /// token is not kept for later runs.
  ///
  /// - Throws: where the answer does not consist of one token. The error does not show the answer,
  ///   which may contain the token in an unexpected part.
  static func authority(
    _ answer: Response, headers: [String: String] = [:], at instant: Instant
  ) throws(FeedError) -> Authority {
    guard answer.body.count <= InputLimit.tokenBytes.value else {
      throw .malformed(
        document: "token", reason: "more than \(InputLimit.tokenBytes.value) bytes for a token")
    }
    let document = Document(name: "token", bytes: answer.body, fetchedAt: instant)
    try checkStructure(of: document)
    let token: BearerToken
    do {
      token = try JSONDecoder().decode(BearerToken.self, from: Data(answer.body))
    } catch {
      throw .malformed(document: "token", reason: "no access_token in the answer")
    }
    // Any other text from outside must not get into a header.
    guard !token.text.isEmpty, token.text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { throw .malformed(document: "token", reason: "access_token is not a token") }
    let seconds = token.lifetime.flatMap { Int64($0.text) } ?? 0
    return Authority(
      headers: headers.merging(["Authorization": "Bearer \(token.text)"]) { $1 },
      expiresAt: seconds > 0 ? instant + .seconds(min(seconds, longest)) : nil)
  }

  // One week, in seconds.
  private static let longest: Int64 = 7 * 86_400
}
