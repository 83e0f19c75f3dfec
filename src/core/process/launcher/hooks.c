#define _GNU_SOURCE
#include "hooks.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/deadline.h"
#include "fallback.h"
#include "held-output.h"
#include "signals.h"

#define SECOND 1000000000LL
#define START_WITHIN (2 * SECOND) /* how long the end waits for the calls at the start, which should arrive first */

static struct {
  const struct options *options;
  int64_t bits; /* of GUARD */
  char *run, *end; /* JSON of the agent; NULL: it has sent none */
  int has_started, has_end; /* has_end: the agent has sent an END */
  pid_t starting; /* calls the hooks at the start; 0: nobody does */
} hooks;

static void keep(char **text, const struct frame *f, const unsigned char *block) {
  if (f->length == 0) return;
  free(*text);
  *text = strndup((const char *)block, f->length);
}

void hooks_set_options(const struct options *options) { hooks.options = options; }

void hooks_prepare(const struct frame *guard, const unsigned char *block) {
  hooks.bits = guard->b;
  keep(&hooks.run, guard, block);
  held_output_relay();
}

void hooks_keep_end(const struct frame *end, const unsigned char *block) {
  keep(&hooks.end, end, block);
  hooks.has_end = 1;
}

/* Becomes Node. It accepts the description of the hooks only with its own process id: others may have inherited the variable. */
static _Noreturn void call_hooks(const char *end) {
  int output[2];
  char *text;
  const char *kind = held_output_pass_on(output);
  if (asprintf(&text, "{\"pid\":%d,\"%s\":[%d,%d],\"run\":%s,\"end\":%s}", (int)getpid(), kind, output[0], output[1],
               hooks.run, end) < 0)
    _exit(EXIT_LOST);
  run_hooks(hooks.options, text);
}

void hooks_start(void) {
  if (!hooks.run || hooks.has_started) return;
  hooks.has_started = 1;
  if (!(hooks.bits & HOOKS_AT_START)) return;
  const pid_t pid = fork();
  if (pid == 0) call_hooks("null");
  if (pid > 0) hooks.starting = pid;
}

void hooks_notice_end(pid_t pid) {
  if (pid == hooks.starting) hooks.starting = 0;
}

/* Waits for a child, which gets all signals meanwhile. Returns 0 if the time is over first. */
static int await(pid_t pid, int64_t until) {
  int sig;
  while (waitpid(pid, NULL, WNOHANG) == 0) {
    struct pollfd on = {.fd = signals_descriptor(), .events = POLLIN};
    const int64_t left = until - now();
    if (left <= 0) return 0;
    poll(&on, 1, until == INT64_MAX ? -1 : (int)(left / 1000000) + 1);
    while ((sig = signals_next()) != 0)
      if (sig != SIGCHLD) kill(pid, sig);
  }
  return 1;
}

static void end_start(void) {
  if (!hooks.starting || await(hooks.starting, now() + START_WITHIN)) return;
  kill(hooks.starting, SIGKILL);
  await(hooks.starting, INT64_MAX);
}

void hooks_end(int code) {
  char unknown[32];
  if (!hooks.run) return;
  end_start();
  snprintf(unknown, sizeof unknown, "{\"code\":%d}", code);
  const char *end = hooks.has_end || !hooks.has_started ? hooks.end : unknown;
  if (!end) return held_output_await();
  const pid_t pid = fork();
  if (pid == 0) call_hooks(end);
  if (pid > 0) await(pid, INT64_MAX); /* its exit code says nothing about the command */
}
