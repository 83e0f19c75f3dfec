/* The outer guardian: the parent of the inner one, whose work it does if that one is killed, or held by a debugger. */
#pragma once

#include <sys/types.h>

/* Opens its descriptors, before the fork of the inner one. Returns 0, or -1 with errno. */
int outer_open(void);

/* Closes them in the inner one. */
void outer_close(void);

/*
 * Returns an exit code of wire.h when the inner guardian has ended.
 * runner: the parent of the calling process when it started. lifeline: a socket that ends when the inner guardian ends.
 */
int run_outer_guardian(pid_t inner, pid_t runner, int lifeline);
