/* Connects to the agent. */
#pragma once

enum unreachable {
  NOTHING_THERE, /* no socket: this host has no agent */
  UNREACHABLE,
  BUSY, /* too many connections wait; there is room as soon as the agent accepts one */
  UNTRUSTED,
};

struct connect_failure {
  enum unreachable kind;
  const char *reason;
};

/* Sets the path of the socket, for all later connections. NULL: an agent of this user, else that of the system. */
void agent_socket_set(const char *path);

/* Opens a connection without waiting; later ones go to the place of the first. Returns its descriptor, or -1 and the failure. */
int agent_socket_connect(struct connect_failure *failure);
