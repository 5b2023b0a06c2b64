#include <stddef.h>
#include <stdint.h>

/// One SQL file of this folder, as it was when the program was built.
typedef struct {
  const char *name;
  const unsigned char *bytes;
  size_t count;
} BowserMigration;

/// How many files there are.
size_t bowser_migration_count(void);

/// The file at a position below `bowser_migration_count()`, in the order of application.
BowserMigration bowser_migration(size_t index);

/// A digest of all files, their names and their order.
uint64_t bowser_migration_digest(void);
