/*
 * Cgroups that a command makes in its own, or has made for it: a container runtime makes one for each container. Those of
 * nested runs are not among them (abandoned-cgroups.h).
 */
#pragma once

#include <stddef.h>

#define RUN_CGROUP_PREFIX "signalbox-run-"

/* Reads ids of processes in a cgroup, or else in one that was made in it. Returns whether there are any. */
int made_cgroups_read_processes(int dir, char *ids, size_t size);

/* Removes those that are empty. */
void made_cgroups_remove(int dir);
