#define _GNU_SOURCE
#include "abandoned-cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "deadline.h"
#include "made-cgroups.h"

#define SPARED "user.signalbox.spared"
#define CONTAINER "user.signalbox.container"
#define SEALED "user.signalbox.sealed"
#define SEALED_FOR 600000000000LL /* a daemon that starts a container so late would make the cgroup again */
#define RUN_VARIABLE "SIGNALBOX_RUN="

enum { READS_MAX = 32 }; /* of a directory; a home with thousands of other cgroups is examined in parts */

void abandoned_cgroups_make_name(char *name, size_t size) {
  snprintf(name, size, RUN_CGROUP_PREFIX "%d-%llx", getpid(), (unsigned long long)now());
}

int abandoned_cgroups_lock(int killer) { return flock(killer, LOCK_EX | LOCK_NB) == 0; }

void abandoned_cgroups_expect_container(int dir) { fsetxattr(dir, CONTAINER, "1", 1, 0); }

void abandoned_cgroups_seal(int dir) {
  char expects;
  const int64_t at = now();
  int fd = fgetxattr(dir, CONTAINER, &expects, 1) < 0 ? -1 : openat(dir, "cgroup.max.descendants", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "0", 1) < 0) errno = 0;
  close(fd);
  fsetxattr(dir, SEALED, &at, sizeof at, XATTR_CREATE);
}

int abandoned_cgroups_must_stay(int dir) {
  int64_t at;
  return fgetxattr(dir, SEALED, &at, sizeof at) == sizeof at && now() - at < SEALED_FOR;
}

void abandoned_cgroups_spare(int dir) { fsetxattr(dir, SPARED, "1", 1, 0); }

static ssize_t read_start(int dir, const char *file, char *text, size_t size) {
  int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0) close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n;
}

/* Finds the id of a run in an environment: entries that each end with a NUL. Writes "" if there is none. */
static void find_run(const char *environment, ssize_t length, char *run, size_t size) {
  run[0] = '\0';
  for (const char *at = environment; at < environment + length; at += strlen(at) + 1)
    if (strncmp(at, RUN_VARIABLE, sizeof RUN_VARIABLE - 1) == 0) snprintf(run, size, "%s", at + sizeof RUN_VARIABLE - 1);
  for (char *at = run; *at; at++)
    if (*at <= ' ' || *at > '~') *at = '?'; /* another user's words, which reach a terminal */
}

static void describe_kill(const char *name, const char *processes, report_kill_t *report) {
  static char environment[64 * 1024];
  char file[32], run[64], text[448];
  snprintf(file, sizeof file, "/proc/%d/environ", atoi(processes));
  find_run(environment, read_start(AT_FDCWD, file, environment, sizeof environment), run, sizeof run);
  snprintf(text, sizeof text, "killed processes of the run %s in the cgroup %s: none of its guardians is alive",
           run[0] ? run : "(unknown)", name);
  report(text);
}

/* Kills what is in an abandoned cgroup, and in those of its containers. Processes of a nested run have their own guardian. */
static void kill_members(int dir, int killer, const char *name, report_kill_t *report) {
  char processes[32], spared;
  if (!made_cgroups_read_processes(dir, processes, sizeof processes) || fgetxattr(dir, SPARED, &spared, 1) >= 0) return;
  if (report) describe_kill(name, processes, report);
  if (write(killer, "1", 1) < 0) errno = 0;
}

static void remove_abandoned(int home, const char *name, report_kill_t *report) {
  char file[NAME_MAX + 16];
  snprintf(file, sizeof file, "%s/cgroup.kill", name);
  int killer = openat(home, file, O_WRONLY | O_CLOEXEC); /* fails for another user's */
  int dir = killer < 0 || !abandoned_cgroups_lock(killer) ? -1 : openat(home, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    abandoned_cgroups_seal(dir);
    kill_members(dir, killer, name, report);
    abandoned_cgroups_remove(dir, INT_MAX, report); /* those of nested runs */
    made_cgroups_remove(dir);
    const int stays = abandoned_cgroups_must_stay(dir);
    close(dir);
    if (!stays) unlinkat(home, name, AT_REMOVEDIR); /* fails while killed processes are still ending; a later guardian removes it */
  }
  if (killer >= 0) close(killer);
}

/* A part of a directory. Entries are sorted by a number that the kernel computes from their names. */
struct part {
  int fd, count; /* count: how many cgroups may still be examined */
  long from, to;
};

/* Examines the entries of a part. Its size does not depend on the number of entries, but on the count. */
static void examine(struct part *part, report_kill_t *report) {
  _Alignas(struct dirent64) char entries[2048];
  if (lseek(part->fd, part->from, SEEK_SET) < 0) return;
  for (int reads = 0; reads < READS_MAX && part->count > 0; reads++) {
    const long n = syscall(SYS_getdents64, part->fd, entries, sizeof entries);
    if (n <= 0) return;
    for (long at = 0; at < n && part->count > 0;) {
      const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
      at += entry->d_reclen;
      if (strncmp(entry->d_name, RUN_CGROUP_PREFIX, sizeof RUN_CGROUP_PREFIX - 1) == 0) {
        part->count--;
        remove_abandoned(part->fd, entry->d_name, report);
      }
      if (entry->d_off >= part->to) return;
    }
  }
}

void abandoned_cgroups_remove(int home, int count, report_kill_t *report) {
  const long first = (long)((unsigned long long)now() * 2654435761u % INT_MAX);
  struct part part = {.fd = openat(home, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), .count = count, .from = first, .to = LONG_MAX};
  if (part.fd < 0) return;
  examine(&part, report);
  part.from = 0;
  part.to = first;
  examine(&part, report);
  close(part.fd);
}
