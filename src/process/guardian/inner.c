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

#include "command.h"
#include "deadline.h"
#include "group.h"
#include "memory.h"
#include "talk.h"

#define SECOND 1000000000LL

static struct {
  int sock, lifeline, timer, children;
  int orphaned; /* the runner is gone */
  int released; /* the runner has sent RELEASE */
} g;

static void set_timer(void) {
  int64_t at = next_event();
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
  if (command_runs() || is_terminating()) return;
  group_let_go();
  _exit(EXIT_RELEASED);
}

static void obey(const struct frame *f, const unsigned char *block) {
  switch (f->kind) {
    case ARM:
      deadline_arm(f->a, f->b > 0 ? f->b : 1);
      break;
    case WORDS:
      command_add_words(block, f->length);
      break;
    case ENVIRONMENT:
      command_add_environment(block, f->length);
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
      tell(g.sock, PONG, 0, 0);
      break;
    default:
      g.orphaned = 1; /* unknown frame, so not a matching runner: treat it as lost */
  }
}

/*
 * Reads all available frames before it handles any: a START from a runner that is already dead must not start anything.
 */
static void hear(void) {
  if (!listen_to(g.sock)) g.orphaned = 1;
  take_frames(obey);
  if (g.orphaned) begin_killing();
}

static void heed_farewell(const struct frame *f, const unsigned char *block) {
  (void)block;
  if (f->kind == RELEASE) g.released = 1;
}

/*
 * Waits until the runner has sent RELEASE or is gone. If the guardian exited earlier, a frame that the runner sends
 * would fail without a reader, and events that the runner has not read would be lost with the socket.
 */
static void linger(void) {
  while (!g.orphaned && !g.released) {
    struct pollfd on[] = {{.fd = g.sock, .events = POLLIN}, {.fd = g.lifeline, .events = POLLIN}};
    if (poll(on, sizeof on / sizeof *on, -1) < 0) continue;
    if (on[1].revents) return;
    if (!listen_to(g.sock)) g.orphaned = 1;
    take_frames(heed_farewell);
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

static void greet(void) {
  const char *path = group_path();
  tell(g.sock, HELLO, now(), WIRE_VERSION); /* first, so that a runner of any version understands it */
  tell_block(g.sock, PLACE, getpid(), path, (uint32_t)strlen(path));
}

/*
 * Sends the remembered processes to the runner, for the case that both guardians are killed. Each list is complete, so
 * a runner that was frozen misses nothing.
 */
static void share_memory(void) {
  if (!memory_has_changed() || g.orphaned || has_unread(g.sock)) return;
  static struct seen list[MEMORY_MAX];
  tell_block(g.sock, SEEN, 0, list, memory_list(list) * sizeof *list);
}

int guard(int sock, int lifeline) {
  if (open_all(sock, lifeline) < 0) return EXIT_SETUP;
  greet();
  do {
    set_timer();
    struct pollfd on[] = {
        {.fd = g.orphaned ? -1 : g.sock, .events = POLLIN}, {.fd = is_killing() ? -1 : g.lifeline, .events = POLLIN},
        {.fd = g.timer, .events = POLLIN},                  {.fd = g.children, .events = POLLIN},
        {.fd = command_outcome(), .events = POLLIN},
    };
    if (poll(on, sizeof on / sizeof *on, -1) < 0) continue;
    drain(g.timer);
    drain(g.children);
    keep_time(); /* before the runner's frames: a frozen runner may have sent its START long ago */
    if (on[4].revents) command_learn_outcome();
    if (on[0].revents) hear();
    if (on[1].revents) begin_killing();
    keep_time();
    share_memory();
  } while (!command_reap());
  tell(g.sock, GONE, 0, 0);
  linger();
  group_remove();
  return EXIT_GONE;
}
