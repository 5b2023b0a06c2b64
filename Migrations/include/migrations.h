/// The names of the SQL files of this folder in the order of application, one on each line, ended by a zero.
const unsigned char *bowser_migration_names(void);

/// The texts of these files as they were when the program was built: UTF-8, each ended by a zero.
const unsigned char *bowser_migration_texts(void);
