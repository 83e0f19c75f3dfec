#define _GNU_SOURCE
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "command-input.h"
#include "connection.h"
#include "deadline.h"
#include "inherited.h"
#include "launch.h"
#include "news.h"
#include "process-tree.h"

static struct {
  int outcome; /* of the exec, -1 when none is pending */
  pid_t first; /* the first process, 0 before START */
  int alive;   /* the first process is not reaped: its pid is still valid */
  int failed;  /* the exec failed */
  int64_t late_code; /* see START */
} command = {.outcome = -1};

int command_was_started(void) { return command.first != 0; }

int command_is_running(void) { return command.alive; }

int command_exec_outcome(void) { return command.outcome; }

static int find_refusal(int is_lost) {
  if (command.first) return ALREADY_STARTED;
  if (!deadline_is_armed()) return UNARMED;
  return is_lost || deadline_has_passed() ? TOO_LATE : 0;
}

void command_start(int is_lost, const struct frame *f, const unsigned char *block) {
  int reason = find_refusal(is_lost);
  if (reason) {
    send_event(connection_socket(), REFUSED, reason, 0);
    return;
  }
  errno = environment_fault();
  char **words = errno ? NULL : words_list();
  pid_t pid = words ? launch(words, (const char *)block, f->length, &command.outcome) : -1;
  if (pid < 0) {
    send_news(FAILED, errno, 0);
    command.outcome = -1;
    deadline_cancel(); /* as after a failed exec: GONE follows */
    return;
  }
  words_free(words);
  command.first = pid;
  command.alive = 1;
  command.late_code = f->a;
  deadline_start();
  drop_stdio();
  inherited_close();
  if (chdir("/") < 0) errno = 0; /* keeps no file system busy; best effort */
}

/* Whether a signal is meant for the whole group: those that a terminal sends to it, SIGTERM and SIGCONT. */
static int is_for_group(int64_t sig) {
  static const int SIGNALS[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT};
  for (size_t i = 0; i < sizeof SIGNALS / sizeof *SIGNALS; i++)
    if (sig == SIGNALS[i]) return 1;
  return 0;
}

/* After the first process is reaped, its pid may belong to another process, so nothing is signalled. */
int command_signal(int64_t sig) {
  if (!command.alive || sig < 1 || sig >= NSIG) return 0;
  int whole = is_for_group(sig);
  if (!whole || kill(-command.first, (int)sig) < 0) kill(command.first, (int)sig);
  return 1;
}

void command_read_outcome(void) {
  int error;
  ssize_t n = read(command.outcome, &error, sizeof error);
  close(command.outcome);
  command.outcome = -1;
  command.failed = n == (ssize_t)sizeof error;
  if (command.failed) send_news(FAILED, error, 0);
  else send_news(STARTED, command.first, 0);
}

static void send_exit(int status, int leftovers, int is_alone) {
  if (command.outcome >= 0) command_read_outcome(); /* a short command: keep the order of the events */
  if (command.failed) return;
  if (leftovers && !is_terminating()) tree_scan();
  int ending = is_terminating() ? TERMINATED | (is_alone ? GUARDIAN_LOST : 0) : 0;
  send_news(EXITED, status, (leftovers ? LEFTOVERS : 0) | ending);
}

static int may_start_late(int status) { return !WIFEXITED(status) || WEXITSTATUS(status) >= command.late_code; }

int command_reap(int is_alone) {
  int status, ended = 0, first_status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid != command.first) continue;
    command.alive = 0;
    ended = 1;
    first_status = status;
  }
  int alone = pid < 0 && errno == ECHILD;
  if (ended && (may_start_late(first_status) || is_terminating())) cgroup_seal();
  int others = alone && (command.first || is_terminating()) && tree_has_others();
  if (ended) send_exit(first_status, !alone || others, is_alone);
  if (others) deadline_schedule_check();
  return alone && !others && (command.first || is_terminating());
}
