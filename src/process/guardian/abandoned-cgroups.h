/*
 * Cleans up cgroups that earlier runs have left next to the current one: an empty directory when all processes of a run
 * were killed at once, or a cgroup whose command runs without a guardian.
 */
#pragma once

#include <stddef.h>

/* Writes a cgroup name for the calling process, from which others can check whether the process lives. */
void abandoned_cgroups_make_name(char *name, size_t size);

/* Marks a cgroup whose processes were left running on purpose. */
void abandoned_cgroups_spare(int dir);

/* Kills processes without a guardian and removes empty cgroups. Ignores those of another pid namespace. */
void abandoned_cgroups_remove(int home);
