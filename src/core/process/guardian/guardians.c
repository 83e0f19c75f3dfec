/*
 * There are two nested guardians, because a guardian can be killed too:
 *
 *   runner ── outer ── inner ── CMD ── ...
 *
 * Both are child subreapers. The inner one is CMD's parent, holds the socket and does the work. If it is killed, its
 * descendants become children of the outer one, which kills them (outer.c). If the outer one is killed, the inner one detects
 * the end of the socket between them, and kills. If both are killed, CMD's first process dies by PDEATHSIG (unless it is a
 * setuid or setgid program, whose exec clears it), and the runner kills the rest.
 * If all three are killed at once, processes may remain; with a cgroup, the next guardian there kills them
 * (abandoned-cgroups.c).
 * A stopped guardian is woken: by the runner, by the other guardian, or, when its parent dies, by the kernel. One that a
 * debugger holds cannot be woken: it is killed.
 * The outer one closes the sockets: the end of the socket must mean the end of the inner one, and the end of the runner
 * must reach the inner one.
 */
#define _GNU_SOURCE
#include "guardians.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "command-streams.h"
#include "inherited.h"
#include "inner.h"
#include "launch.h"
#include "outer.h"
#include "process-tree.h"
#include "progress.h"

static int fail(const char *what) {
  fprintf(stderr, "signalbox-guard: %s: %s\n", what, strerror(errno));
  return EXIT_SETUP;
}

/* Guardians end only by SIGKILL or by their own decision: a stray `kill` must not end a guardian and leave CMD running. */
static void block_signals(void) {
  sigset_t all;
  signal(SIGCHLD, SIG_DFL); /* if inherited as ignored, it would reap children automatically */
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
}

enum {
  SHORTEST_NAP = 2000000,
  QUIET_SCANS = 3, /* if a debugger keeps a dead child from being reaped: a process that has just been forked may be missed once */
};

void kill_orphans(void) {
  struct timespec nap = {.tv_nsec = SHORTEST_NAP};
  for (int quiet = 0; quiet < QUIET_SCANS;) {
    pid_t pid;
    if (tree_kill()) nap.tv_nsec = SHORTEST_NAP; /* something forks, or has just been stopped */
    else nanosleep(&nap, NULL);
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (pid < 0 && errno == ECHILD && !tree_has_others()) return;
    quiet = tree_has_living() || tree_has_others() ? 0 : quiet + 1;
    if (nap.tv_nsec < 250000000) nap.tv_nsec *= 2;
  }
}

/* Prepares what both guardians share, before the fork. Returns what failed, with errno, or NULL. */
static const char *prepare(void) {
  block_signals();
  prctl(PR_SET_NAME, GUARDIAN_NAME);
  prctl(PR_SET_PDEATHSIG, SIGCONT); /* the runner's death wakes a stopped guardian */
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return "cannot become a subreaper";
  if (tree_open() < 0) return "cannot use /proc";
  if (progress_open() < 0) return "out of memory";
  if (outer_open() < 0) return "cannot open descriptors";
  note_runner();
  raise_priority();
  cgroup_open();
  if (streams_open() < 0) return "cannot make a pipe"; /* last: what fails before is told on standard error */
  return NULL;
}

/* Closes in the outer guardian what belongs to the inner one and to the command. */
static void leave_command(int sock, const struct agent *agent) {
  close(sock);
  if (agent) close(agent->control);
  drop_stdio();
  inherited_close();
  if (chdir("/") < 0) errno = 0; /* best effort, as in the inner guardian */
}

int run_guardians(int sock, const struct agent *agent) {
  int lifeline[2];
  const pid_t runner = getppid();
  const char *failed = prepare();
  if (failed) return fail(failed);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, lifeline) < 0) return fail("cannot make a socket");
  pid_t inner = fork();
  if (inner < 0) return fail("cannot fork");
  if (inner > 0) {
    close(lifeline[0]);
    leave_command(sock, agent);
    return run_outer_guardian(inner, runner, lifeline[1]);
  }
  close(lifeline[1]);
  outer_close();
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return fail("cannot become a subreaper");
  return run_inner_guardian(sock, agent, lifeline[0]);
}
