#pragma once

/// The commit that the program was built from, `+` where files differed from it; "unknown" where
/// nobody asked git.
const char *bowser_commit(void);
