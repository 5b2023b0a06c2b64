#pragma once

/// Takes from this process, and from all that it starts, what a reader of documents has no use for: sockets of every
/// kind, other processes, other programs, mounts, and changes of files. It cannot be undone.
///
/// Returns 0, or the error's number where the kernel has no such filter.
int bowser_confine(void);
