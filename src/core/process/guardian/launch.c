#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cgroup.h"
#include "command-input.h"
#include "command-user.h"
#include "inherited.h"

/* The values to restore for the command; empty: never changed. */
static char oom_before[16];
static int nice_before;

static pid_t runner;
static int is_foreground;

void launch_in_own_group(void) { is_foreground = 1; }

void note_runner(void) { runner = getppid(); }

static ssize_t oom_file(int flags, char *text, size_t length) {
  int fd = open("/proc/self/oom_score_adj", flags | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t n = flags == O_RDONLY ? read(fd, text, length) : write(fd, text, length);
  close(fd);
  return n;
}

void raise_priority(void) {
  char low[] = "-900";
  ssize_t n = oom_file(O_RDONLY, oom_before, sizeof oom_before - 1);
  if (n <= 0 || atoi(oom_before) <= atoi(low) || oom_file(O_WRONLY, low, strlen(low)) < 0) oom_before[0] = '\0';
  nice_before = getpriority(PRIO_PROCESS, 0);
  setpriority(PRIO_PROCESS, 0, -15);
}

static void restore_priority(void) {
  if (oom_before[0]) oom_file(O_WRONLY, oom_before, strlen(oom_before));
  setpriority(PRIO_PROCESS, 0, nice_before); /* lowering is always allowed; a no-op when raising was not */
}

void drop_stdio(void) {
  int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int i = 0; i < 3; i++) {
    if (fd < 0) close(i);
    else if (fd != i) dup2(fd, i);
  }
  if (fd > 2) close(fd);
}

static void unblock_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* systemd addresses its sockets to the runner, which it has started. Readdresses them to the command. See sd_listen_fds(3). */
static void take_over_sockets(void) {
  const char *listener = getenv("LISTEN_PID");
  char own[16];
  if (!listener || atoi(listener) != runner) return;
  snprintf(own, sizeof own, "%d", getpid());
  setenv("LISTEN_PID", own, 1);
  unsetenv("LISTEN_PIDFDID"); /* the same process, by another number */
}

/* Tells the command where a container runtime can put its containers, so that they end with it. */
static void name_cgroup(void) {
  if (cgroup_is_open()) setenv("SIGNALBOX_CGROUP", cgroup_name(), 1);
  else unsetenv("SIGNALBOX_CGROUP"); /* that of another run, in which this one may be nested */
}

/*
 * Turns the child into the command; returns only on failure.
 *
 * PDEATHSIG covers the case that no guardian is left to act; the exec of a setuid or setgid program clears it. It is set
 * before the check of the parent, so that the death of the parent is noticed whenever it happens. execvp(3) searches the
 * command's PATH, and runs a script without "#!" with /bin/sh, as env(1), nohup(1) and timeout(1) do: a crontab line keeps
 * its meaning under signalbox.
 */
static void exec_command(char **argv, char *extra, size_t length, pid_t guardian) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != guardian) _exit(1);
  if (!is_foreground) setpgid(0, 0);
  restore_priority();
  inherited_restore_limits();
  take_over_sockets();
  if (user_become() < 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user clears it */
  if (getppid() != guardian) _exit(1);
  environment_apply(extra, length);
  name_cgroup();
  unblock_signals();
  execvp(argv[0], argv);
}

pid_t launch(char **argv, const char *extra, size_t length, int *outcome) {
  int ends[2];
  pid_t guardian = getpid();
  char *copy = malloc(length + 1); /* always NUL-terminated */
  if (!copy || pipe2(ends, O_CLOEXEC) < 0) {
    free(copy);
    return -1;
  }
  memcpy(copy, extra, length);
  copy[length] = '\0';
  pid_t pid = cgroup_fork();
  if (pid == 0) {
    exec_command(argv, copy, length, guardian);
    int error = errno;
    if (error == EACCES && strchr(argv[0], '/') && open(argv[0], O_PATH | O_DIRECTORY) >= 0) error = EISDIR;
    if (write(ends[1], &error, sizeof error) < 0) error = 0; /* no reader left */
    _exit(127);
  }
  int error = errno;
  free(copy);
  close(ends[1]);
  if (pid < 0) close(ends[0]);
  else if (!is_foreground) setpgid(pid, pid); /* here too: a signal for the group may arrive before the child has created it */
  *outcome = ends[0];
  errno = error;
  return pid;
}
