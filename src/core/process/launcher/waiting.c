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
#include "ending.h"
#include "fallback.h"
#include "held-output.h"
#include "hooks.h"
#include "messages.h"
#include "signals.h"

#define MS 1000000LL
#define ANSWER_MS 3000 /* an agent is busy at the full minute, but a hundred starts of Node would not be faster */
#define ANSWER_ALWAYS_MS 60000 /* without an agent, the command would not run at all */
#define FIRST_PAUSE_MS 50
#define LONGEST_PAUSE_MS 500
#define BUSY_PAUSE_MS 2
#define NEVER INT64_MAX

static struct {
  int sock;
  int64_t answer_by; /* when an agent must have accepted; NEVER: it has */
  int is_granted;
  int fault;  /* the agent has sent an invalid frame */
  int signal; /* the last signal that was reported to the agent */
  int has_run; /* the command has ended, and is to be started again */
  int exit_code; /* of that command */
  char declined[256];
} call = {.sock = -1};

static int64_t allowed_ms(const struct options *options) {
  return options->mode == AGENT_ALWAYS ? ANSWER_ALWAYS_MS : ANSWER_MS;
}

/* Milliseconds until an instant, for poll(2). */
static int ms_until(int64_t instant) {
  if (instant == NEVER) return -1;
  int64_t left = (instant - now() + MS - 1) / MS;
  return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* Ends the call after a signal. If the command has failed before, that is its result. */
static _Noreturn void end_by_signal(int sig) { leave(call.has_run ? call.exit_code : 128 + sig); }

/* If the caller has sent a signal, this call must end, so nothing else is tried. */
static _Noreturn void give_up(const struct options *options, const char *reason) {
  if (call.signal) end_by_signal(call.signal);
  if (!call.has_run) fall_back(options, reason, EXIT_NO_AGENT);
  print_message((const char *const[]){"the command has failed and is not retried: ", reason,
                                      "; the lock is freed when its session expires", NULL});
  leave(call.exit_code);
}

/* Sends the whole call. Returns 0 if the connection has ended, or the agent does not read. */
static int send_call(int stage) {
  size_t left;
  const unsigned char *at = call_encode(stage, &left);
  while (left > 0) {
    ssize_t n = send(call.sock, at, left, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct pollfd on = {.fd = call.sock, .events = POLLOUT};
    if (n < 0 && errno == EAGAIN && poll(&on, 1, ms_until(call.answer_by)) == 0) return 0;
    if (n < 0 && errno != EAGAIN && errno != EINTR) return 0;
    if (n < 0) continue;
    at += n;
    left -= (size_t)n;
  }
  return 1;
}

static void forget_connection(void) {
  if (call.sock >= 0) close(call.sock);
  call.sock = -1;
  call.is_granted = 0;
  frames_forget();
}

/* Waits. Exits if a signal is received meanwhile: no agent is connected that could handle it. */
static void pause_for(int64_t ms) {
  struct pollfd on = {.fd = signals_descriptor(), .events = POLLIN};
  int sig;
  if (poll(&on, 1, (int)ms) <= 0) return;
  while ((sig = signals_next()) != 0)
    if (sig != SIGCHLD) end_by_signal(sig);
}

void call_agent_again(const struct options *options) {
  struct connect_failure failure;
  if (call.signal) end_by_signal(call.signal);
  forget_connection();
  if (!note_text()) give_up(options, "the agent has ended the connection");
  if (call.answer_by == NEVER) call.answer_by = now() + note_retry_ms() * MS; /* once for each agent that had accepted */
  for (int64_t pause = FIRST_PAUSE_MS; now() < call.answer_by; pause *= 2) {
    pause_for(pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS);
    call.sock = agent_socket_connect(&failure);
    if (call.sock < 0 && failure.kind == BUSY) pause = BUSY_PAUSE_MS;
    if (call.sock >= 0 && send_call(CALL_WAITS)) return;
    forget_connection();
  }
  give_up(options, "the agent has ended, and none has replaced it");
}

static void keep_reason(const unsigned char *text, uint32_t length) {
  size_t kept = 0;
  for (uint32_t i = 0; i < length && kept < sizeof call.declined - 1; i++)
    if (text[i] >= ' ' && text[i] != 0x7f) call.declined[kept++] = (char)text[i];
  if (kept == 0) strcpy(call.declined, "the agent gives no reason");
}

static int handle_accepted_frame(const struct frame *f, const unsigned char *block) {
  switch (f->kind) {
    case NOTE:
      return note_keep(block, f->length, f->a) || (call.fault = 1, 0);
    case WRITE:
      if (f->a == 1 || f->a == 2) write_all((int)f->a, block, f->length);
      return 1;
    case GUARD:
      call.is_granted = 1;
      if (f->a == 1) held_output_open();
      if (f->b) hooks_prepare(f, block);
      return 0;
    case END:
      hooks_keep_end(f, block);
      leave((int)f->a);
    default:
      call.fault = f->kind < LATER_KINDS;
      return !call.fault;
  }
}

static int handle_frame(const struct frame *f, const unsigned char *block) {
  if (f->kind == DECLINED) {
    keep_reason(block, f->length);
    return 0;
  }
  if (f->kind == ACCEPTED && f->a == AGENT_WIRE_VERSION) {
    call.answer_by = NEVER;
    return 1;
  }
  if (call.answer_by == NEVER || f->kind >= LATER_KINDS) return handle_accepted_frame(f, block);
  call.fault = 1;
  return 0;
}

static void handle_answers(const struct options *options, enum received state) {
  handle_frames(handle_frame);
  if (call.is_granted) return;
  if (call.declined[0]) give_up(options, call.declined);
  if (call.fault || state == INVALID) give_up(options, "the agent is of another version");
  if (state == ENDED) call_agent_again(options);
}

static void read_answers(const struct options *options) { handle_answers(options, read_frames(call.sock)); }

void call_agent(const struct options *options) {
  struct connect_failure failure;
  call.answer_by = now() + allowed_ms(options) * MS;
  call.sock = agent_socket_connect(&failure);
  /* Another user may connect without pause. But the agent accepts each connection, so there is always room again soon. */
  while (call.sock < 0 && failure.kind == BUSY && options->mode == AGENT_ALWAYS && now() < call.answer_by) {
    pause_for(BUSY_PAUSE_MS);
    call.sock = agent_socket_connect(&failure);
  }
  if (call.sock < 0 && failure.kind == NOTHING_THERE) fall_back_without_agent(options, failure.reason);
  if (call.sock < 0)
    fall_back(options, failure.reason, failure.kind == UNTRUSTED ? EXIT_NO_PERMISSION : EXIT_NO_AGENT);
  if (send_call(CALL_IS_NEW)) return;
  read_answers(options); /* the agent may have declined the call before it had read all of it */
  fall_back(options, "the agent does not read the call", EXIT_NO_AGENT);
}

static void pass_signals(void) {
  int sig;
  while ((sig = signals_next()) != 0) {
    if (sig == SIGCHLD) continue; /* from a child of the program that this process was before its exec */
    call.signal = sig;
    send_event(call.sock, SIGNALLED, sig, 0);
  }
}

void await_retry(const struct options *options, int sock, int exit_code) {
  call.sock = sock;
  call.is_granted = 0;
  call.has_run = 1;
  call.exit_code = exit_code < 0 ? EXIT_LOST : exit_code;
  handle_answers(options, OPEN); /* they may have been read with the note */
}

int wait_for_guard(const struct options *options) {
  while (!call.is_granted) {
    struct pollfd on[] = {{.fd = call.sock, .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
    int events = poll(on, 2, ms_until(call.answer_by));
    if (events < 0) continue;
    if (on[1].revents) pass_signals();
    if (on[0].revents) read_answers(options);
    if (!call.is_granted && call.answer_by != NEVER && now() >= call.answer_by)
      give_up(options, "the agent does not answer in time");
  }
  return call.sock;
}
