#define _GNU_SOURCE
#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "../guardian/inherited.h"

static const int RECEIVED[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, 0};
/* Terminal signals that end no process. Before the command runs, they have their usual effect on the launcher. */
static const int OF_TERMINAL[] = {SIGTSTP, SIGCONT, SIGWINCH, 0};

static int descriptor = -1;
static sigset_t mask_before;
static struct sigaction pipe_before, child_before;

/* Leaves out signals that the caller ignores: the command ignores them too. */
static sigset_t build_set(const int *signals) {
  sigset_t set;
  sigemptyset(&set);
  for (; *signals; signals++)
    if (!inherited_is_ignored(*signals)) sigaddset(&set, *signals);
  return set;
}

void signals_hold_usr1(void) {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGUSR1);
  sigprocmask(SIG_BLOCK, &held, &mask_before);
}

int signals_open(void) {
  const struct sigaction ignored = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
  const sigset_t received = build_set(RECEIVED);
  descriptor = signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return -1;
  sigprocmask(SIG_BLOCK, &received, NULL);
  sigaction(SIGPIPE, &ignored, &pipe_before);  /* a closed output must not end the command */
  sigaction(SIGCHLD, &usual, &child_before);   /* if inherited as ignored, it would reap the guardian */
  return 0;
}

void signals_receive_of_terminal(int is_running) {
  const sigset_t more = build_set(OF_TERMINAL);
  sigset_t all = build_set(RECEIVED);
  if (is_running) sigorset(&all, &all, &more);
  signalfd(descriptor, &all, 0);
  sigprocmask(is_running ? SIG_BLOCK : SIG_UNBLOCK, &more, NULL);
}

void signals_stop_self(void) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  kill(getpid(), SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, NULL); /* stops here, but not in a process group without a shell that could continue it */
  sigprocmask(SIG_BLOCK, &stop, NULL);
}

int signals_descriptor(void) { return descriptor; }

int signals_next(void) {
  struct signalfd_siginfo info;
  return read(descriptor, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

static void restore(const sigset_t *mask) {
  if (descriptor < 0) return;
  sigaction(SIGPIPE, &pipe_before, NULL);
  sigaction(SIGCHLD, &child_before, NULL);
  sigprocmask(SIG_SETMASK, mask, NULL);
}

void signals_restore(void) { restore(&mask_before); }

void signals_restore_for_node(void) {
  sigset_t mask = mask_before;
  sigaddset(&mask, SIGUSR1);
  restore(&mask);
}
