#define _GNU_SOURCE
#include "made-cgroups.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

typedef int visit_t(int parent, const char *name, int dir, void *data);

static int is_run(const char *name) { return strncmp(name, RUN_CGROUP_PREFIX, sizeof RUN_CGROUP_PREFIX - 1) == 0; }

static int is_made(const struct dirent *entry) { return entry->d_type == DT_DIR && entry->d_name[0] != '.'; }

/* Calls `visit` for each, until it returns a number other than 0, which it returns. */
static int visit_made(int parent, visit_t *visit, void *data) {
  const int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd < 0 ? NULL : fdopendir(fd);
  const struct dirent *entry;
  int result = 0;
  while (list && !result && (entry = readdir(list))) {
    const int dir = is_made(entry) ? openat(parent, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0) continue;
    result = visit(parent, entry->d_name, dir, data);
    close(dir);
  }
  if (list) closedir(list);
  else if (fd >= 0) close(fd);
  return result;
}

struct text {
  char *at;
  size_t size;
};

static int read_processes(int parent, const char *name, int dir, void *data) {
  const struct text *ids = data;
  (void)parent;
  if (is_run(name)) return 0;
  const int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  const ssize_t n = fd < 0 ? -1 : read(fd, ids->at, ids->size - 1);
  if (fd >= 0) close(fd);
  ids->at[n > 0 ? n : 0] = '\0';
  return n > 0 ? 1 : visit_made(dir, read_processes, data);
}

int made_cgroups_read_processes(int dir, char *ids, size_t size) {
  return read_processes(-1, "", dir, &(struct text){ids, size});
}

/* data: NULL in a container, whose runs end with it */
static int remove_made(int parent, const char *name, int dir, void *data) {
  if (data && is_run(name)) return 0;
  visit_made(dir, remove_made, NULL);
  unlinkat(parent, name, AT_REMOVEDIR);
  return 0;
}

void made_cgroups_remove(int dir) { visit_made(dir, remove_made, &dir); }
