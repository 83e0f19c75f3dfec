/*
 * A launcher that has no other children becomes a child subreaper: when the guardians die, all processes of the command
 * become its descendants. A launcher that has replaced a shell can have inherited children, which it must not kill; it then
 * searches the guardian's session, the processes that the guardians saw, and the cgroup.
 */
#define _GNU_SOURCE
#include "orphans.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../guardian/abandoned-cgroups.h"
#include "../guardian/guardians.h"
#include "../guardian/proc.h"
#include "../guardian/process-tree.h"
#include "../guardian/seen-processes.h"

enum { QUIET_SCANS = 3 }; /* a process that has just been forked may be missed once */

static int is_subreaper;

static int has_children(void) {
  siginfo_t info;
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

void orphans_prepare(void) {
  is_subreaper = !has_children() && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static void kill_cgroup(const char *cgroup) {
  char path[PATH_MAX];
  if (!cgroup[0] || snprintf(path, sizeof path, "%s/cgroup.kill", cgroup) >= (int)sizeof path) return;
  const int dir = open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir >= 0) {
    abandoned_cgroups_seal(dir);
    close(dir);
  }
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (write(fd, "1", 1) < 0) errno = 0; /* the processes are killed one by one too */
  close(fd);
}

static void remove_cgroup(const char *cgroup) {
  const int dir = cgroup[0] ? open(cgroup, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  if (dir < 0) return;
  if (!abandoned_cgroups_must_stay(dir)) rmdir(cgroup);
  close(dir);
}

/*
 * Kills the groups in the session too, each as a whole: none of its members can fork meanwhile. Returns the number of
 * living processes that were found.
 */
static int kill_session(pid_t session) {
  static struct list all;
  int found = 0;
  proc_list(&all);
  seen_mark(&all);
  for (size_t i = 0; i < all.count; i++) {
    const struct proc *p = &all.at[i];
    if (p->session == session && p->group > 1) kill(-p->group, SIGKILL);
    if (p->dead || (!p->is_member && p->session != session)) continue;
    kill(p->pid, SIGKILL);
    found++;
  }
  return found;
}

static void kill_found(pid_t session) {
  const struct timespec nap = {.tv_nsec = 20000000};
  for (int quiet = 0; quiet < QUIET_SCANS; nanosleep(&nap, NULL)) quiet = kill_session(session) ? 0 : quiet + 1;
}

void orphans_kill(pid_t outer, const char *cgroup) {
  kill_cgroup(cgroup);
  if (tree_open() < 0) return; /* without /proc, the agent and the next guardian here find them */
  if (is_subreaper) kill_orphans();
  else kill_found(outer);
  remove_cgroup(cgroup);
}
