/* What the launcher must know of its command line; everything else is parsed by the agent or by Node. */
#pragma once

enum agent_mode { AGENT_AUTO, AGENT_NEVER, AGENT_ALWAYS };

struct options {
  const char *called; /* the name of a front end, if a link with this name was called; else NULL */
  char **words;       /* the words after the program's name, without `called` */
  enum agent_mode mode;
  int starts_command; /* runs a command under a claim */
  int is_for_agent;   /* the agent can serve this call */
  const char *socket; /* the configured path of the agent's socket; NULL: the usual places */
};

void options_read(struct options *out, char **argv);
