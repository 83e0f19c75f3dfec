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

/*
 * Starts one relay before an output. hide: removes what the arguments of the relay would show; NULL: nothing.
 * Returns the descriptor to write to, or -1 with errno.
 */
int copies_relay(int out, int copy, void hide(void));

#endif
