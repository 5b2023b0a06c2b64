#pragma once

/// Takes from this process, and from all processes that it starts, everything that a reader of
/// documents does not need: sockets of every kind, other processes, other programs, mounts, and
/// changes of files. This cannot be undone.
///
/// With `starts_programs` the process may start other programs and end them. The same limits bind
/// those programs.
///
/// Returns 0, or the number of the error where the kernel does not support such a filter.
int bowser_confine(_Bool starts_programs);
