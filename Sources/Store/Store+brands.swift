package import FuelModel
import Postgres

/// One way in which feeds write a brand's name.
package struct BrandName: Sendable, Equatable {
  /// The name as feeds write it, in lower case.
  package var written: String
  package var brand: String
  /// The first day on which the name means that brand; `nil` where it always has.
  package var from: Day?
  /// The first day on which the name no longer means it; `nil` where it still does.
  package var until: Day?
  /// Whether only members may buy where a station's brand or name contains these words.
  package var isMembersOnly = false

  package init(
    written: String, brand: String, from: Day? = nil, until: Day? = nil, isMembersOnly: Bool = false
  ) {
    self.written = written
    self.brand = brand
    self.from = from
    self.until = until
    self.isMembersOnly = isMembersOnly
  }
}

extension Store {
  /// Replaces the brand names in the database by those of the configuration. Where other stations
  /// sell to members only than before, stations are described again: those of feeds at once, those
  /// of archives when they are matched next.
  package func refreshBrands(_ names: [BrandName]) throws {
    try connection.transaction {
      let members = try membersOnly()
      try replaceBrands(names)
      guard try membersOnly() != members else { return }
      try renewFeedStations()
      try connection.execute(
        "UPDATE fuel.source SET are_links_due = true WHERE kind = 'archive' AND NOT are_links_due")
    }
  }

  private func membersOnly() throws -> Set<String> {
    Set(
      try connection.query("SELECT written FROM fuel.brand_name WHERE is_members_only")
        .map { try $0.text("written") })
  }

  private func replaceBrands(_ names: [BrandName]) throws {
    try connection.query(
      """
      CREATE TEMPORARY TABLE wanted_brand ON COMMIT DROP AS
      SELECT
        wanted.written, coalesce(wanted.valid_from, '-infinity') AS valid_from,
        coalesce(wanted.valid_to, 'infinity') AS valid_to, wanted.brand, wanted.is_members_only
      FROM unnest(
        \(names.map(\.written))::text[], \(names.map(\.brand))::text[],
        \(names.map(\.from))::date[], \(names.map(\.until))::date[],
        \(names.map { String($0.isMembersOnly) })::boolean[]
      ) AS wanted (written, brand, valid_from, valid_to, is_members_only)
      """)
    try connection.execute(
      """
      DELETE FROM fuel.brand_name
      WHERE NOT EXISTS (
        SELECT FROM pg_temp.wanted_brand AS wanted WHERE wanted.* = brand_name.*);
      INSERT INTO fuel.brand_name (written, valid_from, valid_to, brand, is_members_only)
      SELECT wanted.*
      FROM pg_temp.wanted_brand AS wanted
      ON CONFLICT DO NOTHING;
      DROP TABLE pg_temp.wanted_brand
      """)
  }
}
