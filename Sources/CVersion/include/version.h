#pragma once

/// The commit that the program was built from, `+` where files differed from it; «unknown» outside a
/// git checkout.
const char *bowser_commit(void);
