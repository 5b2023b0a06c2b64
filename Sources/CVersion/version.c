#include "version.h"

const char *bowser_commit(void) { return BOWSER_COMMIT; }
