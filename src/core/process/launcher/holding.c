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
#include "ending.h"
#include "guardian-events.h"
#include "guardian-fork.h"
#include "messages.h"
#include "orphans.h"
#include "signals.h"

static struct {
  int sock, control; /* control: -1 when the inner guardian has ended */
  pid_t outer;       /* 0 when it is reaped */
  int status;
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

static void wait_for_guardians(void) {
  while (held.outer || held.control >= 0) {
    struct pollfd on[] = {{.fd = held.control, .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
    if (poll(on, 2, -1) < 0) continue;
    if (on[1].revents) pass_signals();
    if (on[0].revents) read_control();
  }
}

static _Noreturn void fail_to_fork(int sock) {
  print_message((const char *const[]){"cannot start the guardian: ", strerror(errno), NULL});
  end_call(sock, EXIT_SETUP << 8, -1);
}

void hold_command(int sock, struct arguments arguments) {
  orphans_prepare();
  signals_receive_of_terminal(1);
  guardian_events_reset();
  held.sock = sock;
  held.outer = fork_guardian(sock, arguments, &held.control);
  if (held.outer < 0) fail_to_fork(sock);
  const pid_t outer = held.outer;
  wait_for_guardians();
  signals_receive_of_terminal(0);
  if (WIFEXITED(held.status) && WEXITSTATUS(held.status) == EXIT_UNSTARTED) return;
  if (!WIFEXITED(held.status)) orphans_kill(outer, guardian_cgroup());
  end_call(held.sock, held.status, guardian_exit_code());
}
