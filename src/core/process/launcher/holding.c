#define _GNU_SOURCE
#include "holding.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guardian/frames.h"
#include "../guardian/proc.h"
#include "ending.h"
#include "fallback.h"
#include "guardian-events.h"
#include "guardian-fork.h"
#include "hooks.h"
#include "messages.h"
#include "orphans.h"
#include "signals.h"

enum { LOOK_PAUSE_MS = 500 };

static struct {
  int sock, control; /* control: -1 when the inner guardian has ended */
  pid_t outer;       /* 0 when it has ended */
  int status;
  int was_stopped; /* at the last look at the guardian that is left */
} held;

/* Reaps the guardian, and orphans of a dead one. Wakes a guardian that was stopped, because it enforces no deadline. */
static void reap(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (WIFSTOPPED(status)) {
      if (pid == held.outer || pid == guardian_inner()) kill(pid, SIGCONT);
      continue;
    }
    hooks_notice_end(pid);
    if (pid != held.outer) continue;
    held.outer = 0;
    held.status = status;
  }
}

static void pass_signal(int sig) {
  if (held.control >= 0) send_event(held.control, SIGNAL, sig, 0);
}

static void pass_signals(void) {
  int sig;
  while ((sig = signals_next()) != 0) {
    if (sig == SIGCHLD) continue;
    pass_signal(sig);
    if (sig != SIGTSTP) continue;
    signals_stop_self();
    pass_signal(SIGCONT); /* even if the stop had no effect: otherwise only the command would stay stopped */
  }
  reap();
}

static void read_control(void) {
  if (guardian_events_read(held.control, &held.sock)) return;
  close(held.control);
  held.control = -1;
  if (held.outer) kill(held.outer, SIGCONT); /* the outer guardian has work now */
}

/* The guardian that is left after the other one has ended; 0: none, or both live. */
static pid_t find_survivor(void) {
  if (held.control < 0) return held.outer;
  return held.outer ? 0 : guardian_inner();
}

/*
 * Kills the guardian that is left if two looks in a row find it stopped: a debugger holds it. If that debugger does not reap
 * it, no signal tells its end.
 */
static void look_at_survivor(void) {
  struct proc p = {0};
  const pid_t survivor = find_survivor();
  if (!survivor || proc_open() < 0 || proc_read(survivor, &p) < 0) return;
  if (p.dead && survivor == held.outer) {
    held.outer = 0;
    held.status = SIGKILL;
  }
  if (p.is_stopped) kill(survivor, held.was_stopped ? SIGKILL : SIGCONT);
  held.was_stopped = p.is_stopped;
}

static void wait_for_guardians(void) {
  while (held.outer || held.control >= 0) {
    struct pollfd on[] = {{.fd = held.control, .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
    int events = poll(on, 2, find_survivor() ? LOOK_PAUSE_MS : -1);
    if (events == 0) look_at_survivor();
    if (events <= 0) continue;
    if (on[1].revents) pass_signals();
    if (on[0].revents) read_control();
  }
}

static _Noreturn void fail_to_fork(int sock) {
  print_message((const char *const[]){"cannot start the guardian: ", strerror(errno), NULL});
  end_call(sock, EXIT_SETUP << 8, -1);
  leave(EXIT_LOST);
}

struct hold_end hold_command(int sock) {
  orphans_prepare();
  signals_receive_of_terminal(1);
  guardian_events_reset();
  held.sock = sock;
  held.outer = fork_guardian(sock, &held.control);
  if (held.outer < 0) fail_to_fork(sock);
  const pid_t outer = held.outer;
  wait_for_guardians();
  signals_receive_of_terminal(0);
  if (WIFEXITED(held.status) && WEXITSTATUS(held.status) == EXIT_UNSTARTED) return (struct hold_end){.sock = held.sock};
  if (!WIFEXITED(held.status)) orphans_kill(outer, guardian_cgroup());
  end_call(held.sock, held.status, guardian_exit_code());
  return (struct hold_end){.is_retried = 1, .sock = held.sock, .exit_code = guardian_exit_code()};
}
