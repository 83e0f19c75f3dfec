#define _GNU_SOURCE
#include "own-cgroup.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { CGROUP2 = 0x63677270 };

/* Reads the line of /proc/self/cgroup for v2, which begins with "0::". */
static int read_own_path(char *own, size_t size) {
  char line[PATH_MAX];
  int found = 0;
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && !found && fgets(line, sizeof line, file)) found = strncmp(line, "0::/", 4) == 0;
  if (file) fclose(file);
  if (!found) return -1;
  line[strcspn(line, "\n")] = '\0';
  const char *at = line + 3;
  return snprintf(own, size, "%s", strcmp(at, "/") == 0 ? "" : at) < (int)size ? 0 : -1;
}

static int contains_self(int dir) {
  int pid, found = 0, fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  while (file && !found && fscanf(file, "%d", &pid) == 1) found = pid == getpid();
  if (file) fclose(file);
  return found;
}

int own_cgroup_open(char *path, size_t size) {
  static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
  char own[PATH_MAX];
  struct statfs fs;
  if (read_own_path(own, sizeof own) < 0) return -1;
  for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
    if (statfs(mounts[i], &fs) < 0 || fs.f_type != CGROUP2) continue;
    if (snprintf(path, size, "%s%s", mounts[i], own) >= (int)size) return -1;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || contains_self(dir)) return dir;
    close(dir);
    return -1;
  }
  return -1;
}
