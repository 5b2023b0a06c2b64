// Every SQL file of this folder in the order of application, compiled into the program.

#include "migrations.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char m0001_create_schemas[] = {
#embed "0001_create_schemas.sql"
};
static const unsigned char m0002_create_reference[] = {
#embed "0002_create_reference.sql"
};
static const unsigned char m0003_create_station[] = {
#embed "0003_create_station.sql"
};
static const unsigned char m0004_create_run[] = {
#embed "0004_create_run.sql"
};
static const unsigned char m0005_create_price[] = {
#embed "0005_create_price.sql"
};
static const unsigned char m0006_create_rollup[] = {
#embed "0006_create_rollup.sql"
};
static const unsigned char m0007_create_body[] = {
#embed "0007_create_body.sql"
};
static const unsigned char m0008_extend_source[] = {
#embed "0008_extend_source.sql"
};
static const unsigned char m0009_create_station_description[] = {
#embed "0009_create_station_description.sql"
};
static const unsigned char m0010_create_area_level[] = {
#embed "0010_create_area_level.sql"
};
static const unsigned char m0011_create_archive[] = {
#embed "0011_create_archive.sql"
};
static const unsigned char m0012_extend_rollup[] = {
#embed "0012_extend_rollup.sql"
};
static const unsigned char m0013_extend_verdict[] = {
#embed "0013_extend_verdict.sql"
};
static const unsigned char m0014_create_aggregate_run[] = {
#embed "0014_create_aggregate_run.sql"
};
static const unsigned char m0015_create_timeline[] = {
#embed "0015_create_timeline.sql"
};
static const unsigned char m0016_drop_what_spans_replace[] = {
#embed "0016_drop_what_spans_replace.sql"
};
static const unsigned char m0016_free_price_event[] = {
#embed "0016_free_price_event.sql"
};
static const unsigned char m0017_judge_lists[] = {
#embed "0017_judge_lists.sql"
};
static const unsigned char m0018_judge_earlier_lists[] = {
#embed "0018_judge_earlier_lists.sql"
};
static const unsigned char m0019_station_doubt[] = {
#embed "0019_station_doubt.sql"
};
static const unsigned char m0020_edit_days[] = {
#embed "0020_edit_days.sql"
};
static const unsigned char m0021_take_by_number[] = {
#embed "0021_take_by_number.sql"
};
static const unsigned char m0022_tell_whatever_counts[] = {
#embed "0022_tell_whatever_counts.sql"
};
static const unsigned char m0023_days_in_bytes[] = {
#embed "0023_days_in_bytes.sql"
};
static const unsigned char m0024_judge_at_the_end[] = {
#embed "0024_judge_at_the_end.sql"
};
static const unsigned char m0025_bound_by_time[] = {
#embed "0025_bound_by_time.sql"
};
static const unsigned char m0026_know_by_digest[] = {
#embed "0026_know_by_digest.sql"
};
static const unsigned char m0027_replicate[] = {
#embed "0027_replicate.sql"
};
static const unsigned char m0028_name_the_country[] = {
#embed "0028_name_the_country.sql"
};
static const unsigned char m0029_drop_nation_zone[] = {
#embed "0029_drop_nation_zone.sql"
};
static const unsigned char m0030_seal_facts[] = {
#embed "0030_seal_facts.sql"
};
static const unsigned char m0031_judge_today[] = {
#embed "0031_judge_today.sql"
};
static const unsigned char m0032_read_again[] = {
#embed "0032_read_again.sql"
};
static const unsigned char m0033_hold_standings[] = {
#embed "0033_hold_standings.sql"
};
static const unsigned char m0034_market_events[] = {
#embed "0034_market_events.sql"
};
static const unsigned char m0035_notices[] = {
#embed "0035_notices.sql"
};
static const unsigned char m0036_station_turns[] = {
#embed "0036_station_turns.sql"
};
static const unsigned char m0037_station_details[] = {
#embed "0037_station_details.sql"
};
static const unsigned char m0038_unbind_rollup[] = {
#embed "0038_unbind_rollup.sql"
};
static const unsigned char m0039_number_runs[] = {
#embed "0039_number_runs.sql"
};
static const unsigned char m0040_know_neighbours[] = {
#embed "0040_know_neighbours.sql"
};
static const unsigned char m0041_follow_prices[] = {
#embed "0041_follow_prices.sql"
};
static const unsigned char m0042_index_expected[] = {
#embed "0042_index_expected.sql"
};
static const unsigned char m0043_note_overtaken[] = {
#embed "0043_note_overtaken.sql"
};
static const unsigned char m0044_index_running[] = {
#embed "0044_index_running.sql"
};
static const unsigned char m0045_know_coverage[] = {
#embed "0045_know_coverage.sql"
};
static const unsigned char m0046_know_members[] = {
#embed "0046_know_members.sql"
};
static const unsigned char m0047_cover_days[] = {
#embed "0047_cover_days.sql"
};
static const unsigned char m0048_make_whole_days[] = {
#embed "0048_make_whole_days.sql"
};
static const unsigned char private_counted[] = {
#embed "views/private_counted.sql"
};
static const unsigned char days_of[] = {
#embed "routines/days_of.sql"
};
static const unsigned char followers[] = {
#embed "routines/followers.sql"
};
static const unsigned char standing[] = {
#embed "routines/standing.sql"
};
static const unsigned char forget[] = {
#embed "routines/forget.sql"
};
static const unsigned char private_sight[] = {
#embed "views/private_sight.sql"
};
static const unsigned char private_believed[] = {
#embed "views/private_believed.sql"
};
static const unsigned char believed_until[] = {
#embed "routines/believed_until.sql"
};
static const unsigned char spans[] = {
#embed "routines/spans.sql"
};
static const unsigned char touch[] = {
#embed "routines/touch.sql"
};
static const unsigned char evidence[] = {
#embed "routines/evidence.sql"
};
static const unsigned char mark_days[] = {
#embed "routines/mark_days.sql"
};
static const unsigned char confirm_price[] = {
#embed "routines/confirm_price.sql"
};
static const unsigned char coverage_routine[] = {
#embed "routines/coverage.sql"
};
static const unsigned char private_station_day[] = {
#embed "views/private_station_day.sql"
};
static const unsigned char station_days[] = {
#embed "views/station_days.sql"
};
static const unsigned char brand_daily[] = {
#embed "views/brand_daily.sql"
};
static const unsigned char market_events[] = {
#embed "views/market_events.sql"
};
static const unsigned char price_changes[] = {
#embed "views/price_changes.sql"
};
static const unsigned char coverage[] = {
#embed "views/coverage.sql"
};
static const unsigned char clock[] = {
#embed "routines/clock.sql"
};
static const unsigned char price_intervals[] = {
#embed "routines/price_intervals.sql"
};
static const unsigned char country[] = {
#embed "routines/country.sql"
};
static const unsigned char price_day[] = {
#embed "routines/price_day.sql"
};
static const unsigned char kilometres[] = {
#embed "routines/kilometres.sql"
};
static const unsigned char merge_price_months[] = {
#embed "routines/merge_price_months.sql"
};
static const unsigned char ensure_price_month[] = {
#embed "routines/ensure_price_month.sql"
};
static const unsigned char replication[] = {
#embed "routines/replication.sql"
};
static const unsigned char archive_month[] = {
#embed "routines/archive_month.sql"
};
static const unsigned char private_price_now[] = {
#embed "views/private_price_now.sql"
};
static const unsigned char private_fact_hash[] = {
#embed "views/private_fact_hash.sql"
};
static const unsigned char private_region_clock[] = {
#embed "views/private_region_clock.sql"
};
static const unsigned char private_region_delay[] = {
#embed "views/private_region_delay.sql"
};
static const unsigned char private_average_live[] = {
#embed "views/private_average_live.sql"
};
static const unsigned char keep_averages[] = {
#embed "routines/keep_averages.sql"
};
static const unsigned char keep_calibration[] = {
#embed "routines/keep_calibration.sql"
};
static const unsigned char in_effect_at[] = {
#embed "routines/in_effect_at.sql"
};
static const unsigned char refresh_current[] = {
#embed "routines/refresh_current.sql"
};
static const unsigned char prune_bodies[] = {
#embed "routines/prune_bodies.sql"
};
static const unsigned char prune_rejects[] = {
#embed "routines/prune_rejects.sql"
};
static const unsigned char merge_listing[] = {
#embed "routines/merge_listing.sql"
};
static const unsigned char count_places[] = {
#embed "routines/count_places.sql"
};
static const unsigned char finish_backfill[] = {
#embed "routines/finish_backfill.sql"
};
static const unsigned char absorb[] = {
#embed "routines/absorb.sql"
};
static const unsigned char register_routine[] = {
#embed "routines/register.sql"
};
static const unsigned char refresh_regions[] = {
#embed "routines/refresh_regions.sql"
};
static const unsigned char describe_stations[] = {
#embed "routines/describe_stations.sql"
};
static const unsigned char link_stations[] = {
#embed "routines/link_stations.sql"
};
static const unsigned char number_change[] = {
#embed "routines/number_change.sql"
};
static const unsigned char refresh_changes[] = {
#embed "routines/refresh_changes.sql"
};
static const unsigned char stations[] = {
#embed "views/stations.sql"
};
static const unsigned char localities[] = {
#embed "views/localities.sql"
};
static const unsigned char station_history[] = {
#embed "views/station_history.sql"
};
static const unsigned char station_records[] = {
#embed "views/station_records.sql"
};
static const unsigned char current_prices[] = {
#embed "views/current_prices.sql"
};
static const unsigned char tomorrow_prices[] = {
#embed "views/tomorrow_prices.sql"
};
static const unsigned char price_history[] = {
#embed "views/price_history.sql"
};
static const unsigned char averages_now[] = {
#embed "views/averages_now.sql"
};
static const unsigned char daily_averages[] = {
#embed "views/daily_averages.sql"
};
static const unsigned char trend[] = {
#embed "routines/trend.sql"
};
static const unsigned char trend_30d[] = {
#embed "views/trend_30d.sql"
};
static const unsigned char trend_summary[] = {
#embed "views/trend_summary.sql"
};
static const unsigned char private_latest_verdict[] = {
#embed "views/private_latest_verdict.sql"
};
static const unsigned char aggregate_due[] = {
#embed "routines/aggregate_due.sql"
};
static const unsigned char fill_up[] = {
#embed "views/fill_up.sql"
};
static const unsigned char cycles[] = {
#embed "views/cycles.sql"
};
static const unsigned char fill_up_history[] = {
#embed "views/fill_up_history.sql"
};
static const unsigned char fill_up_scores[] = {
#embed "views/fill_up_scores.sql"
};
static const unsigned char verdict_record[] = {
#embed "views/verdict_record.sql"
};
static const unsigned char verdict_calibration[] = {
#embed "views/verdict_calibration.sql"
};
static const unsigned char station_fill_up[] = {
#embed "views/station_fill_up.sql"
};
static const unsigned char station_comparison[] = {
#embed "views/station_comparison.sql"
};
static const unsigned char feed_health[] = {
#embed "views/feed_health.sql"
};
static const unsigned char ingest_runs[] = {
#embed "views/ingest_runs.sql"
};
static const unsigned char rejects[] = {
#embed "views/rejects.sql"
};
static const unsigned char regions[] = {
#embed "views/regions.sql"
};
static const unsigned char region_stations[] = {
#embed "views/region_stations.sql"
};
static const unsigned char fuels[] = {
#embed "views/fuels.sql"
};
static const unsigned char changes[] = {
#embed "views/changes.sql"
};
static const unsigned char aggregate_runs[] = {
#embed "views/aggregate_runs.sql"
};
static const unsigned char pipeline[] = {
#embed "views/pipeline.sql"
};
static const unsigned char quarantined[] = {
#embed "views/quarantined.sql"
};
static const unsigned char public_functions[] = {
#embed "routines/public_functions.sql"
};

#define FILE_ENTRY(name, bytes) {name ".sql", bytes, sizeof bytes}

static const BowserMigration files[] = {
  FILE_ENTRY("0001_create_schemas", m0001_create_schemas),
  FILE_ENTRY("0002_create_reference", m0002_create_reference),
  FILE_ENTRY("0003_create_station", m0003_create_station),
  FILE_ENTRY("0004_create_run", m0004_create_run),
  FILE_ENTRY("0005_create_price", m0005_create_price),
  FILE_ENTRY("0006_create_rollup", m0006_create_rollup),
  FILE_ENTRY("0007_create_body", m0007_create_body),
  FILE_ENTRY("0008_extend_source", m0008_extend_source),
  FILE_ENTRY("0009_create_station_description", m0009_create_station_description),
  FILE_ENTRY("0010_create_area_level", m0010_create_area_level),
  FILE_ENTRY("0011_create_archive", m0011_create_archive),
  FILE_ENTRY("0012_extend_rollup", m0012_extend_rollup),
  FILE_ENTRY("0013_extend_verdict", m0013_extend_verdict),
  FILE_ENTRY("0014_create_aggregate_run", m0014_create_aggregate_run),
  FILE_ENTRY("0015_create_timeline", m0015_create_timeline),
  FILE_ENTRY("0016_free_price_event", m0016_free_price_event),
  FILE_ENTRY("0017_judge_lists", m0017_judge_lists),
  FILE_ENTRY("0018_judge_earlier_lists", m0018_judge_earlier_lists),
  FILE_ENTRY("0019_station_doubt", m0019_station_doubt),
  FILE_ENTRY("0020_edit_days", m0020_edit_days),
  FILE_ENTRY("0021_take_by_number", m0021_take_by_number),
  FILE_ENTRY("0022_tell_whatever_counts", m0022_tell_whatever_counts),
  FILE_ENTRY("0023_days_in_bytes", m0023_days_in_bytes),
  FILE_ENTRY("0024_judge_at_the_end", m0024_judge_at_the_end),
  FILE_ENTRY("0025_bound_by_time", m0025_bound_by_time),
  FILE_ENTRY("0026_know_by_digest", m0026_know_by_digest),
  FILE_ENTRY("0027_replicate", m0027_replicate),
  FILE_ENTRY("0028_name_the_country", m0028_name_the_country),
  FILE_ENTRY("0029_drop_nation_zone", m0029_drop_nation_zone),
  FILE_ENTRY("0030_seal_facts", m0030_seal_facts),
  FILE_ENTRY("0031_judge_today", m0031_judge_today),
  FILE_ENTRY("0032_read_again", m0032_read_again),
  FILE_ENTRY("0033_hold_standings", m0033_hold_standings),
  FILE_ENTRY("0034_market_events", m0034_market_events),
  FILE_ENTRY("0035_notices", m0035_notices),
  FILE_ENTRY("0036_station_turns", m0036_station_turns),
  FILE_ENTRY("0037_station_details", m0037_station_details),
  FILE_ENTRY("0038_unbind_rollup", m0038_unbind_rollup),
  FILE_ENTRY("0039_number_runs", m0039_number_runs),
  FILE_ENTRY("0040_know_neighbours", m0040_know_neighbours),
  FILE_ENTRY("0041_follow_prices", m0041_follow_prices),
  FILE_ENTRY("0042_index_expected", m0042_index_expected),
  FILE_ENTRY("0043_note_overtaken", m0043_note_overtaken),
  FILE_ENTRY("0044_index_running", m0044_index_running),
  FILE_ENTRY("0045_know_coverage", m0045_know_coverage),
  FILE_ENTRY("0046_know_members", m0046_know_members),
  FILE_ENTRY("0047_cover_days", m0047_cover_days),
  FILE_ENTRY("0048_make_whole_days", m0048_make_whole_days),
  FILE_ENTRY("views/private_counted", private_counted),
  FILE_ENTRY("routines/clock", clock),
  FILE_ENTRY("routines/country", country),
  FILE_ENTRY("routines/price_day", price_day),
  FILE_ENTRY("routines/price_intervals", price_intervals),
  FILE_ENTRY("routines/kilometres", kilometres),
  FILE_ENTRY("routines/merge_price_months", merge_price_months),
  FILE_ENTRY("routines/ensure_price_month", ensure_price_month),
  FILE_ENTRY("routines/replication", replication),
  FILE_ENTRY("routines/archive_month", archive_month),
  FILE_ENTRY("routines/believed_until", believed_until),
  FILE_ENTRY("views/private_sight", private_sight),
  FILE_ENTRY("views/private_believed", private_believed),
  FILE_ENTRY("routines/coverage", coverage_routine),
  FILE_ENTRY("routines/days_of", days_of),
  FILE_ENTRY("routines/spans", spans),
  FILE_ENTRY("routines/touch", touch),
  FILE_ENTRY("routines/evidence", evidence),
  FILE_ENTRY("routines/mark_days", mark_days),
  FILE_ENTRY("routines/confirm_price", confirm_price),
  FILE_ENTRY("views/private_price_now", private_price_now),
  FILE_ENTRY("views/private_fact_hash", private_fact_hash),
  FILE_ENTRY("views/private_region_clock", private_region_clock),
  FILE_ENTRY("views/private_region_delay", private_region_delay),
  FILE_ENTRY("views/private_average_live", private_average_live),
  FILE_ENTRY("routines/keep_averages", keep_averages),
  FILE_ENTRY("routines/keep_calibration", keep_calibration),
  FILE_ENTRY("routines/in_effect_at", in_effect_at),
  FILE_ENTRY("routines/refresh_current", refresh_current),
  FILE_ENTRY("routines/prune_bodies", prune_bodies),
  FILE_ENTRY("routines/prune_rejects", prune_rejects),
  FILE_ENTRY("routines/followers", followers),
  FILE_ENTRY("routines/standing", standing),
  FILE_ENTRY("routines/merge_listing", merge_listing),
  FILE_ENTRY("routines/count_places", count_places),
  FILE_ENTRY("routines/finish_backfill", finish_backfill),
  FILE_ENTRY("routines/forget", forget),
  FILE_ENTRY("routines/absorb", absorb),
  FILE_ENTRY("routines/register", register_routine),
  FILE_ENTRY("routines/refresh_regions", refresh_regions),
  FILE_ENTRY("routines/describe_stations", describe_stations),
  FILE_ENTRY("routines/link_stations", link_stations),
  FILE_ENTRY("routines/refresh_changes", refresh_changes),
  FILE_ENTRY("routines/number_change", number_change),
  FILE_ENTRY("views/stations", stations),
  FILE_ENTRY("views/localities", localities),
  FILE_ENTRY("views/station_history", station_history),
  FILE_ENTRY("views/station_records", station_records),
  FILE_ENTRY("views/current_prices", current_prices),
  FILE_ENTRY("views/tomorrow_prices", tomorrow_prices),
  FILE_ENTRY("views/price_history", price_history),
  FILE_ENTRY("views/averages_now", averages_now),
  FILE_ENTRY("views/daily_averages", daily_averages),
  FILE_ENTRY("views/private_station_day", private_station_day),
  FILE_ENTRY("views/station_days", station_days),
  FILE_ENTRY("views/brand_daily", brand_daily),
  FILE_ENTRY("views/market_events", market_events),
  FILE_ENTRY("views/price_changes", price_changes),
  FILE_ENTRY("views/coverage", coverage),
  FILE_ENTRY("routines/trend", trend),
  FILE_ENTRY("views/trend_30d", trend_30d),
  FILE_ENTRY("views/trend_summary", trend_summary),
  FILE_ENTRY("views/private_latest_verdict", private_latest_verdict),
  FILE_ENTRY("routines/aggregate_due", aggregate_due),
  FILE_ENTRY("views/fill_up", fill_up),
  FILE_ENTRY("views/cycles", cycles),
  FILE_ENTRY("views/fill_up_history", fill_up_history),
  FILE_ENTRY("views/fill_up_scores", fill_up_scores),
  FILE_ENTRY("views/verdict_record", verdict_record),
  FILE_ENTRY("views/verdict_calibration", verdict_calibration),
  FILE_ENTRY("views/station_fill_up", station_fill_up),
  FILE_ENTRY("views/station_comparison", station_comparison),
  FILE_ENTRY("views/feed_health", feed_health),
  FILE_ENTRY("views/ingest_runs", ingest_runs),
  FILE_ENTRY("views/rejects", rejects),
  FILE_ENTRY("views/regions", regions),
  FILE_ENTRY("views/region_stations", region_stations),
  FILE_ENTRY("views/fuels", fuels),
  FILE_ENTRY("views/changes", changes),
  FILE_ENTRY("views/aggregate_runs", aggregate_runs),
  FILE_ENTRY("views/pipeline", pipeline),
  FILE_ENTRY("views/quarantined", quarantined),
  FILE_ENTRY("routines/public_functions", public_functions),
  // After everything that used what it drops.
  FILE_ENTRY("0016_drop_what_spans_replace", m0016_drop_what_spans_replace),
};

size_t bowser_migration_count(void) { return sizeof files / sizeof files[0]; }

BowserMigration bowser_migration(size_t index) { return files[index]; }

uint64_t bowser_migration_digest(void) {
  // FNV-1a: it tells programs apart, and guards against nobody.
  uint64_t digest = 0xcbf29ce484222325;
  for (size_t index = 0; index < bowser_migration_count(); index++) {
    // With the byte that ends it.
    for (const char *c = files[index].name;; c++) {
      digest = (digest ^ (unsigned char)*c) * 0x100000001b3;
      if (*c == 0) break;
    }
    for (size_t byte = 0; byte < files[index].count; byte++) {
      digest = (digest ^ files[index].bytes[byte]) * 0x100000001b3;
    }
  }
  return digest;
}
