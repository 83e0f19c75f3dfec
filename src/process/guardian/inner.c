#define _GNU_SOURCE
#include "inner.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch.h"
#include "talk.h"
#include "tree.h"

#define MS 1000000LL
#define NEVER INT64_MAX

/* What the guardian knows. Termination and killing only ever begin; nothing takes them back. */
static struct {
  char **argv;
  int sock, lifeline, timer, children, outcome; /* outcome: of the exec, -1 when none is pending */
  pid_t first;                                  /* the command's first process, 0 before START */
  int alive;                                    /* it has not been reaped: its pid is its own */
  int failed;                                   /* it never became the command */
  int64_t term_at, kill_at;                     /* armed deadlines; 0: not armed */
  int64_t last_at;                              /* SIGKILL of a termination under way */
  int terminating, killing, orphaned;
  int released; /* the runner has said its farewell */
  int64_t retry_at, retry_after;
} g = {.outcome = -1, .last_at = NEVER};

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void begin_killing(void) {
  if (g.killing) return;
  g.terminating = g.killing = 1;
  g.retry_at = now();
  g.retry_after = 2 * MS;
}

static void begin_termination(int64_t kill_at) {
  if (kill_at < g.last_at) g.last_at = kill_at;
  if (g.terminating) return;
  g.terminating = 1;
  tree_terminate();
}

/* SIGKILL of a termination: what was asked for or the armed horizon, whichever comes first. */
static int64_t last_instant(void) {
  return g.kill_at && g.kill_at < g.last_at ? g.kill_at : g.last_at;
}

static int64_t next_event(void) {
  if (g.killing) return g.retry_at;
  if (g.terminating) return last_instant();
  if (!g.first || !g.kill_at) return NEVER;
  return g.term_at < g.kill_at ? g.term_at : g.kill_at;
}

/* Does what is due. Before START there is nothing to end: a passed deadline then only refuses the START. */
static void keep_time(void) {
  int64_t at = now();
  if (!g.killing && g.first && g.kill_at && !g.terminating && at >= g.term_at) begin_termination(g.kill_at);
  if (!g.killing && (g.first || g.terminating) && at >= last_instant()) begin_killing();
  if (!g.killing && g.first && g.kill_at && at >= g.kill_at) begin_killing();
  if (!g.killing || at < g.retry_at) return;
  tree_kill();
  g.retry_at = now() + g.retry_after; /* for what cannot be killed yet (D state, another user's): not in a hot loop */
  if (g.retry_after < 250 * MS) g.retry_after *= 2;
}

static void set_timer(void) {
  int64_t at = next_event();
  struct itimerspec spec = {0};
  if (at != NEVER) {
    if (at < 1) at = 1; /* zero would disarm it */
    spec.it_value.tv_sec = at / (1000 * MS);
    spec.it_value.tv_nsec = at % (1000 * MS);
  }
  timerfd_settime(g.timer, TFD_TIMER_ABSTIME, &spec, NULL);
}

static int refusal(void) {
  if (g.first) return ALREADY_STARTED;
  if (!g.kill_at) return UNARMED;
  int64_t at = now();
  return g.terminating || g.orphaned || at >= g.term_at || at >= g.kill_at ? TOO_LATE : 0;
}

static void start(const unsigned char *block, uint32_t length) {
  int reason = refusal();
  if (reason) {
    tell(g.sock, REFUSED, reason, 0);
    return;
  }
  pid_t pid = launch(g.argv, (const char *)block, length, &g.outcome);
  if (pid < 0) {
    tell(g.sock, FAILED, errno, 0);
    g.outcome = -1;
    g.terminating = 1; /* as after a failed exec: what follows is GONE */
    return;
  }
  g.first = pid;
  g.alive = 1;
  drop_stdio();
  if (chdir("/") < 0) errno = 0; /* keeps no file system busy; where it cannot, it keeps one */
}

/*
 * What a terminal would send to the whole group goes to the group, anything else to the first process only.
 * Once that is reaped, its number may be anybody's: then nobody is signalled.
 */
static void forward(int64_t sig) {
  if (!g.alive || sig < 1 || sig >= NSIG) return;
  int whole = sig == SIGTERM || sig == SIGINT || sig == SIGHUP || sig == SIGQUIT;
  if (!whole || kill(-g.first, (int)sig) < 0) kill(g.first, (int)sig);
}

static void obey(const struct frame *f, const unsigned char *block) {
  switch (f->kind) {
    case ARM:
      g.term_at = f->a;
      g.kill_at = f->b > 0 ? f->b : 1;
      break;
    case START:
      start(block, f->length);
      break;
    case SIGNAL:
      forward(f->a);
      break;
    case TERMINATE:
      begin_termination(f->a);
      break;
    case RELEASE: /* no way out while the command runs, or once its end was decided */
      g.released = 1;
      if (!g.alive && !g.terminating) _exit(EXIT_RELEASED);
      break;
    default:
      g.orphaned = 1; /* not our runner's language: treat it as lost */
  }
}

/* Reads all there is before obeying any of it: a START whose runner is already dead must not start anything. */
static void hear(void) {
  if (!listen_to(g.sock)) g.orphaned = 1;
  take_frames(obey);
  if (g.orphaned) begin_killing();
}

static void learn_outcome(void) {
  int error;
  ssize_t n = read(g.outcome, &error, sizeof error);
  close(g.outcome);
  g.outcome = -1;
  g.failed = n == (ssize_t)sizeof error;
  if (g.failed) tell(g.sock, FAILED, error, 0);
  else tell(g.sock, STARTED, g.first, 0);
}

/* The only place that reaps. Returns whether nothing is left. */
static int reap(void) {
  int status, ended = 0, first_status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != g.first) continue;
    g.alive = 0;
    ended = 1;
    first_status = status;
  }
  int empty = pid < 0 && errno == ECHILD;
  if (ended && g.outcome >= 0) learn_outcome(); /* a short command: keep the order of what we tell */
  if (ended && !g.failed) tell(g.sock, EXITED, first_status, (empty ? 0 : LEFTOVERS) | (g.terminating ? TERMINATED : 0));
  return empty && (g.first || g.terminating);
}

static void heed_farewell(const struct frame *f, const unsigned char *block) {
  (void)block;
  if (f->kind == RELEASE) g.released = 1;
}

/*
 * Stays until the runner has taken leave, or is gone: an order that it sends to a socket without a reader fails, and what it
 * has not read of our news goes with the socket.
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

static int open_all(int sock, int lifeline, char **argv) {
  sigset_t chld;
  sigemptyset(&chld);
  sigaddset(&chld, SIGCHLD);
  g.argv = argv;
  g.sock = sock;
  g.lifeline = lifeline;
  g.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  g.children = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
  return g.timer < 0 || g.children < 0 ? -1 : 0;
}

static void drain(int fd) {
  char sink[1024];
  while (read(fd, sink, sizeof sink) > 0) continue;
}

int guard(int sock, int lifeline, char **argv) {
  if (open_all(sock, lifeline, argv) < 0) return EXIT_SETUP;
  tell(g.sock, HELLO, now(), WIRE_VERSION);
  for (;;) {
    set_timer();
    struct pollfd on[] = {
        {.fd = g.orphaned ? -1 : g.sock, .events = POLLIN}, {.fd = g.killing ? -1 : g.lifeline, .events = POLLIN},
        {.fd = g.timer, .events = POLLIN},                  {.fd = g.children, .events = POLLIN},
        {.fd = g.outcome, .events = POLLIN},
    };
    if (poll(on, sizeof on / sizeof *on, -1) < 0) continue;
    drain(g.timer);
    drain(g.children);
    keep_time(); /* before the runner is heard: one that was frozen may have sent its START long ago */
    if (on[4].revents) learn_outcome();
    if (on[0].revents) hear();
    if (on[1].revents) begin_killing();
    keep_time();
    if (reap()) break;
  }
  tell(g.sock, GONE, 0, 0);
  linger();
  return EXIT_GONE;
}
