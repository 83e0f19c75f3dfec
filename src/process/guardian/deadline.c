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
} d = {.last_at = NEVER, .scan_at = NEVER, .check_at = NEVER, .check_after = 5 * MS};

int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1000 * MS + t.tv_nsec;
}

void deadline_arm(int64_t term_at, int64_t kill_at) {
  d.term_at = term_at;
  d.kill_at = kill_at;
}

int deadline_is_armed(void) { return d.kill_at != 0; }

int deadline_has_passed(void) {
  int64_t at = now();
  return d.terminating || at >= d.term_at || at >= d.kill_at;
}

void deadline_start(void) {
  d.started = 1;
  d.scan_after = 100 * MS;
  d.scan_at = now() + d.scan_after;
}

void deadline_cancel(void) { d.terminating = 1; }

int is_killing(void) { return d.killing; }
int is_terminating(void) { return d.terminating; }

void begin_killing(void) {
  if (d.killing) return;
  d.terminating = d.killing = 1;
  d.retry_at = now();
  d.retry_after = 2 * MS;
}

void begin_termination(int64_t kill_at) {
  if (kill_at < d.last_at) d.last_at = kill_at;
  if (d.terminating) return;
  d.terminating = 1;
  tree_terminate();
}

/* SIGKILL of a termination: the requested instant or the armed horizon, whichever comes first. */
int64_t deadline_kill_at(void) { return d.kill_at && d.kill_at < d.last_at ? d.kill_at : d.last_at; }

static int64_t min_instant(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t next_timer(void) {
  int64_t at = d.check_at;
  if (d.killing) return min_instant(at, d.retry_at);
  if (d.terminating) return min_instant(at, deadline_kill_at());
  if (!d.started || !d.kill_at) return at;
  if (!cgroup_is_open()) at = min_instant(at, d.scan_at);
  return min_instant(at, min_instant(d.term_at, d.kill_at));
}

/* Scans at growing intervals, using at most a hundredth of a processor. */
static void scan_and_schedule(int64_t at) {
  tree_scan();
  d.scan_after = min_instant(2 * d.scan_after, 5000 * MS);
  int64_t cost = 100 * (now() - at);
  d.scan_at = at + (cost > d.scan_after ? cost : d.scan_after);
}

static void repeat_kill(void) {
  if (tree_kill()) {
    d.retry_at = now(); /* something forks, or has just been stopped */
    d.retry_after = 2 * MS;
    return;
  }
  d.retry_at = now() + d.retry_after; /* for what cannot be killed yet (D state, another user's): not in a hot loop */
  if (d.retry_after < 250 * MS) d.retry_after *= 2;
}

void deadline_schedule_check(void) {
  if (d.check_at != NEVER) return;
  d.check_at = now() + d.check_after;
  if (d.check_after < 250 * MS) d.check_after *= 2;
}

void enforce_deadlines(void) {
  int64_t at = now();
  int exists = d.started || d.terminating;
  if (at >= d.check_at) d.check_at = NEVER;
  if (!d.terminating && d.started && d.kill_at && at >= d.term_at) begin_termination(d.kill_at);
  if (exists && at >= deadline_kill_at()) begin_killing();
  if (d.killing && at >= d.retry_at) repeat_kill();
  if (!d.terminating && d.started && at >= d.scan_at && !cgroup_is_open()) scan_and_schedule(at);
}
