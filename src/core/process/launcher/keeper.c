#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../guardian/inherited.h"
#include "fallback.h"

enum { STARTS = 8, FIRST_PAUSE = 100 /* ms */ }; /* with doubling pauses, 13 seconds in total; then the next run starts another agent */

static int run_once(const struct options *options) {
  int status = 0;
  pid_t pid = fork();
  if (pid == 0) run_node(options, NULL);
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

void keep_agent(const struct options *options) {
  const char *command = options->words[0];
  if (!command || strcmp(command, "agent") != 0 || !getenv("SIGNALBOX_KEEP_AGENT")) return;
  unsetenv("SIGNALBOX_KEEP_AGENT");
  inherited_close();
  umask(022);
  for (int start = 0; start < STARTS && WIFSIGNALED(run_once(options)); start++) {
    long ms = FIRST_PAUSE << start;
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
  }
  _exit(0);
}
