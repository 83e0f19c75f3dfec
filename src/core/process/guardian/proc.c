#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static DIR *root;

int proc_open(void) {
  char self[16], pid[16];
  if (root) closedir(root);
  root = opendir("/proc");
  if (!root) return -1;
  ssize_t n = readlinkat(dirfd(root), "self", self, sizeof self - 1);
  if (n < 0) return -1;
  self[n] = '\0';
  snprintf(pid, sizeof pid, "%d", getpid());
  if (strcmp(self, pid) == 0) return 0;
  errno = ENXIO; /* a /proc of another pid namespace would lead to killing unrelated processes */
  return -1;
}

static ssize_t read_stat(pid_t pid, char *text, size_t size) {
  char path[32];
  snprintf(path, sizeof path, "%d/stat", pid);
  int fd = openat(dirfd(root), path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  if (n > 0) text[n] = '\0';
  return n;
}

int proc_read(pid_t pid, struct proc *out) {
  char text[1024], state;
  long threads;
  if (read_stat(pid, text, sizeof text) <= 0) return -1;
  const char *rest = strrchr(text, ')'); /* a process may be named ") R 1": only the last bracket ends the name */
  *out = (struct proc){.pid = pid};
  if (!rest || sscanf(rest + 1,
                      " %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
                      &state, &out->parent, &out->group, &out->session, &threads, &out->born) != 6)
    return -1;
  out->is_stopped = state == 'T' || state == 't';
  out->dead = state == 'X' || (state == 'Z' && threads <= 1); /* a first thread may end while the others still run */
  return 0;
}

static int compare_pids(const void *a, const void *b) {
  return ((const struct proc *)a)->pid - ((const struct proc *)b)->pid;
}

struct proc *proc_find(const struct list *in, pid_t pid) {
  const struct proc key = {.pid = pid};
  return in->count ? bsearch(&key, in->at, in->count, sizeof key, compare_pids) : NULL;
}

static struct proc *append_proc(struct list *list) {
  if (list->count == list->room) {
    size_t room = list->room ? list->room * 2 : 512;
    struct proc *at = realloc(list->at, room * sizeof *at);
    if (!at) return NULL; /* out of memory: use what was read so far, the next pass reads more */
    list->at = at;
    list->room = room;
  }
  return &list->at[list->count];
}

void proc_list(struct list *all) {
  all->count = 0;
  rewinddir(root);
  for (struct dirent *entry; (entry = readdir(root));) {
    pid_t pid = atoi(entry->d_name);
    struct proc *next = pid > 0 ? append_proc(all) : NULL;
    if (next && proc_read(pid, next) == 0) all->count++;
  }
  if (all->count) qsort(all->at, all->count, sizeof *all->at, compare_pids);
}
