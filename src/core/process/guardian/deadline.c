#include "deadline.h"

#include <time.h>

#include "cgroup.h"
#include "process-tree.h"

#define MS 1000000LL
#define NEVER INT64_MAX

static struct {
  int64_t term_at, kill_at; /* armed deadlines; 0: not armed */
  int64_t last_at;          /* SIGKILL of a termination in progress */
  int started, terminating, killing;
  int64_t retry_at, retry_after;
  int64_t scan_at, scan_after; /* without a cgroup: time of the next scan, to remember processes that leave the tree */
  int64_t check_at, check_after;
} deadline = {.last_at = NEVER, .scan_at = NEVER, .check_at = NEVER, .check_after = 5 * MS};

int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1000 * MS + t.tv_nsec;
}

void deadline_arm(int64_t term_at, int64_t kill_at) {
  deadline.term_at = term_at;
  deadline.kill_at = kill_at;
}

int deadline_is_armed(void) { return deadline.kill_at != 0; }

int deadline_has_passed(void) {
  int64_t at = now();
  return deadline.terminating || at >= deadline.term_at || at >= deadline.kill_at;
}

void deadline_start(void) {
  deadline.started = 1;
  deadline.scan_after = 100 * MS;
  deadline.scan_at = now() + deadline.scan_after;
}

void deadline_cancel(void) { deadline.terminating = 1; }

int is_killing(void) { return deadline.killing; }
int is_terminating(void) { return deadline.terminating; }

void begin_killing(void) {
  if (deadline.killing) return;
  deadline.terminating = deadline.killing = 1;
  deadline.retry_at = now();
  deadline.retry_after = 2 * MS;
}

void begin_termination(int64_t kill_at) {
  if (kill_at < deadline.last_at) deadline.last_at = kill_at;
  if (deadline.terminating) return;
  deadline.terminating = 1;
  tree_terminate();
}

/* SIGKILL of a termination: the requested instant or the armed horizon, whichever comes first. */
int64_t deadline_kill_at(void) {
  return deadline.kill_at && deadline.kill_at < deadline.last_at ? deadline.kill_at : deadline.last_at;
}

int64_t deadline_due(void) {
  if (deadline.killing) return 0;
  return deadline.started || deadline.terminating ? deadline_kill_at() : NEVER;
}

static int64_t min_instant(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t next_timer(void) {
  int64_t at = deadline.check_at;
  if (deadline.killing) return min_instant(at, deadline.retry_at);
  if (deadline.terminating) return min_instant(at, deadline_kill_at());
  if (!deadline.started || !deadline.kill_at) return at;
  if (!cgroup_is_open()) at = min_instant(at, deadline.scan_at);
  return min_instant(at, min_instant(deadline.term_at, deadline.kill_at));
}

/* Scans at growing intervals, using at most a hundredth of a processor. */
static void scan_and_schedule(int64_t at) {
  tree_scan();
  deadline.scan_after = min_instant(2 * deadline.scan_after, 5000 * MS);
  int64_t cost = 100 * (now() - at);
  deadline.scan_at = at + (cost > deadline.scan_after ? cost : deadline.scan_after);
}

static void repeat_kill(void) {
  if (tree_kill()) {
    deadline.retry_at = now(); /* something forks, or has just been stopped */
    deadline.retry_after = 2 * MS;
    return;
  }
  /* The pause avoids a hot loop while a process cannot be killed: it is in D state, or another user's. */
  deadline.retry_at = now() + deadline.retry_after;
  if (deadline.retry_after < 250 * MS) deadline.retry_after *= 2;
}

void deadline_schedule_check(void) {
  if (deadline.check_at != NEVER) return;
  deadline.check_at = now() + deadline.check_after;
  if (deadline.check_after < 250 * MS) deadline.check_after *= 2;
}

void enforce_deadlines(void) {
  int64_t at = now();
  int exists = deadline.started || deadline.terminating;
  if (at >= deadline.check_at) deadline.check_at = NEVER;
  if (!deadline.terminating && deadline.started && deadline.kill_at && at >= deadline.term_at)
    begin_termination(deadline.kill_at);
  if (exists && at >= deadline_kill_at()) begin_killing();
  if (deadline.killing && at >= deadline.retry_at) repeat_kill();
  if (!deadline.terminating && deadline.started && at >= deadline.scan_at && !cgroup_is_open()) scan_and_schedule(at);
}
