#define _GNU_SOURCE
#include "options.h"

#include <stdlib.h>
#include <string.h>

/* Front ends that hold a lock while a command runs. */
static const char *const FRONT_ENDS[] = {"cronlock", "golock", "switchman", "zoo-locked", NULL};
/* Further names of links. */
static const char *const OTHER_LINKS[] = {"perfectsched", NULL};
/* Options with which a call is for Node. */
static const char *const FOR_NODE[] = {"--help", "-h", "--dry-run", NULL};

static int is_listed(const char *const *list, const char *word) {
  for (; *list; list++)
    if (strcmp(*list, word) == 0) return 1;
  return 0;
}

static const char *find_called(const char *path) {
  if (!path) return NULL;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  return is_listed(FRONT_ENDS, name) || is_listed(OTHER_LINKS, name) ? name : NULL;
}

/* Returns the value of `--name=value` or `--name value`, else NULL. */
static const char *value_of(const char *name, char **at) {
  size_t length = strlen(name);
  if (strncmp(*at, name, length) != 0) return NULL;
  if ((*at)[length] == '=') return *at + length + 1;
  return (*at)[length] == '\0' ? at[1] : NULL;
}

/* Treats an empty variable as unset. */
static const char *find_variable(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* Returns 0 for an unknown mode, which Node reports. Node also starts the agent. */
static int set_mode(struct options *out, const char *mode) {
  if (!mode || strcmp(mode, "auto") == 0 || strcmp(mode, "start") == 0) out->mode = AGENT_AUTO;
  else if (strcmp(mode, "never") == 0) out->mode = AGENT_NEVER;
  else if (strcmp(mode, "always") == 0) out->mode = AGENT_ALWAYS;
  else return 0;
  return 1;
}

void options_read(struct options *out, char **argv) {
  const char *mode = find_variable("SIGNALBOX_AGENT");
  out->socket = find_variable("SIGNALBOX_AGENT_SOCKET");
  out->called = find_called(argv[0]);
  out->words = argv[0] ? argv + 1 : argv;
  const char *first = out->called ? out->called : out->words[0];
  int is_run = first && strcmp(first, "run") == 0;
  out->starts_command = first && (is_run || is_listed(FRONT_ENDS, first));
  out->is_for_agent = out->starts_command;
  for (char **at = out->words; out->is_for_agent && *at && strcmp(*at, "--") != 0; at++) {
    const char *value;
    if (is_listed(FOR_NODE, *at)) out->is_for_agent = 0;
    if (is_run && (value = value_of("--agent", at))) mode = value;
    if (is_run && (value = value_of("--agent-socket", at))) out->socket = value;
  }
  if (out->is_for_agent && (!set_mode(out, mode) || out->mode == AGENT_NEVER)) out->is_for_agent = 0;
}
