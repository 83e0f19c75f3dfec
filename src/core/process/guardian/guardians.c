/*
 * There are two nested guardians, because a guardian can be killed too:
 *
 *   runner ── outer ── inner ── CMD ── ...
 *
 * Both are child subreapers. The inner one is CMD's parent, holds the socket and does the work. If it is killed, its
 * descendants become children of the outer one, which kills them. If the outer one is killed, the inner one detects the
 * end of its pipe, and kills. If both are killed, CMD's first process dies by PDEATHSIG (unless it is a
 * setuid or setgid program, whose exec clears it), and the runner kills the rest.
 * If all three are killed at once, processes may remain; with a cgroup, the next guardian there kills them
 * (abandoned-cgroups.c).
 * A stopped guardian is woken: by the runner, by the other guardian, or, when its parent dies, by the kernel.
 * The outer one closes the sockets: the end of the socket must mean the end of the inner one, and the end of the runner
 * must reach the inner one.
 */
#define _GNU_SOURCE
#include "guardians.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cgroup.h"
#include "inherited.h"
#include "inner.h"
#include "launch.h"
#include "process-tree.h"

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

enum { SHORTEST_NAP = 2000000 };

void kill_orphans(void) {
  struct timespec nap = {.tv_nsec = SHORTEST_NAP};
  for (;;) {
    pid_t pid;
    if (tree_kill()) nap.tv_nsec = SHORTEST_NAP; /* something forks, or has just been stopped */
    else nanosleep(&nap, NULL);
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (pid < 0 && errno == ECHILD && !tree_has_others()) return;
    if (nap.tv_nsec < 250000000) nap.tv_nsec *= 2;
  }
}

static int supervise_inner(pid_t inner) {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid == inner && WIFSTOPPED(status)) { /* a stopped guardian enforces no deadline */
      kill(inner, SIGCONT);
      continue;
    }
    if (pid != inner) continue;
    if (!WIFEXITED(status)) kill_orphans();
    cgroup_remove();
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INNER_KILLED;
  }
}

/* Prepares what both guardians share, before the fork. Returns what failed, with errno, or NULL. */
static const char *prepare(void) {
  block_signals();
  prctl(PR_SET_NAME, GUARDIAN_NAME);
  prctl(PR_SET_PDEATHSIG, SIGCONT); /* the runner's death wakes a stopped guardian */
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return "cannot become a subreaper";
  if (tree_open() < 0) return "cannot use /proc";
  note_runner();
  raise_priority();
  cgroup_open();
  return NULL;
}

static int run_outer_guardian(pid_t inner, int sock, const struct agent *agent) {
  close(sock);
  if (agent) close(agent->control);
  drop_stdio();
  inherited_close();
  if (chdir("/") < 0) errno = 0; /* best effort, as in the inner guardian */
  return supervise_inner(inner);
}

int run_guardians(int sock, const struct agent *agent) {
  int lifeline[2];
  const char *failed = prepare();
  if (failed) return fail(failed);
  if (pipe2(lifeline, O_CLOEXEC) < 0) return fail("cannot make a pipe");
  pid_t inner = fork();
  if (inner < 0) return fail("cannot fork");
  if (inner > 0) {
    close(lifeline[0]);
    return run_outer_guardian(inner, sock, agent);
  }
  close(lifeline[1]);
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return fail("cannot become a subreaper");
  return run_inner_guardian(sock, agent, lifeline[0]);
}
