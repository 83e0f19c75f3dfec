#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A guardian is a "child subreaper": whatever its descendants do (setsid, double fork, the death of a parent), they
 * stay its descendants. So the chain of parents in /proc finds all of them, where a process group or a session does not.
 */
struct proc {
  pid_t pid, parent;
  unsigned long long born; /* clock ticks since boot: with the pid it names one process for good */
  int depth;               /* 1 for our children; 0 for a process that is no descendant */
};

struct list {
  struct proc *at; /* by pid */
  size_t count, room;
};

enum { PASSES = 16 }; /* a bound on the stopping of a fork bomb; the caller comes back anyway */

static struct list now, before;
static DIR *root;

int tree_open(void) {
  char self[16], pid[16];
  root = opendir("/proc");
  if (!root) return -1;
  ssize_t n = readlinkat(dirfd(root), "self", self, sizeof self - 1);
  if (n < 0) return -1;
  self[n] = '\0';
  snprintf(pid, sizeof pid, "%d", getpid());
  if (strcmp(self, pid) == 0) return 0;
  errno = ENXIO; /* a /proc of another pid namespace would have us kill strangers */
  return -1;
}

/* Reads parent and birth of a process. Returns 0, or -1 when it has just gone. */
static int look(pid_t pid, struct proc *out) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "%d/stat", pid);
  int fd = openat(dirfd(root), path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, sizeof text - 1);
  close(fd);
  if (n <= 0) return -1;
  text[n] = '\0';
  const char *rest = strrchr(text, ')'); /* a process may be named ") R 1": only the last bracket ends the name */
  out->pid = pid;
  out->depth = 0;
  return rest && sscanf(rest + 1,
                        " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                        &out->parent, &out->born) == 2
             ? 0
             : -1;
}

static int by_pid(const void *a, const void *b) {
  return ((const struct proc *)a)->pid - ((const struct proc *)b)->pid;
}

static struct proc *find(const struct list *in, pid_t pid) {
  const struct proc key = {.pid = pid};
  return in->count ? bsearch(&key, in->at, in->count, sizeof key, by_pid) : NULL;
}

static struct proc *grow(struct list *list) {
  if (list->count == list->room) {
    size_t room = list->room ? list->room * 2 : 512;
    struct proc *at = realloc(list->at, room * sizeof *at);
    if (!at) return NULL; /* out of memory: work with what was seen, the next pass sees more */
    list->at = at;
    list->room = room;
  }
  return &list->at[list->count];
}

/* How far below us a process is. The bound is for a chain that changed while it was read, and bites its tail. */
static int depth_of(const struct proc *p, pid_t self) {
  for (size_t depth = 1; depth <= now.count; depth++) {
    if (p->parent == self) return (int)depth;
    p = find(&now, p->parent);
    if (!p) return 0;
  }
  return 0;
}

/* Lists our descendants in `now`; what was there is in `before`. Returns the depth of the deepest. */
static int scan(void) {
  struct list old = before;
  before = now;
  now = old;
  now.count = 0;
  rewinddir(root);
  for (struct dirent *entry; (entry = readdir(root));) {
    pid_t pid = atoi(entry->d_name);
    struct proc *next = pid > 0 ? grow(&now) : NULL;
    if (next && look(pid, next) == 0) now.count++;
  }
  if (now.count) qsort(now.at, now.count, sizeof *now.at, by_pid);
  for (size_t i = 0; i < now.count; i++) now.at[i].depth = depth_of(&now.at[i], getpid());

  size_t kept = 0;
  int deepest = 0;
  for (size_t i = 0; i < now.count; i++) {
    if (now.at[i].depth == 0) continue;
    if (now.at[i].depth > deepest) deepest = now.at[i].depth;
    now.at[kept++] = now.at[i];
  }
  now.count = kept;
  return deepest;
}

/*
 * Signals a process that a scan saw, and no other one.
 *
 * Our own children are safe: a dead one keeps its pid until we reap it, and we reap nowhere near here. A grandchild
 * can be reaped by its parent at any time and its pid given away. So hold it by a pidfd, then look again: the same birth
 * before and after means that the pidfd, taken in between, is that process; and its parent is still the descendant of
 * ours that the scan saw, or meanwhile ourselves.
 */
static void hit(const struct proc *p, int sig) {
  if (p->parent == getpid()) {
    kill(p->pid, sig);
    return;
  }
  int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
  if (fd < 0 && errno == ESRCH) return;
  struct proc again;
  int same = look(p->pid, &again) == 0 && again.born == p->born &&
             (again.parent == p->parent || again.parent == getpid());
  if (same && fd >= 0) syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
  if (same && fd < 0) kill(p->pid, sig); /* before Linux 5.3, or no descriptor left: a window of microseconds remains */
  if (fd >= 0) close(fd);
}

void tree_terminate(void) {
  int deepest = scan();
  /* Ancestors first: a shell that lost its child before its own signal came would go on with its next line. */
  for (int depth = 1; depth <= deepest; depth++) {
    for (size_t i = 0; i < now.count; i++) {
      if (now.at[i].depth != depth) continue;
      hit(&now.at[i], SIGTERM);
      hit(&now.at[i], SIGCONT);
    }
  }
}

void tree_kill(void) {
  now.count = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    int fresh = 0;
    scan();
    for (size_t i = 0; i < now.count; i++) {
      const struct proc *known = find(&before, now.at[i].pid);
      if (known && known->born == now.at[i].born) continue;
      hit(&now.at[i], SIGSTOP); /* what is stopped cannot fork on while we walk */
      fresh++;
    }
    if (fresh == 0) break;
  }
  for (size_t i = 0; i < now.count; i++) hit(&now.at[i], SIGKILL);
}
