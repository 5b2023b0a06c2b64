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

  package init(written: String, brand: String, from: Day? = nil, until: Day? = nil) {
    self.written = written
    self.brand = brand
    self.from = from
    self.until = until
  }
}

extension Store {
  /// Replaces the brand names in the database by those of the configuration.
  package func refreshBrands(_ names: [BrandName]) throws {
    try connection.transaction {
      try connection.query(
        """
        CREATE TEMPORARY TABLE wanted_brand ON COMMIT DROP AS
        SELECT
          wanted.written, wanted.brand, coalesce(wanted.valid_from, '-infinity') AS valid_from,
          coalesce(wanted.valid_to, 'infinity') AS valid_to
        FROM unnest(
          \(names.map(\.written))::text[], \(names.map(\.brand))::text[],
          \(names.map(\.from))::date[], \(names.map(\.until))::date[]
        ) AS wanted (written, brand, valid_from, valid_to)
        """)
      try connection.execute(
        """
        DELETE FROM fuel.brand_name
        WHERE NOT EXISTS (
          SELECT FROM pg_temp.wanted_brand AS wanted
          WHERE (wanted.written, wanted.brand, wanted.valid_from, wanted.valid_to)
            = (brand_name.written, brand_name.brand, brand_name.valid_from, brand_name.valid_to));
        INSERT INTO fuel.brand_name (written, brand, valid_from, valid_to)
        SELECT wanted.written, wanted.brand, wanted.valid_from, wanted.valid_to
        FROM pg_temp.wanted_brand AS wanted
        ON CONFLICT DO NOTHING;
        DROP TABLE pg_temp.wanted_brand
        """)
    }
  }
}
