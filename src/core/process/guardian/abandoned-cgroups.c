#define _GNU_SOURCE
#include "abandoned-cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "proc.h"

#define PREFIX "signalbox-"
#define SPARED "user.signalbox.spared"

static unsigned long pid_namespace(void) {
  struct stat st;
  return stat("/proc/self/ns/pid", &st) == 0 ? (unsigned long)st.st_ino : 0;
}

void abandoned_cgroups_make_name(char *name, size_t size) {
  struct proc self = {0};
  proc_read(getpid(), &self);
  snprintf(name, size, PREFIX "%lx-%d-%llu", pid_namespace(), getpid(), self.born);
}

/* Whether the guardian of a cgroup is certainly dead: its pid is unused, a younger process's, or a zombie's. */
static int is_abandoned(const char *name, unsigned long namespace) {
  unsigned long there;
  unsigned long long born;
  int pid;
  struct proc p;
  if (sscanf(name, PREFIX "%lx-%d-%llu", &there, &pid, &born) != 3 || there != namespace || born == 0) return 0;
  if (kill(pid, 0) < 0 && errno == ESRCH) return 1;
  return proc_read(pid, &p) == 0 && (p.born != born || p.dead);
}

void abandoned_cgroups_spare(int dir) { fsetxattr(dir, SPARED, "1", 1, 0); }

/* Counts only direct members: processes in a cgroup below have their own guardian. */
static int has_members(int dir) {
  char first;
  int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, &first, 1);
  if (fd >= 0) close(fd);
  return n > 0;
}

static void kill_members(int dir) {
  int fd = openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return; /* another user's */
  if (write(fd, "1", 1) < 0) errno = 0;
  close(fd);
}

static void remove_abandoned(int home, const char *name) {
  char spared;
  int dir = openat(home, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) return;
  if (has_members(dir) && fgetxattr(dir, SPARED, &spared, 1) < 0) kill_members(dir);
  abandoned_cgroups_remove(dir); /* those of nested runs */
  close(dir);
  unlinkat(home, name, AT_REMOVEDIR); /* fails while killed processes are still ending; the next run removes it */
}

void abandoned_cgroups_remove(int home) {
  unsigned long namespace = pid_namespace();
  int fd = openat(home, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *all = fd < 0 ? NULL : fdopendir(fd);
  for (struct dirent *entry; all && (entry = readdir(all));) {
    if (strncmp(entry->d_name, PREFIX, sizeof PREFIX - 1) == 0 && is_abandoned(entry->d_name, namespace))
      remove_abandoned(home, entry->d_name);
  }
  if (all) closedir(all);
}
