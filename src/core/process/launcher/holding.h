/* The launcher after the GUARD: it stays in the caller's process tree while the guardians work. */
#pragma once

#include <stddef.h>

/* The argument area, which guardians overwrite. */
struct arguments {
  char *at;
  size_t length;
};

/*
 * Forks the guardians, which use this connection, and ends with the exit code that the agent gives. Returns only when
 * the agent's connection has ended before anything was started.
 */
void hold_command(int sock, struct arguments arguments);
