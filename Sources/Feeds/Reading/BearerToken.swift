import Foundation
import FuelModel
import HTTP

/// The token in an answer of OAuth 2.0, or of something like it.
struct BearerToken: Decodable {
  private let text: String
  /// Seconds.
  private let lifetime: LooseID?

  private enum CodingKeys: String, CodingKey {
    case text = "access_token"
    case lifetime = "expires_in"
  }

  /// What the answer lets in, and until when. A lifetime that is none, or longer than a token is ever kept, is cut to
  /// what is believed.
  ///
  /// - Throws: where it is no answer with one token. What came is not shown: it may hold the token in a place where it
  ///   was not expected.
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
    let seconds = token.lifetime.flatMap { Int64($0.text) } ?? 0
    return try Authority(
      bearer: token.text, headers: headers,
      expiresAt: seconds > 0 ? instant + .seconds(min(seconds, longest)) : nil)
  }

  // A week.
  private static let longest: Int64 = 7 * 86_400
}
