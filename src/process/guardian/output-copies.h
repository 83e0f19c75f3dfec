#ifndef OUTPUT_COPIES_H
#define OUTPUT_COPIES_H

/* The runner's sockets for copies of standard output and error, behind that of the guardian. */
enum { COPIES_FD = 4 };

/*
 * Puts a relay before standard output and one before standard error. Each passes on what it gets, and gives the runner a
 * copy. Call this before all else: the relays must not be descendants of the guardians, which end those.
 * Returns what failed, with errno, or NULL.
 */
const char *copies_start(void);

#endif
