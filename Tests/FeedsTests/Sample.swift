import Configuration
import Feeds
import Foundation
import FuelModel
import TestDatabase
import Testing

/// The feeds of the project's configuration, and documents to read with them.
enum Sample {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()

  static func source(_ feed: String, environment: [String: String] = [:]) throws -> Source {
    let folder = root.appending(path: "../../config").standardized.path
    let sources = try Catalogue.sources(in: folder, environment: environment)
    return try #require(sources.first { $0.feed == feed })
  }

  static func parse(_ documents: [Document], _ feed: String) throws -> Reading {
    let source = try source(feed)
    return try source.provider.parse(documents, of: source)
  }

  static func fixture(_ path: String, at instant: String = "2026-08-31T03:00:00Z") throws
    -> Document
  {
    let url = root.appending(path: "Fixtures/\(path)")
    return Document(
      name: url.deletingPathExtension().lastPathComponent,
      bytes: [UInt8](try Data(contentsOf: url)), fetchedAt: try #require(Instant(iso: instant)))
  }

  static func document(_ name: String, _ text: String) -> Document {
    Document(name: name, bytes: Array(text.utf8), fetchedAt: Instant(seconds: 1_788_000_000))
  }

  /// Returns an answer of the samples. Its name states when it was fetched.
  static func answer(_ path: String, of samples: Samples, as name: String) throws -> Document {
    let bytes = try samples.answer(path)
    let stamp = path.split(separator: "-").last?.split(separator: ".").first.map(String.init) ?? ""
    return Document(
      name: name, bytes: bytes, fetchedAt: Instant(iso: stamp) ?? Instant(seconds: 1_788_000_000))
  }
}

extension Reading {
  func price(_ code: String, _ fuel: Fuel) -> String? {
    observations.first { $0.stationCode == code && $0.fuel == fuel }
      .map { "\($0.price?.centsPerLitre ?? "none") \($0.effectiveAt.map { "\($0)" } ?? "now")" }
  }

  var reasons: [String] { rejects.map(\.reason.rawValue) }
}
