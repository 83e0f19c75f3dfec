/*
 * Watches the inner guardian. The inner one reports its work (progress.h). Once no process of the command may be left, it
 * reports at least every 250 ms until none is. So it is killed if two looks in a row find no new report: a debugger holds
 * it, or the machine is so slow that it makes no difference which of the two kills.
 *
 * While the command runs, it also examines the cgroups of other runs.
 */
#define _GNU_SOURCE
#include "outer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "deadline.h"
#include "guardians.h"
#include "progress.h"
#include "timer.h"
#include "wire.h"

#define MS 1000000LL
#define LOOK_PAUSE (500 * MS)
#define EXAMINE_PAUSE (30000 * MS) /* at least, and less than twice as long: guardians do not examine in step */

enum { WORKS = -1 };

static struct {
  int timer, children;
  int runner;   /* pidfd; -1 before Linux 5.3, or when it is dead: then only the deadlines count */
  int lifeline; /* -1 when it has ended */
  pid_t inner;
  int is_orphaned; /* the runner is dead */
  int64_t looked_at; /* 0: not yet since the instant at which processes must be killed */
  uint64_t count;    /* of reports, at that look */
  int64_t examine_at;
} outer = {.runner = -1, .examine_at = INT64_MAX};

int outer_open(void) {
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  outer.timer = timer_open();
  outer.children = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
  return outer.timer < 0 || outer.children < 0 ? -1 : 0;
}

void outer_close(void) {
  close(outer.timer);
  close(outer.children);
}

/* When the inner guardian must have killed all processes, or have ended. Without processes, it may wait for an agent. */
static int64_t due(void) {
  const int64_t at = progress_due();
  return outer.lifeline < 0 || (outer.is_orphaned && at != INT64_MAX) ? 0 : at;
}

static int64_t next_look(void) { return outer.looked_at ? outer.looked_at + LOOK_PAUSE : due(); }

static int is_inner_held(void) {
  const int64_t at = now();
  if (at < due()) outer.looked_at = 0; /* the deadline has moved */
  if (at < next_look()) return 0;
  const int is_held = outer.looked_at && outer.count == progress_count();
  outer.looked_at = at;
  outer.count = progress_count();
  return is_held;
}

/* Reaps children. Returns the exit code of the inner guardian, or WORKS. Continues a stopped one: it enforces no deadline. */
static int reap(void) {
  int status, code = WORKS;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (pid != outer.inner) continue;
    if (WIFSTOPPED(status)) kill(pid, SIGCONT);
    else code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_INNER_KILLED;
  }
  return code;
}

static void report_kill(const char *text) { send(outer.lifeline, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL); }

static void report_end(void) { send(outer.lifeline, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL); }

static void examine_others(void) {
  const int64_t at = now();
  outer.examine_at = at + EXAMINE_PAUSE + at % EXAMINE_PAUSE;
  cgroup_examine_others(report_kill);
  report_end();
}

/* The inner guardian sends a byte when a deadline is set, or becomes earlier. The first one means that the command runs. */
static void read_lifeline(void) {
  char byte;
  ssize_t n;
  while ((n = recv(outer.lifeline, &byte, 1, MSG_DONTWAIT)) > 0)
    if (outer.examine_at == INT64_MAX) examine_others();
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  close(outer.lifeline);
  outer.lifeline = -1;
}

static void drain(int fd) {
  char sink[1024];
  while (read(fd, sink, sizeof sink) > 0) continue;
}

/* Waits for events once, and handles them. Returns the exit code of the inner guardian, or WORKS. */
static int watch(void) {
  struct pollfd on[] = {
      {.fd = outer.timer, .events = POLLIN},
      {.fd = outer.children, .events = POLLIN},
      {.fd = outer.runner, .events = POLLIN},
      {.fd = outer.lifeline, .events = POLLIN},
  };
  timer_set(outer.timer, next_look() < outer.examine_at ? next_look() : outer.examine_at);
  if (poll(on, sizeof on / sizeof *on, -1) < 0) return WORKS;
  drain(outer.timer);
  drain(outer.children);
  if (on[2].revents) {
    close(outer.runner);
    outer.runner = -1;
    outer.is_orphaned = 1;
  }
  if (on[3].revents) read_lifeline();
  if (now() >= outer.examine_at) examine_others();
  const int code = reap();
  if (code != WORKS || !is_inner_held()) return code;
  kill(outer.inner, SIGKILL);
  return progress_exit_code() < 0 ? EXIT_INNER_KILLED : progress_exit_code();
}

int run_outer_guardian(pid_t inner, pid_t runner, int lifeline) {
  int code;
  outer.inner = inner;
  outer.lifeline = lifeline;
  outer.runner = (int)syscall(SYS_pidfd_open, runner, 0);
  outer.is_orphaned = getppid() != runner;
  while ((code = watch()) == WORKS) continue;
  if (code == EXIT_INNER_KILLED) kill_orphans();
  cgroup_remove();
  return code;
}
