/*
 * A cgroup (v2) for the command, where the guardian can create one: as root, or where the caller's cgroup is delegated
 * to its user. A process cannot leave it by forking, it lists its processes, and it can be killed as a whole. Without a
 * cgroup, all of these functions do nothing, and only the process tree is used.
 */
#ifndef GROUP_H
#define GROUP_H

#include <sys/types.h>

/* Creates the cgroup as a child of the guardian's own. Also removes what earlier runs have left there. */
void group_open(void);

/* Forks into the cgroup. Without one, or when the kernel refuses, only forks. */
pid_t group_fork(void);

/* Whether there is a cgroup. */
int group_is_open(void);

/* The path of the cgroup; "" without one. */
const char *group_path(void);

/* Whether a process lives in the cgroup or in a cgroup below it. */
int group_lives(void);

/* Calls `each` for every process in the cgroup. */
void group_members(void each(pid_t));

/* Kills all processes in the cgroup and below. */
void group_kill(void);

/* Moves the living processes back to the guardian's cgroup: they are left running on purpose. */
void group_let_go(void);

/* Removes the cgroup when it is empty. */
void group_remove(void);

#endif
