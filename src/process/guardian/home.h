/* The cgroup (v2) of this process. */
#ifndef HOME_H
#define HOME_H

#include <stddef.h>

/*
 * Opens the directory of the guardian's own cgroup and writes its path. Returns -1 when no directory is certain to be
 * the own cgroup: in a container, the mounted tree may be another part of the hierarchy.
 */
int home_open(char *path, size_t size);

#endif
