#pragma once

/// Takes from this process, and from all that it starts, what a reader of documents has no use for: sockets of every
/// kind, other processes, other programs, mounts, and changes of files. It cannot be undone.
///
/// With `starts_programs` it may start other programs and end them, which are bound as it is.
///
/// Returns 0, or the error's number where the kernel has no such filter.
int bowser_confine(_Bool starts_programs);
