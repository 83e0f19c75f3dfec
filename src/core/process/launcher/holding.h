/* The launcher after the GUARD: it stays in the caller's process tree while the guardians work. */
#pragma once

/* Why the launcher waits for the agent again. */
struct hold_end {
  int is_retried; /* the command has ended, and will be started again. 0: the connection has ended before anything was started */
  int sock;       /* the connection with the agent */
  int exit_code;  /* of the command; -1 when it was terminated */
};

/* Forks the guardians, which use this connection, and ends with the exit code that the agent gives, or returns. */
struct hold_end hold_command(int sock);
