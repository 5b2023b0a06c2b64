// Every SQL file of this folder in the order of application, compiled into the program. config/migrations writes this
// file from the list in the file order.

#include "migrations.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const BowserMigration files[] = {
  {"schema/roles.sql", (const unsigned char[]) {
#embed "schema/roles.sql" suffix(, 0)
  }},
  {"schema/reference.sql", (const unsigned char[]) {
#embed "schema/reference.sql" suffix(, 0)
  }},
  {"schema/sources.sql", (const unsigned char[]) {
#embed "schema/sources.sql" suffix(, 0)
  }},
  {"schema/stations.sql", (const unsigned char[]) {
#embed "schema/stations.sql" suffix(, 0)
  }},
  {"schema/answers.sql", (const unsigned char[]) {
#embed "schema/answers.sql" suffix(, 0)
  }},
  {"schema/timeline.sql", (const unsigned char[]) {
#embed "schema/timeline.sql" suffix(, 0)
  }},
  {"schema/days.sql", (const unsigned char[]) {
#embed "schema/days.sql" suffix(, 0)
  }},
  {"schema/verdicts.sql", (const unsigned char[]) {
#embed "schema/verdicts.sql" suffix(, 0)
  }},
  {"schema/notices.sql", (const unsigned char[]) {
#embed "schema/notices.sql" suffix(, 0)
  }},
  {"views/private_counted.sql", (const unsigned char[]) {
#embed "views/private_counted.sql" suffix(, 0)
  }},
  {"routines/clock.sql", (const unsigned char[]) {
#embed "routines/clock.sql" suffix(, 0)
  }},
  {"routines/sum_facts.sql", (const unsigned char[]) {
#embed "routines/sum_facts.sql" suffix(, 0)
  }},
  {"routines/guard_changes.sql", (const unsigned char[]) {
#embed "routines/guard_changes.sql" suffix(, 0)
  }},
  {"routines/log_change.sql", (const unsigned char[]) {
#embed "routines/log_change.sql" suffix(, 0)
  }},
  {"routines/price_day.sql", (const unsigned char[]) {
#embed "routines/price_day.sql" suffix(, 0)
  }},
  {"routines/kilometres.sql", (const unsigned char[]) {
#embed "routines/kilometres.sql" suffix(, 0)
  }},
  {"routines/ensure_year.sql", (const unsigned char[]) {
#embed "routines/ensure_year.sql" suffix(, 0)
  }},
  {"routines/replication.sql", (const unsigned char[]) {
#embed "routines/replication.sql" suffix(, 0)
  }},
  {"routines/archive_month.sql", (const unsigned char[]) {
#embed "routines/archive_month.sql" suffix(, 0)
  }},
  {"routines/believed_until.sql", (const unsigned char[]) {
#embed "routines/believed_until.sql" suffix(, 0)
  }},
  {"views/private_sight.sql", (const unsigned char[]) {
#embed "views/private_sight.sql" suffix(, 0)
  }},
  {"views/private_believed.sql", (const unsigned char[]) {
#embed "views/private_believed.sql" suffix(, 0)
  }},
  {"routines/coverage.sql", (const unsigned char[]) {
#embed "routines/coverage.sql" suffix(, 0)
  }},
  {"routines/days_of.sql", (const unsigned char[]) {
#embed "routines/days_of.sql" suffix(, 0)
  }},
  {"routines/spans.sql", (const unsigned char[]) {
#embed "routines/spans.sql" suffix(, 0)
  }},
  {"routines/touch.sql", (const unsigned char[]) {
#embed "routines/touch.sql" suffix(, 0)
  }},
  {"routines/evidence.sql", (const unsigned char[]) {
#embed "routines/evidence.sql" suffix(, 0)
  }},
  {"routines/mark_days.sql", (const unsigned char[]) {
#embed "routines/mark_days.sql" suffix(, 0)
  }},
  {"routines/confirm_price.sql", (const unsigned char[]) {
#embed "routines/confirm_price.sql" suffix(, 0)
  }},
  {"views/private_price_now.sql", (const unsigned char[]) {
#embed "views/private_price_now.sql" suffix(, 0)
  }},
  {"views/private_fact_hash.sql", (const unsigned char[]) {
#embed "views/private_fact_hash.sql" suffix(, 0)
  }},
  {"views/private_region_clock.sql", (const unsigned char[]) {
#embed "views/private_region_clock.sql" suffix(, 0)
  }},
  {"views/private_region_delay.sql", (const unsigned char[]) {
#embed "views/private_region_delay.sql" suffix(, 0)
  }},
  {"routines/keep_calibration.sql", (const unsigned char[]) {
#embed "routines/keep_calibration.sql" suffix(, 0)
  }},
  {"routines/in_effect_at.sql", (const unsigned char[]) {
#embed "routines/in_effect_at.sql" suffix(, 0)
  }},
  {"routines/prune_bodies.sql", (const unsigned char[]) {
#embed "routines/prune_bodies.sql" suffix(, 0)
  }},
  {"routines/prune_rejects.sql", (const unsigned char[]) {
#embed "routines/prune_rejects.sql" suffix(, 0)
  }},
  {"routines/count_places.sql", (const unsigned char[]) {
#embed "routines/count_places.sql" suffix(, 0)
  }},
  {"routines/finish_backfill.sql", (const unsigned char[]) {
#embed "routines/finish_backfill.sql" suffix(, 0)
  }},
  {"routines/withdraw_file.sql", (const unsigned char[]) {
#embed "routines/withdraw_file.sql" suffix(, 0)
  }},
  {"routines/forget.sql", (const unsigned char[]) {
#embed "routines/forget.sql" suffix(, 0)
  }},
  {"routines/absorb.sql", (const unsigned char[]) {
#embed "routines/absorb.sql" suffix(, 0)
  }},
  {"routines/register.sql", (const unsigned char[]) {
#embed "routines/register.sql" suffix(, 0)
  }},
  {"routines/refresh_regions.sql", (const unsigned char[]) {
#embed "routines/refresh_regions.sql" suffix(, 0)
  }},
  {"routines/describe_stations.sql", (const unsigned char[]) {
#embed "routines/describe_stations.sql" suffix(, 0)
  }},
  {"routines/link_stations.sql", (const unsigned char[]) {
#embed "routines/link_stations.sql" suffix(, 0)
  }},
  {"routines/refresh_changes.sql", (const unsigned char[]) {
#embed "routines/refresh_changes.sql" suffix(, 0)
  }},
  {"routines/number_change.sql", (const unsigned char[]) {
#embed "routines/number_change.sql" suffix(, 0)
  }},
  {"routines/adopt.sql", (const unsigned char[]) {
#embed "routines/adopt.sql" suffix(, 0)
  }},
  {"views/stations.sql", (const unsigned char[]) {
#embed "views/stations.sql" suffix(, 0)
  }},
  {"views/localities.sql", (const unsigned char[]) {
#embed "views/localities.sql" suffix(, 0)
  }},
  {"views/station_history.sql", (const unsigned char[]) {
#embed "views/station_history.sql" suffix(, 0)
  }},
  {"views/station_records.sql", (const unsigned char[]) {
#embed "views/station_records.sql" suffix(, 0)
  }},
  {"views/current_prices.sql", (const unsigned char[]) {
#embed "views/current_prices.sql" suffix(, 0)
  }},
  {"views/tomorrow_prices.sql", (const unsigned char[]) {
#embed "views/tomorrow_prices.sql" suffix(, 0)
  }},
  {"views/price_history.sql", (const unsigned char[]) {
#embed "views/price_history.sql" suffix(, 0)
  }},
  {"views/averages_now.sql", (const unsigned char[]) {
#embed "views/averages_now.sql" suffix(, 0)
  }},
  {"views/daily_averages.sql", (const unsigned char[]) {
#embed "views/daily_averages.sql" suffix(, 0)
  }},
  {"views/private_station_day.sql", (const unsigned char[]) {
#embed "views/private_station_day.sql" suffix(, 0)
  }},
  {"views/station_days.sql", (const unsigned char[]) {
#embed "views/station_days.sql" suffix(, 0)
  }},
  {"views/brand_daily.sql", (const unsigned char[]) {
#embed "views/brand_daily.sql" suffix(, 0)
  }},
  {"views/market_events.sql", (const unsigned char[]) {
#embed "views/market_events.sql" suffix(, 0)
  }},
  {"views/price_changes.sql", (const unsigned char[]) {
#embed "views/price_changes.sql" suffix(, 0)
  }},
  {"views/coverage.sql", (const unsigned char[]) {
#embed "views/coverage.sql" suffix(, 0)
  }},
  {"routines/trend.sql", (const unsigned char[]) {
#embed "routines/trend.sql" suffix(, 0)
  }},
  {"views/trend_30d.sql", (const unsigned char[]) {
#embed "views/trend_30d.sql" suffix(, 0)
  }},
  {"views/trend_summary.sql", (const unsigned char[]) {
#embed "views/trend_summary.sql" suffix(, 0)
  }},
  {"views/private_latest_verdict.sql", (const unsigned char[]) {
#embed "views/private_latest_verdict.sql" suffix(, 0)
  }},
  {"routines/aggregate_due.sql", (const unsigned char[]) {
#embed "routines/aggregate_due.sql" suffix(, 0)
  }},
  {"views/fill_up.sql", (const unsigned char[]) {
#embed "views/fill_up.sql" suffix(, 0)
  }},
  {"views/cycles.sql", (const unsigned char[]) {
#embed "views/cycles.sql" suffix(, 0)
  }},
  {"views/fill_up_history.sql", (const unsigned char[]) {
#embed "views/fill_up_history.sql" suffix(, 0)
  }},
  {"views/verdict_scores.sql", (const unsigned char[]) {
#embed "views/verdict_scores.sql" suffix(, 0)
  }},
  {"views/verdict_calibration.sql", (const unsigned char[]) {
#embed "views/verdict_calibration.sql" suffix(, 0)
  }},
  {"views/station_fill_up.sql", (const unsigned char[]) {
#embed "views/station_fill_up.sql" suffix(, 0)
  }},
  {"views/station_comparison.sql", (const unsigned char[]) {
#embed "views/station_comparison.sql" suffix(, 0)
  }},
  {"views/feed_health.sql", (const unsigned char[]) {
#embed "views/feed_health.sql" suffix(, 0)
  }},
  {"views/ingest_runs.sql", (const unsigned char[]) {
#embed "views/ingest_runs.sql" suffix(, 0)
  }},
  {"views/rejects.sql", (const unsigned char[]) {
#embed "views/rejects.sql" suffix(, 0)
  }},
  {"views/regions.sql", (const unsigned char[]) {
#embed "views/regions.sql" suffix(, 0)
  }},
  {"views/region_stations.sql", (const unsigned char[]) {
#embed "views/region_stations.sql" suffix(, 0)
  }},
  {"views/fuels.sql", (const unsigned char[]) {
#embed "views/fuels.sql" suffix(, 0)
  }},
  {"views/changes.sql", (const unsigned char[]) {
#embed "views/changes.sql" suffix(, 0)
  }},
  {"views/aggregate_runs.sql", (const unsigned char[]) {
#embed "views/aggregate_runs.sql" suffix(, 0)
  }},
  {"views/pipeline.sql", (const unsigned char[]) {
#embed "views/pipeline.sql" suffix(, 0)
  }},
  {"views/quarantined.sql", (const unsigned char[]) {
#embed "views/quarantined.sql" suffix(, 0)
  }},
  {"routines/public_functions.sql", (const unsigned char[]) {
#embed "routines/public_functions.sql" suffix(, 0)
  }},
};

size_t bowser_migration_count(void) { return sizeof files / sizeof files[0]; }

BowserMigration bowser_migration(size_t index) { return files[index]; }
