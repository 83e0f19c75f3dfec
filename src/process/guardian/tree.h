/* The command's processes: every descendant of the calling guardian, found in /proc. */
#ifndef TREE_H
#define TREE_H

/*
 * Opens /proc. Returns 0, or -1 with errno when it is not mounted or belongs to another pid namespace.
 * Guardians share what was opened before their fork, position included: only one of them may walk at a time.
 */
int tree_open(void);

/* SIGTERM to every descendant, ancestors first, each followed by SIGCONT so that a stopped one can die of it. */
void tree_terminate(void);

/* Stops every descendant until no new one appears, then SIGKILLs them all. Call again until waitpid says ECHILD. */
void tree_kill(void);

#endif
