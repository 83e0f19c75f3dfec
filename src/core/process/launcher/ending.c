#define _GNU_SOURCE
#include "ending.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/deadline.h"
#include "../guardian/frames.h"
#include "../guardian/note.h"
#include "fallback.h"
#include "held-output.h"
#include "hooks.h"
#include "messages.h"
#include "signals.h"

#define SECOND 1000000000LL
#define END_WITHIN (60 * SECOND) /* an agent that is frozen for longer must not block its callers */

static int fault, is_retried;

void leave(int code) {
  if (code != 0) held_output_print();
  hooks_end(code);
  _exit(code);
}

static int handle_frame(const struct frame *f, const unsigned char *block) {
  if (f->kind == END) {
    hooks_keep_end(f, block);
    leave((int)f->a);
  }
  if (f->kind == NOTE && f->b == 1 && note_keep(block, f->length, f->a)) {
    is_retried = 1;
    return 0; /* what follows is for wait_for_guard */
  }
  if (f->kind == WRITE && (f->a == 1 || f->a == 2)) write_all((int)f->a, block, f->length);
  fault = f->kind > ENVIRONMENT && f->kind < ACCEPTED; /* a request for the guardians may have come too late */
  return !fault;
}

static void pass_signals(int sock) {
  int sig;
  while ((sig = signals_next()) != 0)
    if (sig != SIGCHLD) send_event(sock, SIGNALLED, sig, 0);
}

/* Returns whether more frames can follow. */
static int read_answers(int sock) {
  enum received state = read_frames(sock);
  handle_frames(handle_frame);
  return state == OPEN && !fault && !is_retried;
}

void end_call(int sock, int status, int exit_code) {
  const int64_t end_by = now() + END_WITHIN;
  is_retried = 0;
  send_event(sock, GUARDIANS_ENDED, status, 0);
  for (int is_open = 1; is_open && now() < end_by;) {
    struct pollfd on[] = {{.fd = sock, .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
    if (poll(on, 2, (int)((end_by - now()) / 1000000) + 1) < 0) continue;
    if (on[1].revents) pass_signals(sock);
    if (on[0].revents) is_open = read_answers(sock);
  }
  if (is_retried) return;
  print_message((const char *const[]){
      exit_code < 0 ? "the agent has ended, and the command was killed" : "the agent has ended while the command ran",
      "; the lock is freed when its session expires", NULL});
  leave(exit_code < 0 ? EXIT_LOST : exit_code);
}
