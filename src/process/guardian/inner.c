#define _GNU_SOURCE
#include "inner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "command-input.h"
#include "command.h"
#include "deadline.h"
#include "frames.h"
#include "seen-processes.h"

#define SECOND 1000000000LL

static struct {
  int sock, lifeline, timer, children;
  int orphaned; /* the runner is gone */
  int released; /* the runner has sent RELEASE */
} g;

static void set_timer(void) {
  int64_t at = next_timer();
  struct itimerspec spec = {0};
  if (at != INT64_MAX) {
    if (at < 1) at = 1; /* zero would disarm it */
    spec.it_value.tv_sec = at / SECOND;
    spec.it_value.tv_nsec = at % SECOND;
  }
  timerfd_settime(g.timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

/* Does not exit while the command runs or once its termination has begun. */
static void release(void) {
  g.released = 1;
  if (command_is_running() || is_terminating()) return;
  cgroup_release_processes();
  _exit(EXIT_RELEASED);
}

static void handle_request(const struct frame *f, const unsigned char *block) {
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
      command_start(g.orphaned || is_closed(g.sock), block, f->length);
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
      send_event(g.sock, PONG, 0, 0);
      break;
    default:
      g.orphaned = 1; /* unknown frame, so not a matching runner: treat it as lost */
  }
}

/*
 * Reads all available frames before it handles any: a START from a runner that is already dead must not start anything.
 */
static void read_requests(void) {
  if (!read_frames(g.sock)) g.orphaned = 1;
  handle_frames(handle_request);
  if (g.orphaned) begin_killing();
}

static void handle_release_only(const struct frame *f, const unsigned char *block) {
  (void)block;
  if (f->kind == RELEASE) g.released = 1;
}

/*
 * Waits until the runner has sent RELEASE or is gone. If the guardian exited earlier, a frame that the runner sends
 * would fail without a reader, and events that the runner has not read would be lost with the socket.
 */
static void wait_for_release(void) {
  while (!g.orphaned && !g.released) {
    struct pollfd on[] = {{.fd = g.sock, .events = POLLIN}, {.fd = g.lifeline, .events = POLLIN}};
    if (poll(on, sizeof on / sizeof *on, -1) < 0) continue;
    if (on[1].revents) return;
    if (!read_frames(g.sock)) g.orphaned = 1;
    handle_frames(handle_release_only);
  }
}

static int open_all(int sock, int lifeline) {
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  g.sock = sock;
  g.lifeline = lifeline;
  g.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  g.children = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
  command_open(sock);
  return g.timer < 0 || g.children < 0 ? -1 : 0;
}

static void drain(int fd) {
  char sink[1024];
  while (read(fd, sink, sizeof sink) > 0) continue;
}

static void send_hello(void) {
  const char *path = cgroup_path();
  send_event(g.sock, HELLO, now(), WIRE_VERSION); /* first, so that a runner of any version understands it */
  send_event_block(g.sock, PLACE, getpid(), path, (uint32_t)strlen(path));
}

/*
 * Sends the remembered processes to the runner, for the case that both guardians are killed. Each list is complete, so
 * a runner that was frozen misses nothing.
 */
static void send_seen_processes(void) {
  if (!seen_has_changed() || g.orphaned || has_unread(g.sock)) return;
  static struct seen list[SEEN_MAX];
  send_event_block(g.sock, SEEN, 0, list, seen_list(list) * sizeof *list);
}

int run_inner_guardian(int sock, int lifeline) {
  if (open_all(sock, lifeline) < 0) return EXIT_SETUP;
  send_hello();
  do {
    set_timer();
    struct pollfd on[] = {
        {.fd = g.orphaned ? -1 : g.sock, .events = POLLIN}, {.fd = is_killing() ? -1 : g.lifeline, .events = POLLIN},
        {.fd = g.timer, .events = POLLIN},                  {.fd = g.children, .events = POLLIN},
        {.fd = command_exec_outcome(), .events = POLLIN},
    };
    if (poll(on, sizeof on / sizeof *on, -1) < 0) continue;
    drain(g.timer);
    drain(g.children);
    enforce_deadlines(); /* before the runner's frames: a frozen runner may have sent its START long ago */
    if (on[4].revents) command_read_outcome();
    if (on[0].revents) read_requests();
    if (on[1].revents) begin_killing();
    enforce_deadlines();
    send_seen_processes();
  } while (!command_reap());
  send_event(g.sock, GONE, 0, 0);
  wait_for_release();
  cgroup_remove();
  return EXIT_GONE;
}
