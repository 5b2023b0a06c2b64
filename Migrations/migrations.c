// Every SQL file of this folder in the order of application, compiled into the program. config/migrations writes this
// file from the list in the file order.

#include "migrations.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char names[] = {
#embed "order" suffix(, 0)
};

static const unsigned char texts[] = {
#embed "schema/roles.sql" suffix(, 0,)
#embed "schema/reference.sql" suffix(, 0,)
#embed "schema/sources.sql" suffix(, 0,)
#embed "schema/stations.sql" suffix(, 0,)
#embed "schema/answers.sql" suffix(, 0,)
#embed "schema/timeline.sql" suffix(, 0,)
#embed "schema/days.sql" suffix(, 0,)
#embed "schema/verdicts.sql" suffix(, 0,)
#embed "schema/members.sql" suffix(, 0,)
#embed "schema/notices.sql" suffix(, 0,)
#embed "views/private_counted.sql" suffix(, 0,)
#embed "routines/clock.sql" suffix(, 0,)
#embed "routines/chain.sql" suffix(, 0,)
#embed "routines/ledger.sql" suffix(, 0,)
#embed "routines/guard_changes.sql" suffix(, 0,)
#embed "routines/places.sql" suffix(, 0,)
#embed "routines/replication.sql" suffix(, 0,)
#embed "routines/archives.sql" suffix(, 0,)
#embed "routines/believed.sql" suffix(, 0,)
#embed "routines/coverage.sql" suffix(, 0,)
#embed "routines/spans.sql" suffix(, 0,)
#embed "routines/touch.sql" suffix(, 0,)
#embed "routines/present.sql" suffix(, 0,)
#embed "routines/prune.sql" suffix(, 0,)
#embed "routines/forget.sql" suffix(, 0,)
#embed "routines/absorb.sql" suffix(, 0,)
#embed "routines/register.sql" suffix(, 0,)
#embed "routines/describe_stations.sql" suffix(, 0,)
#embed "routines/link_stations.sql" suffix(, 0,)
#embed "routines/verify.sql" suffix(, 0,)
#embed "routines/adopt.sql" suffix(, 0,)
#embed "views/stations.sql" suffix(, 0,)
#embed "views/prices.sql" suffix(, 0,)
#embed "views/averages.sql" suffix(, 0,)
#embed "views/verdicts.sql" suffix(, 0,)
#embed "routines/aggregate_due.sql" suffix(, 0,)
#embed "views/runs.sql" suffix(, 0,)
#embed "views/metrics.sql" suffix(, 0,)
#embed "routines/public_functions.sql" suffix(, 0,)
#embed "routines/hub.sql" suffix(, 0,)
};

const unsigned char *bowser_migration_names(void) { return names; }

const unsigned char *bowser_migration_texts(void) { return texts; }
