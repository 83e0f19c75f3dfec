/*
 * Cleans up cgroups that earlier runs have left next to the current one: empty directories, if all processes of a run
 * were killed at once, and cgroups whose commands run without a guardian.
 */
#pragma once

#include <stddef.h>

/* Writes a cgroup name for the calling process. The name lets other processes check whether the process is alive. */
void abandoned_cgroups_make_name(char *name, size_t size);

/* Marks a cgroup whose processes were left running on purpose. */
void abandoned_cgroups_spare(int dir);

/* Kills processes without a guardian and removes empty cgroups. Ignores those of another pid namespace. */
void abandoned_cgroups_remove(int home);
