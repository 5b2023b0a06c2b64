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
  {"schema/members.sql", (const unsigned char[]) {
#embed "schema/members.sql" suffix(, 0)
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
  {"routines/chain.sql", (const unsigned char[]) {
#embed "routines/chain.sql" suffix(, 0)
  }},
  {"routines/ledger.sql", (const unsigned char[]) {
#embed "routines/ledger.sql" suffix(, 0)
  }},
  {"routines/guard_changes.sql", (const unsigned char[]) {
#embed "routines/guard_changes.sql" suffix(, 0)
  }},
  {"routines/places.sql", (const unsigned char[]) {
#embed "routines/places.sql" suffix(, 0)
  }},
  {"routines/replication.sql", (const unsigned char[]) {
#embed "routines/replication.sql" suffix(, 0)
  }},
  {"routines/archives.sql", (const unsigned char[]) {
#embed "routines/archives.sql" suffix(, 0)
  }},
  {"routines/believed.sql", (const unsigned char[]) {
#embed "routines/believed.sql" suffix(, 0)
  }},
  {"routines/coverage.sql", (const unsigned char[]) {
#embed "routines/coverage.sql" suffix(, 0)
  }},
  {"routines/spans.sql", (const unsigned char[]) {
#embed "routines/spans.sql" suffix(, 0)
  }},
  {"routines/touch.sql", (const unsigned char[]) {
#embed "routines/touch.sql" suffix(, 0)
  }},
  {"routines/present.sql", (const unsigned char[]) {
#embed "routines/present.sql" suffix(, 0)
  }},
  {"routines/prune.sql", (const unsigned char[]) {
#embed "routines/prune.sql" suffix(, 0)
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
  {"routines/describe_stations.sql", (const unsigned char[]) {
#embed "routines/describe_stations.sql" suffix(, 0)
  }},
  {"routines/link_stations.sql", (const unsigned char[]) {
#embed "routines/link_stations.sql" suffix(, 0)
  }},
  {"routines/verify.sql", (const unsigned char[]) {
#embed "routines/verify.sql" suffix(, 0)
  }},
  {"routines/adopt.sql", (const unsigned char[]) {
#embed "routines/adopt.sql" suffix(, 0)
  }},
  {"views/stations.sql", (const unsigned char[]) {
#embed "views/stations.sql" suffix(, 0)
  }},
  {"views/prices.sql", (const unsigned char[]) {
#embed "views/prices.sql" suffix(, 0)
  }},
  {"views/averages.sql", (const unsigned char[]) {
#embed "views/averages.sql" suffix(, 0)
  }},
  {"views/verdicts.sql", (const unsigned char[]) {
#embed "views/verdicts.sql" suffix(, 0)
  }},
  {"routines/aggregate_due.sql", (const unsigned char[]) {
#embed "routines/aggregate_due.sql" suffix(, 0)
  }},
  {"views/runs.sql", (const unsigned char[]) {
#embed "views/runs.sql" suffix(, 0)
  }},
  {"views/metrics.sql", (const unsigned char[]) {
#embed "views/metrics.sql" suffix(, 0)
  }},
  {"routines/public_functions.sql", (const unsigned char[]) {
#embed "routines/public_functions.sql" suffix(, 0)
  }},
  {"routines/hub.sql", (const unsigned char[]) {
#embed "routines/hub.sql" suffix(, 0)
  }},
};

size_t bowser_migration_count(void) { return sizeof files / sizeof files[0]; }

BowserMigration bowser_migration(size_t index) { return files[index]; }
