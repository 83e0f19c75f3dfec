/* From a guardian to the command: fork, clean state, exec. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Best effort, where the system lets it: the guardian comes last when memory runs out and first when the processor is
 * fought for, so that a command which floods the machine can still be ended. The command gets back what was before.
 */
void take_shelter(void);

/*
 * Forks the command into a process group of its own.
 * extra, length: additions to the environment, each "NAME=value" and a NUL.
 * outcome: a descriptor to poll; it ends without data once the exec succeeded, else it yields the errno (an int).
 * Returns the process id, or -1 with errno.
 */
pid_t launch(char **argv, const char *extra, size_t length, int *outcome);

/* Puts /dev/null on 0, 1, 2, so that a guardian never keeps a reader of the command's output waiting. */
void drop_stdio(void);

#endif
