/* Two nested guardians: the inner one is a child of the outer one. */
#pragma once

#include "connection.h"

/*
 * Makes the calling process the outer guardian, which forks the inner one.
 * sock: the runner's socket. agent: NULL for a runner of Node.
 * Returns the exit code of the process, in both guardians.
 */
int run_guardians(int sock, const struct agent *agent);

/* After the death of guardians: kills the caller's descendants, and processes outside the tree, until none is left. */
void kill_orphans(void);
