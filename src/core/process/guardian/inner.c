#define _GNU_SOURCE
#include "inner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent-requests.h"
#include "agent-wire.h"
#include "cgroup.h"
#include "command-input.h"
#include "command.h"
#include "deadline.h"
#include "launcher-control.h"
#include "news.h"
#include "progress.h"
#include "timer.h"

#define SECOND 1000000000LL
#define REPORTS_WITHIN_MS 500 /* limit if a debugger holds the outer guardian */
#define RELEASE_WITHIN (10 * SECOND) /* limit for an agent after GONE; if it is frozen for longer, the launcher reports the end */

static struct {
  int lifeline, timer, children;
  int orphaned;    /* the runner is gone */
  int alone;       /* the outer guardian is gone */
  int examining;   /* the outer guardian examines the cgroups of others for the first time */
  int released;    /* the runner has sent RELEASE */
  int64_t gone_at; /* when GONE was sent; 0: processes may be left */
} guardian;

static int64_t min_instant(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max_instant(int64_t a, int64_t b) { return a > b ? a : b; }

/* When a guardian ends that an agent has not released: nothing is left to guard. */
static int64_t leave_at(void) {
  int64_t horizon = deadline_kill_at();
  if (!guardian.gone_at || !connection_has_agent()) return INT64_MAX;
  if (horizon == INT64_MAX) horizon = 0; /* never armed */
  return connection_socket() < 0 ? max_instant(horizon, 1) : max_instant(horizon, guardian.gone_at + RELEASE_WITHIN);
}

static void set_timer(void) {
  timer_set(guardian.timer, min_instant(guardian.gone_at ? leave_at() : next_timer(), connection_next_try()));
}

/* Reports to the outer guardian, and wakes it if it has to act earlier than it knows. */
static void report_progress(void) {
  static int64_t known = INT64_MAX;
  static int has_begun;
  const int64_t due = guardian.gone_at ? INT64_MAX : deadline_due();
  progress_report(due);
  if (due < known) {
    send(guardian.lifeline, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!has_begun) has_begun = guardian.examining = 1;
  }
  known = due;
}

/* Passes on what the outer guardian reports, until a NUL that means it has examined all, and notices its end. */
static void read_lifeline(void) {
  char text[512];
  ssize_t n;
  while ((n = recv(guardian.lifeline, text, sizeof text, MSG_DONTWAIT)) > 0) {
    if (text[0]) send_report(text, (uint32_t)n);
    else guardian.examining = 0;
  }
  guardian.alone = n == 0 || (errno != EAGAIN && errno != EINTR);
}

/* Waits for what the outer guardian still reports. The runner waits for its end in any case. Returns the exit code. */
static int end_reports(int exit_code) {
  struct pollfd on = {.fd = guardian.lifeline, .events = POLLIN};
  while (guardian.examining && !guardian.alone && poll(&on, 1, REPORTS_WITHIN_MS) > 0) read_lifeline();
  return progress_end(exit_code);
}

/* Does not exit while the command runs or once its termination has begun. */
static void release(void) {
  guardian.released = 1;
  if (command_is_running() || is_terminating()) return;
  cgroup_release_processes();
  _exit(end_reports(EXIT_RELEASED));
}

static void handle_other_request(const struct frame *f, const unsigned char *block) {
  /* An unknown frame means a runner of another version: treat it as lost, like an agent that dismisses the command. */
  if (handle_agent_request(f, block) != HANDLED) guardian.orphaned = 1;
}

static int handle_request(const struct frame *f, const unsigned char *block) {
  switch (f->kind) {
    case ARM:
      deadline_arm(f->a, f->b > 0 ? f->b : 1);
      break;
    case WORDS:
      words_add(block, f->length);
      break;
    case ENVIRONMENT:
      environment_add(block, f->length);
      break;
    case START:
      if (f->a) cgroup_expect_container();
      progress_report(deadline_kill_at()); /* first, so that no command exists of which the outer guardian does not know */
      command_start(guardian.orphaned || connection_is_closed(), f, block);
      report_progress(); /* a short command may have ended before the next wait */
      break;
    case SIGNAL:
      command_signal(f->a);
      break;
    case TERMINATE:
      begin_termination(f->a);
      break;
    case RELEASE:
      release();
      break;
    case PING:
      send_event(connection_socket(), PONG, 0, 0);
      break;
    default:
      handle_other_request(f, block);
  }
  return 1;
}

static int handle_release_only(const struct frame *f, const unsigned char *block) {
  if (f->kind == RELEASE) guardian.released = 1;
  else if (connection_has_agent() && f->kind > ENVIRONMENT) handle_other_request(f, block);
  return 1;
}

/*
 * Reads all available frames before it handles any: a START from a runner that is already dead must not start anything.
 */
static void read_requests(frame_handler_t *handle) {
  enum received state = connection_read();
  int is_lost = state == INVALID || (state == ENDED && !connection_has_agent());
  if (is_lost) guardian.orphaned = 1;
  handle_frames(handle);
  if (state == ENDED && !is_lost) connection_end();
}

/* Reports signals to the agent, except those that end no process. */
static void pass_signal(int64_t sig) {
  int is_passed = command_signal(sig);
  if (sig == SIGTSTP || sig == SIGCONT || sig == SIGWINCH) return;
  send_event(connection_socket(), SIGNALLED, sig, is_passed);
}

static int open_all(int sock, const struct agent *agent, int lifeline) {
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  guardian.lifeline = lifeline;
  guardian.timer = timer_open();
  guardian.children = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
  connection_open(sock, agent);
  control_open(agent ? agent->control : -1);
  return guardian.timer < 0 || guardian.children < 0 ? -1 : frames_open();
}

static void drain(int fd) {
  char sink[1024];
  while (read(fd, sink, sizeof sink) > 0) continue;
}

static struct pollfd poll_connection(void) {
  return guardian.orphaned ? (struct pollfd){.fd = -1} : connection_poll();
}

/* Whether an agent's connection has ended before there was anything to guard: the launcher can try another agent. */
static int has_nothing_to_guard(void) {
  return connection_is_lost() && !command_was_started() && !is_terminating();
}

static void resume_connection(void) {
  if (!guardian.orphaned && !has_nothing_to_guard() && connection_resume()) repeat_news();
}

/* Waits for an event once, and handles it. */
static void guard(void) {
  struct pollfd on[] = {
      poll_connection(),
      {.fd = is_killing() ? -1 : guardian.lifeline, .events = POLLIN},
      {.fd = guardian.timer, .events = POLLIN},
      {.fd = guardian.children, .events = POLLIN},
      {.fd = command_exec_outcome(), .events = POLLIN},
      control_poll(),
  };
  set_timer();
  report_progress();
  if (poll(on, sizeof on / sizeof *on, -1) < 0) return;
  drain(guardian.timer);
  drain(guardian.children);
  enforce_deadlines(); /* before the runner's frames: a frozen runner may have sent its START long ago */
  if (on[4].revents) command_read_outcome();
  if (on[0].revents & ~POLLOUT) read_requests(handle_request);
  if (on[5].revents && !control_read(pass_signal)) begin_killing();
  if (on[1].revents) read_lifeline();
  if (guardian.alone || guardian.orphaned) begin_killing();
  resume_connection();
  enforce_deadlines();
  if (!guardian.orphaned) send_seen_processes();
}

/*
 * Waits until the runner has sent RELEASE or is gone. If the guardian exited earlier, a frame that the runner sends
 * would fail without a reader, and events that the runner has not read would be lost with the socket.
 */
static void wait_for_release(void) {
  while (!guardian.orphaned && !guardian.released && !guardian.alone && now() < leave_at()) {
    struct pollfd on[] = {
        connection_poll(),
        {.fd = guardian.lifeline, .events = POLLIN},
        {.fd = guardian.timer, .events = POLLIN},
        control_poll(),
    };
    set_timer();
    if (poll(on, sizeof on / sizeof *on, -1) < 0) continue;
    if (on[1].revents) read_lifeline();
    drain(guardian.timer);
    if (on[0].revents & ~POLLOUT) read_requests(handle_release_only);
    if (on[3].revents) control_read(pass_signal);
    resume_connection();
  }
}

int run_inner_guardian(int sock, const struct agent *agent, int lifeline) {
  if (open_all(sock, agent, lifeline) < 0) return EXIT_SETUP;
  send_hello();
  if (agent) read_requests(handle_request); /* frames that the launcher has already read */
  if (guardian.orphaned) begin_killing();
  do {
    if (has_nothing_to_guard()) {
      cgroup_remove();
      return progress_end(EXIT_UNSTARTED);
    }
    guard();
  } while (!command_reap(guardian.alone));
  guardian.gone_at = now();
  report_progress();
  send_news(GONE, 0, 0);
  wait_for_release();
  cgroup_remove();
  return end_reports(EXIT_GONE);
}
