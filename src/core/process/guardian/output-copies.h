#ifndef OUTPUT_COPIES_H
#define OUTPUT_COPIES_H

/* First of the two sockets for copies of standard output and error, after that of the guardian. */
enum { COPIES_FD = 4 };

/*
 * Puts a relay before standard output and one before standard error. Each passes on what it reads, and sends the runner a
 * copy. Call this first: the relays must not be descendants of the guardians, which would end them.
 * Returns what failed, with errno, or NULL.
 */
const char *copies_start(void);

#endif
