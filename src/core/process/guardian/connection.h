/*
 * The inner guardian's connection with its runner. A connection with Node lasts as long as the runner. An agent can be
 * restarted while commands run: its connection ends, and the guardian opens another one, until the armed SIGKILL.
 */
#pragma once

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

#include "frames.h"

/* How a guardian that was forked by a launcher reaches the agent again. */
struct agent {
  int control;          /* socket of the launcher: it ends when the launcher dies */
  int (*connect)(void); /* opens another connection, without waiting. Returns -1 when there is no agent */
  const unsigned char *(*encode_call)(size_t *length); /* the frames that open it */
};

/* agent: NULL for a runner of Node. */
void connection_open(int sock, const struct agent *agent);

/* Whether there is an agent behind the connection. */
int connection_has_agent(void);

/* The socket to send to; -1 while there is none. */
int connection_socket(void);

/* What to poll for. */
struct pollfd connection_poll(void);

/* Whether the runner's end is closed, or there is no connection. */
int connection_is_closed(void);

/* Reads all available data, see frames.h. */
enum received connection_read(void);

/* Closes an agent's connection that has ended. connection_resume opens another one. */
void connection_end(void);

/* Whether the connection has ended, and no other one has replaced it. */
int connection_is_lost(void);

/* When connection_resume must run next, INT64_MAX for never. */
int64_t connection_next_try(void);

/* Opens another connection if that is due. Returns whether one was just opened: the events so far must be sent over it. */
int connection_resume(void);
