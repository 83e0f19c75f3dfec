/* The inner guardian: the parent of the command, connected to the runner. */
#pragma once

#include "connection.h"

/*
 * Guards until no process of the command is left or the runner sends RELEASE.
 * sock: the runner's socket. agent: NULL for a runner of Node. lifeline: a socket that ends when the outer guardian dies.
 * Returns an exit code of wire.h.
 */
int run_inner_guardian(int sock, const struct agent *agent, int lifeline);
