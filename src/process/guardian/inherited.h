/*
 * What the command gets from the caller of signalbox besides the standard streams: descriptors that the caller left open
 * for it, and signals that the caller ignores (nohup(1), `trap '' HUP`).
 */
#pragma once

#include <stddef.h>

/* Calls `each` for every descriptor above 2 that an exec keeps open. All descriptors of signalbox are closed by one. */
void inherited_each_descriptor(void each(int fd));

/* Closes them: no guardian keeps a pipe or a lock of the caller open. */
void inherited_close(void);

/* Whether the caller ignores a signal. SIGCHLD is not passed on: who ignores it cannot wait for a child. */
int inherited_is_ignored(int sig);

/*
 * Writes "pid=PROCESS", then "fd=NUMBER" for each descriptor and "ignore=SIGNAL" for each signal, separated by blanks. Writes
 * nothing if there is neither. The text holds for this process only: another process that finds it in its environment ignores it.
 */
void inherited_describe(char *text, size_t size);

/*
 * Takes the same words as arguments, for a guardian that Node has started: Node has reset the signals, and passes the
 * descriptors in this order as numbers from `first` on. Moves them to their numbers, and *sock to a number that is free.
 * Returns 0, or -1 with errno.
 */
int inherited_take(char **words, int first, int *sock);
