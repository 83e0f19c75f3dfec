#define _GNU_SOURCE
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "made-cgroups.h"

enum {
  NONE = -1,
  TRIES = 16,
  CGROUP2 = 0x63677270,
  EXAMINED = 8, /* at a time; all of them on most hosts, and no more with a thousand */
};

static int home = NONE;   /* the guardian's own cgroup */
static int dir = NONE;    /* the command's cgroup */
static int killer = NONE; /* the command's cgroup.kill */
static char name[64], path[PATH_MAX];
static size_t mount_length; /* of the mount point, with which the path begins */

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

/*
 * Whether a mount point shows the cgroup from which the kernel counts this process's paths. In a container, the mounted
 * tree may be another part of the hierarchy. The last line counts: its mount covers earlier ones.
 */
static int shows_own_root(const char *mount) {
  enum { ROOT = 3, POINT, FIELDS };
  char line[2 * PATH_MAX], *fields[FIELDS];
  int shows = 0;
  FILE *file = fopen("/proc/self/mountinfo", "re");
  while (file && fgets(line, sizeof line, file)) {
    int count = 0;
    for (char *rest = line; rest && count < FIELDS;) fields[count++] = strsep(&rest, " ");
    if (count == FIELDS && strcmp(fields[POINT], mount) == 0) shows = strcmp(fields[ROOT], "/") == 0;
  }
  if (file) fclose(file);
  return shows;
}

/* Opens the directory of the guardian's cgroup and writes its path. Returns -1 when no directory is certain to be that cgroup. */
static int open_own_cgroup(void) {
  static const char *const mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
  char own[PATH_MAX];
  struct statfs fs;
  if (read_own_path(own, sizeof own) < 0) return -1;
  for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
    if (statfs(mounts[i], &fs) < 0 || fs.f_type != CGROUP2) continue;
    if (snprintf(path, sizeof path, "%s%s", mounts[i], own) >= (int)sizeof path) return -1;
    mount_length = strlen(mounts[i]);
    return shows_own_root(mounts[i]) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  }
  return -1;
}

static void close_descriptors(void) {
  if (dir != NONE) close(dir);
  if (killer != NONE) close(killer);
  dir = killer = NONE;
}

static void close_cgroup(void) {
  close_descriptors();
  path[0] = '\0';
}

/* Fails while a process is alive in the cgroup. Removes what nested runs and containers have left in it. */
void cgroup_remove(void) {
  if (home == NONE || !name[0]) return;
  if (dir != NONE && abandoned_cgroups_must_stay(dir)) return made_cgroups_remove(dir);
  if (unlinkat(home, name, AT_REMOVEDIR) == 0 || errno != EBUSY || dir == NONE) return;
  abandoned_cgroups_remove(dir, INT_MAX, NULL);
  made_cgroups_remove(dir);
  unlinkat(home, name, AT_REMOVEDIR);
}

void cgroup_examine_others(report_kill_t *report) {
  if (home != NONE) abandoned_cgroups_remove(home, EXAMINED, report);
}

/*
 * Creates a cgroup and takes its lock. Before that, another guardian can take it for abandoned, and remove it. Returns
 * whether another try can succeed.
 */
static int create_cgroup(void) {
  abandoned_cgroups_make_name(name, sizeof name);
  if (mkdirat(home, name, 0755) < 0) {
    name[0] = '\0';
    return errno == EEXIST;
  }
  dir = openat(home, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  killer = dir == NONE ? NONE : openat(dir, "cgroup.kill", O_WRONLY | O_CLOEXEC); /* Linux 5.14 */
  const int has_killer = killer != NONE, is_locked = has_killer && abandoned_cgroups_lock(killer);
  const int exists = faccessat(home, name, F_OK, 0) == 0; /* no other cgroup ever gets this name */
  if (is_locked && exists) return 0;
  cgroup_remove();
  close_descriptors();
  return has_killer || !exists;
}

void cgroup_open(void) {
  home = open_own_cgroup();
  if (home == NONE) return;
  for (int tries = 0; dir == NONE && create_cgroup() && tries < TRIES; tries++) continue;
  const size_t length = strlen(path);
  if (dir != NONE && length + 1 + strlen(name) < sizeof path) {
    snprintf(path + length, sizeof path - length, "/%s", name);
    return;
  }
  cgroup_remove();
  close_cgroup();
}

int cgroup_is_open(void) { return dir != NONE; }

const char *cgroup_path(void) { return path; }

const char *cgroup_name(void) { return path[0] ? path + mount_length : ""; }

/*
 * Uses clone3(2), so that the command is in its cgroup from its first instruction. Moving it later would take longer.
 */
static pid_t fork_into(int cgroup) {
  struct {
    uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size, cgroup;
  } args = {.flags = 0x200000000ULL /* CLONE_INTO_CGROUP */, .exit_signal = SIGCHLD, .cgroup = (uint64_t)cgroup};
  return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

pid_t cgroup_fork(void) {
  pid_t pid = dir == NONE ? -1 : fork_into(dir);
  if (pid >= 0) return pid;
  cgroup_remove(); /* an old kernel, or controllers that allow no processes here */
  close_cgroup();
  return fork();
}

static ssize_t read_file(const char *file, char *text, size_t size) {
  int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n;
}

/*
 * A process that was just reaped may still count as populating its cgroup, but is no longer listed. Then only child
 * cgroups, which add links to the directory, can contain processes.
 */
int cgroup_has_processes(void) {
  char text[256];
  struct stat st;
  if (dir == NONE) return 0;
  if (abandoned_cgroups_must_stay(dir)) {
    made_cgroups_remove(dir); /* so that a container whose cgroup exists cannot start either */
    return read_file("cgroup.procs", text, sizeof text) > 0 || (fstat(dir, &st) == 0 && st.st_nlink > 2);
  }
  if (read_file("cgroup.events", text, sizeof text) < 0 || !strstr(text, "populated 1")) return 0;
  if (read_file("cgroup.procs", text, sizeof text) > 0) return 1;
  return fstat(dir, &st) == 0 && st.st_nlink > 2;
}

void cgroup_each_process(void each(pid_t)) {
  int pid, fd = dir == NONE ? -1 : openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
  while (file && fscanf(file, "%d", &pid) == 1) {
    if (pid > 0) each(pid); /* 0: a process of another pid namespace */
  }
  if (file) fclose(file);
}

void cgroup_expect_container(void) {
  if (dir != NONE) abandoned_cgroups_expect_container(dir);
}

void cgroup_seal(void) {
  if (dir != NONE) abandoned_cgroups_seal(dir);
}

void cgroup_kill(void) {
  cgroup_seal();
  if (killer != NONE && write(killer, "1", 1) < 0) return; /* on failure, the walk over the tree still kills */
}

static int own_procs = NONE;

static void move_to_own_cgroup(pid_t pid) { dprintf(own_procs, "%d", pid); }

void cgroup_release_processes(void) {
  if (!cgroup_has_processes()) return;
  abandoned_cgroups_spare(dir);
  own_procs = openat(home, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  for (int tries = 0; own_procs != NONE && tries < TRIES && cgroup_has_processes(); tries++)
    cgroup_each_process(move_to_own_cgroup);
}
