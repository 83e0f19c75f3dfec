/*
 * The command's processes: the descendants of the calling guardian, those seen before, and the members of its cgroup.
 */
#pragma once

/*
 * Opens /proc, and the memory of seen processes. Returns 0, or -1 with errno.
 * Guardians share a descriptor that was opened before their fork, including its position: only one may walk at a time.
 */
int tree_open(void);

/* Remembers the current processes of the command. */
void tree_scan(void);

/* Whether the last scan found a living process. */
int tree_has_living(void);

/* Whether a process of the command lives outside the guardian's own descendants. */
int tree_has_others(void);

/* Sends SIGTERM to all processes, ancestors first, each followed by SIGCONT so that a stopped process can end. */
void tree_terminate(void);

/*
 * Stops all processes of the command until no new one appears, but for at most 20 ms, then sends SIGKILL. Returns whether
 * it found new processes; then call it again at once. Otherwise call it again after a pause, until no process is left.
 */
int tree_kill(void);
