#define _GNU_SOURCE
#include "signals.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int RECEIVED[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};

static int descriptor = -1;
static sigset_t mask_before;
static struct sigaction pipe_before, child_before;

int signals_open(void) {
  const struct sigaction ignored = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};
  sigset_t received;
  sigemptyset(&received);
  for (size_t i = 0; i < sizeof RECEIVED / sizeof *RECEIVED; i++) sigaddset(&received, RECEIVED[i]);
  descriptor = signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return -1;
  sigprocmask(SIG_BLOCK, &received, &mask_before);
  sigaction(SIGPIPE, &ignored, &pipe_before);  /* a closed output must not end the command */
  sigaction(SIGCHLD, &usual, &child_before);   /* if inherited as ignored, it would reap the guardian */
  return 0;
}

int signals_descriptor(void) { return descriptor; }

int signals_next(void) {
  struct signalfd_siginfo info;
  return read(descriptor, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}

void signals_restore(void) {
  if (descriptor < 0) return;
  sigaction(SIGPIPE, &pipe_before, NULL);
  sigaction(SIGCHLD, &child_before, NULL);
  sigprocmask(SIG_SETMASK, &mask_before, NULL);
}
