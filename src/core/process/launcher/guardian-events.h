/* Events that the inner guardian sends to the launcher over their control socket. */
#pragma once

/* Discards the events of earlier guardians. */
void guardian_events_reset(void);

/*
 * Reads the guardian's frames: writes its messages, and replaces *sock by a connection that it has opened.
 * Returns 0 when the guardian has ended.
 */
int guardian_events_read(int control, int *sock);

/* The path of the command's cgroup, or "". */
const char *guardian_cgroup(void);

/* The process id of the inner guardian; 0 before it is known. */
int guardian_inner(void);

/* The command's exit code, as a shell would give it; -1 when it is unknown or the command was terminated. */
int guardian_exit_code(void);
