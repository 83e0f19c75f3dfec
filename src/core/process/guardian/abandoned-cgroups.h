/*
 * Cleans up cgroups that earlier runs have left next to the current one: empty directories, if all processes of a run
 * were killed at once, and cgroups whose commands run without a guardian.
 *
 * Both guardians of a command hold a lock on its cgroup.kill, which the kernel frees when the last of them ends. So whoever
 * gets the lock knows that no guardian lives, in whichever pid or time namespace it was. Nobody can take the lock who
 * could not kill the command as well.
 */
#pragma once

#include <stddef.h>

/* Writes a new name for a cgroup. */
void abandoned_cgroups_make_name(char *name, size_t size);

/* Takes the lock of a cgroup, given its cgroup.kill. Returns 0 if a guardian lives, or another process cleans up. */
int abandoned_cgroups_lock(int killer);

/* Says that a daemon may put containers into the cgroup at any time. */
void abandoned_cgroups_expect_container(int dir);

/*
 * Lets no new cgroup appear in one that expects containers. A daemon that was asked for one may start it late, when its client
 * is dead: it fails then. So the cgroup must not be removed for a while either.
 */
void abandoned_cgroups_seal(int dir);
int abandoned_cgroups_must_stay(int dir);

/* Marks a cgroup whose processes were left running on purpose. */
void abandoned_cgroups_spare(int dir);

/* Receives a sentence about processes that were killed. */
typedef void report_kill_t(const char *text);

/*
 * Examines some of the cgroups of runs in a directory, from a random one: kills processes without a guardian, and removes
 * empty cgroups.
 * report: may be NULL.
 */
void abandoned_cgroups_remove(int home, int count, report_kill_t *report);
