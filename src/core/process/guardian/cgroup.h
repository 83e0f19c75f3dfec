/*
 * A cgroup (v2) for the command, where the guardian can create one: as root, or where the caller's cgroup is delegated
 * to its user. A process cannot leave it by forking, it lists its processes, and it can be killed as a whole. Without a
 * cgroup, all of these functions do nothing, and only the process tree is used.
 */
#pragma once

#include <sys/types.h>

#include "abandoned-cgroups.h"

/* Creates the cgroup as a child of the guardian's. */
void cgroup_open(void);

/* Examines some of the cgroups beside it: their guardians may have been killed. */
void cgroup_examine_others(report_kill_t *report);

/* Forks into the cgroup. Without one, or if the kernel refuses, forks as usual. */
pid_t cgroup_fork(void);

/* Whether there is a cgroup. */
int cgroup_is_open(void);

/* The path of the cgroup; "" without one. */
const char *cgroup_path(void);

/* Its path as /proc/self/cgroup and container runtimes write it: without the mount point. "" without one. */
const char *cgroup_name(void);

/* Whether a process is alive in the cgroup or below it. */
int cgroup_has_processes(void);

/* Calls `each` for every process in the cgroup. */
void cgroup_each_process(void each(pid_t));

/* Says that a daemon may put containers into the cgroup, and that it may no longer. */
void cgroup_expect_container(void);
void cgroup_seal(void);

/* Kills all processes in the cgroup and below. */
void cgroup_kill(void);

/* Moves the living processes back to the guardian's cgroup: they are left running on purpose. */
void cgroup_release_processes(void);

/* Removes the cgroup when it is empty. */
void cgroup_remove(void);
