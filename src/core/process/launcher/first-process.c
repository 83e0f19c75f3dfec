#define _GNU_SOURCE
#include "first-process.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process group of its own, in the foreground of the terminal: its keys must not reach the child twice. SIGTTOU is blocked. */
static void lead_own_group(void) {
  setpgid(0, 0);
  if (isatty(0)) tcsetpgrp(0, getpid());
}

/* Reaps all that has ended. Returns whether the child is among it. */
static int reap(pid_t child, int *status) {
  int is_over = 0, other;
  for (pid_t ended; (ended = waitpid(-1, &other, WNOHANG)) > 0;)
    if (ended == child) is_over = 1, *status = other;
  return is_over;
}

static int serve(pid_t child, const sigset_t *all) {
  int status = 0;
  for (;;) {
    const int number = sigwaitinfo(all, NULL);
    if (number == SIGCHLD && reap(child, &status)) break;
    if (number > 0 && number != SIGCHLD) kill(child, number);
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void split_first_process(void) {
  if (getpid() != 1) return;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before); /* the kernel keeps no signal for a first process that neither blocks nor handles it */
  void (*const on_end)(int) = signal(SIGCHLD, SIG_DFL); /* ignored, it would let the kernel reap the child unseen */
  const pid_t child = fork();
  if (child > 0) exit(serve(child, &all));
  if (child == 0) lead_own_group();
  signal(SIGCHLD, on_end);
  sigprocmask(SIG_SETMASK, &before, NULL); /* without a child, this one goes on alone */
}
