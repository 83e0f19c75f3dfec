/*
 * What the command gets from the caller of signalbox besides the standard streams: descriptors that the caller left open
 * for it, and signals that the caller ignores (nohup(1), `trap '' HUP`).
 */
#pragma once

#include <stddef.h>

/* Calls `each` for every descriptor above 2 that an exec keeps open. An exec closes all descriptors of signalbox itself. */
void inherited_each_descriptor(void each(int fd));

/* Closes these descriptors, so that no guardian keeps a pipe or a lock of the caller open. */
void inherited_close(void);

/* Whether the caller ignores a signal. Never true for SIGCHLD: a command that inherits it as ignored cannot wait for children. */
int inherited_is_ignored(int sig);

/*
 * Writes "pid=PROCESS", then "fd=NUMBER" for each descriptor and "ignore=SIGNAL" for each signal, separated by blanks. Writes
 * an empty text if there is neither. The text is for this process only: others that inherit the variable ignore it.
 */
void inherited_describe(char *text, size_t size);

/*
 * Takes the same words as arguments, for a guardian that Node has started. Node has reset the signals, and passes the
 * descriptors in this order as `first` and the numbers after it. Moves them to their own numbers, and *sock to a free one.
 * Returns 0, or -1 with errno.
 */
int inherited_take(char **words, int first, int *sock);
