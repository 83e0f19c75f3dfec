/* The cgroup (v2) of this process. */
#ifndef OWN_CGROUP_H
#define OWN_CGROUP_H

#include <stddef.h>

/*
 * Opens the directory of the guardian's own cgroup and writes its path. Returns -1 when no directory is certain to be
 * the own cgroup: in a container, the mounted tree may be another part of the hierarchy.
 */
int own_cgroup_open(char *path, size_t size);

#endif
