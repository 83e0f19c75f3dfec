/* Launches the command from the guardian: fork, clean state, exec. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Leaves commands in the process group of the guardian, which is that of its caller. */
void launch_in_own_group(void);

/* Stores the runner's process id: that of the parent of the calling process. */
void note_runner(void);

/*
 * Protects the guardian as far as the system allows: when memory runs out, it is killed last, and it gets a high processor
 * priority, so that it can end a command that overloads the machine. The command gets the previous values.
 */
void raise_priority(void);

/*
 * Forks the command into its own process group, and into its cgroup if there is one.
 * extra, length: additions to the environment, each "NAME=value" and a NUL.
 * outcome: a descriptor to poll; it ends without data after a successful exec, else it yields the errno (an int).
 * Returns the process id, or -1 with errno.
 */
pid_t launch(char **argv, const char *extra, size_t length, int *outcome);

/* Redirects 0, 1, 2 to /dev/null, so that a guardian never keeps the command's output open for its reader. */
void drop_stdio(void);
