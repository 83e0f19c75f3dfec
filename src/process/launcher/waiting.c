#define _GNU_SOURCE
#include "waiting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/deadline.h"
#include "../guardian/frames.h"
#include "../guardian/note.h"
#include "agent-socket.h"
#include "call.h"
#include "fallback.h"
#include "messages.h"
#include "signals.h"

#define MS 1000000LL
#define ANSWER_MS 3000 /* at a full minute an agent has much to do, and a hundred starts of Node would not be faster */
#define ANSWER_ALWAYS_MS 10000
#define FIRST_PAUSE_MS 50
#define LONGEST_PAUSE_MS 500
#define BUSY_PAUSE_MS 2
#define NEVER INT64_MAX

static struct {
  int sock;
  int64_t answer_by; /* when an agent must have accepted; NEVER: it has */
  int is_granted;
  int fault;  /* the agent has sent what no agent sends */
  int signal; /* the last signal, of which the agent was told */
  char declined[256];
} w = {.sock = -1};

static int64_t allowed_ms(const struct options *options) {
  return options->mode == AGENT_ALWAYS ? ANSWER_ALWAYS_MS : ANSWER_MS;
}

/* Milliseconds until an instant, for poll(2). */
static int ms_until(int64_t instant) {
  if (instant == NEVER) return -1;
  int64_t left = (instant - now() + MS - 1) / MS;
  return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* A caller who has sent a signal wants this call to end, so nothing else is tried. */
static _Noreturn void give_up(const struct options *options, const char *reason) {
  if (w.signal) _exit(128 + w.signal);
  fall_back(options, reason, EXIT_NO_AGENT);
}

/* Sends the whole call. Returns 0 if the connection has ended, or the agent does not read. */
static int send_call(int stage) {
  size_t left;
  const unsigned char *at = call_encode(stage, &left);
  while (left > 0) {
    ssize_t n = send(w.sock, at, left, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct pollfd on = {.fd = w.sock, .events = POLLOUT};
    if (n < 0 && errno == EAGAIN && poll(&on, 1, ms_until(w.answer_by)) == 0) return 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR) return 0;
    if (n < 0) continue;
    at += n;
    left -= (size_t)n;
  }
  return 1;
}

static void forget_connection(void) {
  if (w.sock >= 0) close(w.sock);
  w.sock = -1;
  w.is_granted = 0;
  frames_forget();
}

/* Waits, and ends with a signal that is received meanwhile: no agent can decide what it means. */
static void pause_for(int64_t ms) {
  struct pollfd on = {.fd = signals_descriptor(), .events = POLLIN};
  int sig;
  if (poll(&on, 1, (int)ms) <= 0) return;
  while ((sig = signals_next()) != 0)
    if (sig != SIGCHLD) _exit(128 + sig);
}

void call_agent_again(const struct options *options) {
  struct connect_failure failure;
  if (w.signal) _exit(128 + w.signal);
  forget_connection();
  if (!note_text()) give_up(options, "the agent has ended the connection");
  if (w.answer_by == NEVER) w.answer_by = now() + note_retry_ms() * MS; /* once for each agent that had accepted */
  for (int64_t pause = FIRST_PAUSE_MS; now() < w.answer_by; pause *= 2) {
    pause_for(pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS);
    w.sock = agent_socket_connect(&failure);
    if (w.sock < 0 && failure.kind == BUSY) pause = BUSY_PAUSE_MS;
    if (w.sock >= 0 && send_call(CALL_WAITS)) return;
    forget_connection();
  }
  give_up(options, "the agent has ended, and none has replaced it");
}

static void keep_reason(const unsigned char *text, uint32_t length) {
  size_t kept = 0;
  for (uint32_t i = 0; i < length && kept < sizeof w.declined - 1; i++)
    if (text[i] >= ' ' && text[i] != 0x7f) w.declined[kept++] = (char)text[i];
  if (kept == 0) strcpy(w.declined, "the agent gives no reason");
}

static int handle_accepted_frame(const struct frame *f, const unsigned char *block) {
  switch (f->kind) {
    case NOTE:
      return note_keep(block, f->length, f->a) || (w.fault = 1, 0);
    case WRITE:
      if (f->a == 1 || f->a == 2) write_all((int)f->a, block, f->length);
      return 1;
    case GUARD:
      w.is_granted = 1;
      return 0;
    case END:
      _exit((int)f->a);
    default:
      w.fault = f->kind < LATER_KINDS;
      return !w.fault;
  }
}

static int handle_frame(const struct frame *f, const unsigned char *block) {
  if (f->kind == DECLINED) {
    keep_reason(block, f->length);
    return 0;
  }
  if (f->kind == ACCEPTED && f->a == AGENT_WIRE_VERSION) {
    w.answer_by = NEVER;
    return 1;
  }
  if (w.answer_by == NEVER || f->kind >= LATER_KINDS) return handle_accepted_frame(f, block);
  w.fault = 1;
  return 0;
}

static void read_answers(const struct options *options) {
  enum received state = read_frames(w.sock);
  handle_frames(handle_frame);
  if (w.is_granted) return;
  if (w.declined[0]) give_up(options, w.declined);
  if (w.fault || state == INVALID) give_up(options, "the agent is of another version");
  if (state == ENDED) call_agent_again(options);
}

void call_agent(const struct options *options) {
  struct connect_failure failure;
  w.answer_by = now() + allowed_ms(options) * MS;
  w.sock = agent_socket_connect(&failure);
  /* Another user may connect without pause. The agent accepts each connection, so there is room again and again. */
  while (w.sock < 0 && failure.kind == BUSY && options->mode == AGENT_ALWAYS && now() < w.answer_by) {
    pause_for(BUSY_PAUSE_MS);
    w.sock = agent_socket_connect(&failure);
  }
  if (w.sock < 0 && failure.kind == NOTHING_THERE) fall_back_without_agent(options, failure.reason);
  if (w.sock < 0)
    fall_back(options, failure.reason, failure.kind == UNTRUSTED ? EXIT_NO_PERMISSION : EXIT_NO_AGENT);
  if (send_call(CALL_IS_NEW)) return;
  read_answers(options); /* it may have declined the call before it had read it */
  fall_back(options, "the agent does not read the call", EXIT_NO_AGENT);
}

static void pass_signals(void) {
  int sig;
  while ((sig = signals_next()) != 0) {
    if (sig == SIGCHLD) continue; /* a child of the program that this one has replaced */
    w.signal = sig;
    send_event(w.sock, SIGNALLED, sig, 0);
  }
}

int wait_for_guard(const struct options *options) {
  while (!w.is_granted) {
    struct pollfd on[] = {{.fd = w.sock, .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
    int events = poll(on, 2, ms_until(w.answer_by));
    if (events < 0) continue;
    if (on[1].revents) pass_signals();
    if (on[0].revents) read_answers(options);
    if (!w.is_granted && w.answer_by != NEVER && now() >= w.answer_by)
      give_up(options, "the agent does not answer in time");
  }
  return w.sock;
}
