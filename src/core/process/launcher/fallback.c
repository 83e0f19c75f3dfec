#define _GNU_SOURCE
#include "fallback.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guardian/inherited.h"
#include "../guardian/launch.h"
#include "../guardian/note.h"
#include "messages.h"
#include "signals.h"

extern char **environ;

/*
 * Finds a file of the installation. The launcher is in native/ARCH/ of the same folder, or in bin/ beside lib/signalbox.
 */
static int find_installed(const char *name, char *path, size_t size) {
  static const char *const FROM_LAUNCHER[] = {"../..", "../lib/signalbox"};
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  while (length > 0 && self[length - 1] != '/') length--;
  if (length <= 0) return 0;
  self[length] = '\0';
  for (size_t i = 0; i < sizeof FROM_LAUNCHER / sizeof *FROM_LAUNCHER; i++) {
    int written = snprintf(path, size, "%s%s/%s", self, FROM_LAUNCHER[i], name);
    if (written > 0 && (size_t)written < size && access(path, R_OK) == 0) return 1;
  }
  return 0;
}

/* V8 options of long-running commands. The build generates the rows from src/bin/heap-limits.ts. */
enum { MOST_LIMITS = 4 };
static const char *const LIMITS[][MOST_LIMITS + 2] = {HEAP_LIMITS};

/* Returns the options for a command, up to NULL. */
static const char *const *find_limits(const struct options *options) {
  static const char *const none[] = {NULL};
  const char *command = options->words[0];
  if (options->called || !command) return none;
  for (size_t i = 0; i < sizeof LIMITS / sizeof *LIMITS; i++)
    if (strcmp(command, LIMITS[i][0]) == 0) return LIMITS[i] + 1;
  return none;
}

/*
 * The caller's variables for Node are for the command. They would change signalbox itself: NODE_OPTIONS can open a debugger
 * or load code, and NODE_TLS_REJECT_UNAUTHORIZED accepts every certificate. Node gets them with a prefix, which it removes
 * for the command (src/core/process/caller-environment.ts).
 */
static const char PREFIX[] = "SIGNALBOX_CALLER_";

static int is_for_node(const char *entry) {
  return strncmp(entry, "NODE_", 5) == 0 && strncmp(entry, "NODE_EXTRA_CA_CERTS=", 20) != 0;
}

/* Returns 0 if there is no memory. */
static int hide_variables(void) {
  char **kept = environ;
  for (char **at = environ; *at; at++) {
    char *entry = *at;
    if (strncmp(entry, PREFIX, sizeof PREFIX - 1) == 0) continue; /* of another call */
    if (is_for_node(entry) && asprintf(&entry, "%s%s", PREFIX, *at) < 0) return 0;
    *kept++ = entry;
  }
  *kept = NULL;
  return 1;
}

/* Without it, USR1 opens a debugger, in which everybody on this host can run code. */
#define NO_DEBUGGER "--disable-sigusr1"
enum { BAD_OPTION = 9 };

/*
 * One thread for V8's tasks instead of four: a run is over before they would help, and each thread takes time to start and end.
 * With 0, Node would start one for each processor.
 */
#define ONE_THREAD "--v8-pool-size=1"

/* A Node before 22.14 only says that it does not know the option. If somebody is at a terminal, find that out before. */
static int is_too_old(void) {
  int status = 0;
  pid_t pid = isatty(2) ? fork() : -1;
  if (pid == 0) {
    drop_stdio();
    execlp("node", "node", NO_DEBUGGER, "--version", NULL);
    _exit(0);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == BAD_OPTION;
}

static char **build_arguments(const struct options *options, const char *node, const char *bundle) {
  size_t count = 0, next = 0;
  while (options->words[count]) count++;
  char **list = malloc((count + 6 + MOST_LIMITS) * sizeof *list);
  if (!list) return NULL;
  list[next++] = (char *)node;
  list[next++] = NO_DEBUGGER;
  if (options->starts_command) list[next++] = ONE_THREAD;
  for (const char *const *limit = find_limits(options); *limit; limit++) list[next++] = (char *)*limit;
  list[next++] = (char *)bundle;
  if (options->called) list[next++] = (char *)options->called;
  memcpy(list + next, options->words, (count + 1) * sizeof *list);
  return list;
}

static void set_variables(const struct options *options, const char *reason) {
  static char inherited[16 * 1024];
  const char *note = note_text();
  unsetenv("SIGNALBOX_FALLBACK"); /* set by another call */
  unsetenv("SIGNALBOX_CALL");
  unsetenv("SIGNALBOX_HOOKS");
  if (reason) setenv("SIGNALBOX_FALLBACK", reason, 1);
  if (note) setenv("SIGNALBOX_CALL", note, 1);
  inherited_describe(inherited, sizeof inherited);
  setenv("SIGNALBOX_INHERITED", inherited, 1);
  /* Node sees the path of its script: cronlock looks for its configuration beside the link. */
  if (options->called) setenv("SIGNALBOX_PROGRAM", (const char *)getauxval(AT_EXECFN), 1);
}

#define REMEDY "install Node.js 22.14 or later, and put the folder of node into PATH"

static _Noreturn void fail(const char *what, const char *why, const char *remedy) {
  print_message((const char *const[]){what, ": ", why, "; ", remedy, NULL});
  _exit(EXIT_CONFIG);
}

static _Noreturn void become_node(const struct options *options, const char *reason, const char *hooks) {
  char bundle[PATH_MAX], node[PATH_MAX];
  if (!find_installed("signalbox.cjs", bundle, sizeof bundle))
    fail("cannot find signalbox.cjs", "it is not beside this program", "install signalbox again, and mount /proc");
  int is_own = find_installed("node", node, sizeof node);
  char **arguments = build_arguments(options, is_own ? node : "node", bundle);
  if (!arguments || !hide_variables()) fail("cannot start Node.js", strerror(ENOMEM), "free some memory");
  if (!is_own && is_too_old()) fail("cannot use the Node.js in PATH", "it is too old", REMEDY);
  signals_restore_for_node();
  set_variables(options, reason);
  if (hooks) setenv("SIGNALBOX_HOOKS", hooks, 1);
  inherited_forbid_core_dumps();
  if (is_own) execve(node, arguments, environ);
  else execvpe("node", arguments, environ);
  fail("cannot start Node.js", strerror(errno), REMEDY);
}

void run_node(const struct options *options, const char *reason) { become_node(options, reason, NULL); }

void run_hooks(const struct options *options, const char *hooks) { become_node(options, NULL, hooks); }

static _Noreturn void refuse(const char *reason, int code) {
  print_message((const char *const[]){"no agent serves this call: ", reason,
                                      "; start one with `signalbox agent`, or use --agent auto", NULL});
  _exit(code);
}

void fall_back(const struct options *options, const char *reason, int code) {
  if (options->mode == AGENT_ALWAYS) refuse(reason, code);
  run_node(options, reason);
}

void fall_back_without_agent(const struct options *options, const char *reason) {
  if (options->mode == AGENT_ALWAYS) refuse(reason, EXIT_NO_AGENT);
  run_node(options, NULL);
}
