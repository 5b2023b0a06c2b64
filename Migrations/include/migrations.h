#include <stddef.h>

/// One SQL file of this folder, as it was when the program was built.
typedef struct {
  const char *name;
  /// UTF-8, ended by a zero.
  const unsigned char *text;
} BowserMigration;

/// How many files there are.
size_t bowser_migration_count(void);

/// The file at a position below `bowser_migration_count()`, in the order of application.
BowserMigration bowser_migration(size_t index);
