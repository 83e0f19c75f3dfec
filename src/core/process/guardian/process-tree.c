#define _GNU_SOURCE
#include "process-tree.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "proc.h"
#include "seen-processes.h"

/*
 * A guardian is a "child subreaper": after setsid, a double fork or the death of a parent, its descendants stay its
 * descendants. The chain of parents in /proc therefore leads to all of them, unlike a process group or a session. Two
 * sources extend beyond the tree: the command's cgroup, which a process cannot leave by forking, and the processes that
 * were seen before.
 */
enum { STOP_MS = 20 }; /* limits the stopping of a fork bomb: the caller reaps, answers the runner, and repeats the call */

static struct list now, before;
static int owns_session; /* the session of the guardians contains no processes of other programs */
static int is_killing_tree;

int tree_open(void) {
  owns_session = getsid(0) == getpid();
  return proc_open() < 0 ? -1 : seen_open();
}

/* Returns how far a process is below an ancestor: the guardian, or (0) a member of the command. The bound ends a cyclic chain. */
static int measure_depth_below(const struct proc *p, pid_t ancestor) {
  for (size_t depth = 1; depth <= now.count; depth++) {
    if (ancestor ? p->parent == ancestor : p->is_member) return (int)depth;
    p = proc_find(&now, p->parent);
    if (!p) return 0;
  }
  return 0;
}

static void mark_member(pid_t pid) {
  struct proc *p = proc_find(&now, pid);
  if (p) p->is_member = 1;
}

static void measure_depth(struct proc *p) {
  p->depth = measure_depth_below(p, getpid());
  if (p->depth == 0) p->depth = measure_depth_below(p, 0);
}

/* Whether the group of a process contains an older one that is not the command's, in a list of all processes. */
static int has_older_stranger(const struct proc *p) {
  for (size_t i = 0; i < now.count; i++) {
    const struct proc *other = &now.at[i];
    if (other->group == p->group && other->born < p->born && other->depth == 0 && !other->dead) return 1;
  }
  return 0;
}

/* Marks the command's processes that are in groups of other programs and do not descend from the guardian. Needs all depths. */
static void find_groups_of_others(void) {
  for (size_t i = 0; i < now.count; i++) {
    struct proc *p = &now.at[i];
    p->is_among_others = p->depth > 0 && measure_depth_below(p, getpid()) == 0 && has_older_stranger(p);
  }
}

/* Lists the command's processes in `now` and moves the previous list to `before`. Returns the greatest depth. */
static int scan(void) {
  struct list old = before;
  before = now;
  now = old;
  proc_list(&now);
  seen_mark(&now);
  cgroup_each_process(mark_member);
  for (size_t i = 0; i < now.count; i++) measure_depth(&now.at[i]);
  find_groups_of_others();

  size_t kept = 0;
  int deepest = 0;
  for (size_t i = 0; i < now.count; i++) {
    if (now.at[i].depth == 0) continue;
    if (now.at[i].depth > deepest) deepest = now.at[i].depth;
    now.at[kept++] = now.at[i];
  }
  now.count = kept;
  seen_replace(&now);
  return deepest;
}

void tree_scan(void) { scan(); }

int tree_has_living(void) {
  for (size_t i = 0; i < now.count; i++)
    if (!now.at[i].dead) return 1;
  return 0;
}

int tree_has_others(void) { return seen_has_living() || cgroup_has_processes(); }

/*
 * Signals a process that a scan found, but never another one that has its pid by now.
 *
 * Direct children are safe: a dead child keeps its pid until it is reaped, and only command_reap does that. A
 * grandchild can be reaped by its parent at any time and its pid reused. So open a pidfd, then read the process again.
 * The same birth before and after proves that the pidfd, opened in between, refers to that process. Its parent must
 * still be the one from the scan, or now be the guardian.
 */
static int send_signal(const struct proc *p, int sig) {
  if (p->parent == getpid()) return kill(p->pid, sig) == 0;
  int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
  if (fd < 0 && errno == ESRCH) return 0;
  struct proc again;
  int same = proc_read(p->pid, &again) == 0 && again.born == p->born &&
             (again.parent == p->parent || again.parent == getpid());
  if (same && fd >= 0) syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
  if (same && fd < 0) kill(p->pid, sig); /* before Linux 5.3, or no descriptor left: a window of microseconds */
  if (fd >= 0) close(fd);
  return same;
}

/*
 * Whether all members of a process's group belong to the command. A group is part of one session, and all members of a
 * session descend from the process that started it, which descends from the guardian if it is not the guardian's session.
 * A process that another program has put into the cgroup can be in a group of that program.
 */
static int is_command_group(const struct proc *p) {
  if (p->group <= 1 || p->group == getpgrp() || p->is_among_others) return 0;
  return owns_session || p->session != getsid(0);
}

/*
 * Stops a process and its group. The kernel signals a group as a whole: none of its members can fork meanwhile, so a
 * chain of processes that each fork the next one and exit ends here, even if only a zombie of it was found.
 */
static void stop_process(const struct proc *p) {
  if (send_signal(p, SIGSTOP) && is_command_group(p)) kill(-p->group, SIGSTOP);
}

/* Scans, and stops the processes that the last scan did not find. Returns their number. */
static int stop_new(void) {
  int found = 0;
  scan();
  for (size_t i = 0; i < now.count; i++) {
    const struct proc *known = proc_find(&before, now.at[i].pid);
    if (known && known->born == now.at[i].born) continue;
    stop_process(&now.at[i]);
    found++;
  }
  return found;
}

static int64_t read_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

void tree_terminate(void) {
  int deepest = scan();
  /* Ancestors first: a shell that lost its child before its own signal arrived would continue with its next line. */
  for (int depth = 1; depth <= deepest; depth++) {
    for (size_t i = 0; i < now.count; i++) {
      if (now.at[i].depth != depth) continue;
      send_signal(&now.at[i], SIGTERM);
      send_signal(&now.at[i], SIGCONT);
    }
  }
}

int tree_kill(void) {
  const int64_t until = read_ms() + STOP_MS;
  int all = 0, found = 1;
  cgroup_kill(); /* the whole cgroup at once, other users' processes too; the rest has left the cgroup */
  if (!is_killing_tree) now.count = 0; /* the processes that earlier scans have found are not stopped yet */
  is_killing_tree = 1;
  while (found && read_ms() < until) {
    found = stop_new();
    all += found;
  }
  for (size_t i = 0; i < now.count; i++) send_signal(&now.at[i], SIGKILL);
  return all > 0;
}
