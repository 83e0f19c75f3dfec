/* Forks the outer guardian from the launcher. */
#pragma once

#include <sys/types.h>

/* sock: the agent's connection. control: receives the launcher's end of the control socket. Returns -1 with errno. */
pid_t fork_guardian(int sock, int *control);
