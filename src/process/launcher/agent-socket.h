/* Connects to the agent. */
#pragma once

enum unreachable {
  NOTHING_THERE, /* no socket: this host has no agent */
  UNREACHABLE,
  BUSY, /* the kernel lets no more connections wait; it may at once, when the agent accepts one */
  UNTRUSTED,
};

struct connect_failure {
  enum unreachable kind;
  const char *reason;
};

/* Sets the path of the socket, for all later connections. NULL: an agent of this user, else that of the system. */
void agent_socket_set(const char *path);

/* Opens a connection, without waiting; after the first one, to the same agent's place. Returns its descriptor, or -1 and the failure. */
int agent_socket_connect(struct connect_failure *failure);
