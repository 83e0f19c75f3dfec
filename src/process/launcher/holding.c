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
} h;

/* Reaps the guardian, and what a dead one has left. A guardian that was stopped is woken: it keeps no deadline. */
static void reap(void) {
  int status;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
    if (WIFSTOPPED(status)) {
      if (pid == h.outer || pid == guardian_inner()) kill(pid, SIGCONT);
      continue;
    }
    if (pid != h.outer) continue;
    h.outer = 0;
    h.status = status;
  }
}

static void pass_signal(int sig) {
  if (h.control >= 0) send_event(h.control, SIGNAL, sig, 0);
}

static void pass_signals(void) {
  int sig;
  while ((sig = signals_next()) != 0) {
    if (sig == SIGCHLD) continue;
    pass_signal(sig);
    if (sig != SIGTSTP) continue;
    signals_stop_self();
    pass_signal(SIGCONT); /* also where the stop had no effect: the command must not stay stopped alone */
  }
  reap();
}

static void read_control(void) {
  if (guardian_events_read(h.control, &h.sock)) return;
  close(h.control);
  h.control = -1;
  if (h.outer) kill(h.outer, SIGCONT); /* its work is next */
}

static void wait_for_guardians(void) {
  while (h.outer || h.control >= 0) {
    struct pollfd on[] = {{.fd = h.control, .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
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
  h.sock = sock;
  h.outer = fork_guardian(sock, arguments, &h.control);
  if (h.outer < 0) fail_to_fork(sock);
  const pid_t outer = h.outer;
  wait_for_guardians();
  signals_receive_of_terminal(0);
  if (WIFEXITED(h.status) && WEXITSTATUS(h.status) == EXIT_UNSTARTED) return;
  if (!WIFEXITED(h.status)) orphans_kill(outer, guardian_cgroup());
  end_call(h.sock, h.status, guardian_exit_code());
}
