/*
 * signalbox's guardian: `guardian -- CMD [ARG...]`, started by the runner with a socket as descriptor 3.
 * It runs CMD when told to, and makes sure that nothing of CMD lives on when the runner is killed, frozen or late.
 *
 * Two guardians in a row, since whoever guards can be killed too:
 *
 *   runner ── outer ── inner ── CMD ── ...
 *
 * Both are child subreapers. The inner one is CMD's parent, holds the socket and does the work. If it is killed, its
 * descendants fall to the outer one, which kills them. If the outer one is killed, the inner one sees its pipe end, and kills.
 * If both are, CMD's first process dies by PDEATHSIG and the runner kills the rest; all three at once are what remains.
 * The outer one lets go of the socket: its end must mean the inner one's, and the runner's end must reach the inner one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inner.h"
#include "launch.h"
#include "tree.h"
#include "wire.h"

static int fail(const char *what) {
  fprintf(stderr, "signalbox-guard: %s: %s\n", what, strerror(errno));
  return EXIT_SETUP;
}

/* Guardians end by SIGKILL or by their own decision: a stray `kill` must not take the guard and leave the rest alone. */
static void hold_signals(void) {
  sigset_t all;
  signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would reap our children behind our back */
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
}

/*
 * The command gets 0, 1 and 2 and nothing else, and no guardian keeps a pipe or a lock open that it was handed from above.
 * (Node closes the first few inherited descriptors, and not the others.)
 */
static void close_strays(void) {
#ifdef SYS_close_range
  syscall(SYS_close_range, WIRE_FD + 1, ~0U, 0);
#endif
}

/* The inner guardian is dead: kills what fell to us until waitpid says that nothing is left. */
static void avenge(void) {
  struct timespec nap = {.tv_nsec = 2000000};
  for (;;) {
    pid_t pid;
    tree_kill();
    nanosleep(&nap, NULL);
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
    if (pid < 0 && errno == ECHILD) return;
    if (nap.tv_nsec < 250000000) nap.tv_nsec *= 2;
  }
}

static int watch_over(pid_t inner) {
  for (;;) {
    int status;
    pid_t pid = waitpid(-1, &status, WUNTRACED);
    if (pid < 0 && errno == EINTR) continue;
    if (pid == inner && WIFSTOPPED(status)) { /* a stopped guardian keeps no deadline */
      kill(inner, SIGCONT);
      continue;
    }
    if (pid != inner) continue;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    avenge();
    return EXIT_AVENGED;
  }
}

int main(int argc, char **argv) {
  int lifeline[2];
  if (argc < 3 || strcmp(argv[1], "--") != 0 || fcntl(WIRE_FD, F_SETFD, FD_CLOEXEC) < 0) {
    fputs("signalbox-guard: started by signalbox only\n", stderr);
    return EXIT_SETUP;
  }
  close_strays();
  hold_signals();
  prctl(PR_SET_NAME, "signalbox-guard");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return fail("cannot become a subreaper");
  if (tree_open() < 0) return fail("cannot use /proc");
  if (pipe2(lifeline, O_CLOEXEC) < 0) return fail("cannot make a pipe");
  take_shelter();

  pid_t inner = fork();
  if (inner < 0) return fail("cannot fork");
  if (inner > 0) {
    close(WIRE_FD);
    close(lifeline[0]);
    drop_stdio();
    if (chdir("/") < 0) errno = 0; /* best effort, as in the inner one */
    return watch_over(inner);
  }
  close(lifeline[1]);
  if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0) return fail("cannot become a subreaper");
  return guard(WIRE_FD, lifeline[0], argv + 2);
}
