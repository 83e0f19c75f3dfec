/* The command's processes when both guardians were killed. */
#pragma once

#include <sys/types.h>

/* Prepares for the death of both guardians, before they are forked. */
void orphans_prepare(void);

/* Kills the remaining processes until none is found. outer: the outer guardian, already reaped. cgroup: a path, or "". */
void orphans_kill(pid_t outer, const char *cgroup);
