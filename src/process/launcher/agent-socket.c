#define _GNU_SOURCE
#include "agent-socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "trust.h"

static struct sockaddr_un address = {.sun_family = AF_UNIX};

void agent_socket_set(const char *path) {
  if (strlen(path) < sizeof address.sun_path) strcpy(address.sun_path, path);
}

static const struct connect_failure FOREIGN = {
    UNTRUSTED, "the agent's socket, its folder or the process behind it belongs to another user"};

/* What errno means. */
static struct connect_failure explain(int error) {
  if (error == ENOENT || error == ENOTDIR) return (struct connect_failure){NOTHING_THERE, "there is no socket"};
  if (error == ECONNREFUSED) return (struct connect_failure){UNREACHABLE, "no process listens at the agent's socket"};
  if (error == ENOTSOCK) return (struct connect_failure){UNREACHABLE, "the file at the path of the agent's socket is not a socket"};
  if (error == EAGAIN) return (struct connect_failure){BUSY, "too many calls wait for the agent"};
  if (error == EACCES) return (struct connect_failure){UNREACHABLE, "no permission for the agent's socket"};
  return (struct connect_failure){UNREACHABLE, strerror(error)};
}

static int fail(struct connect_failure failure, struct connect_failure *out, int sock) {
  if (sock >= 0) close(sock);
  *out = failure;
  return -1;
}

int agent_socket_connect(struct connect_failure *failure) {
  if (!address.sun_path[0]) return fail(explain(ENAMETOOLONG), failure, -1);
  if (trust_check_path(address.sun_path) < 0) return fail(errno ? explain(errno) : FOREIGN, failure, -1);
  int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (sock < 0 || connect(sock, (struct sockaddr *)&address, sizeof address) < 0)
    return fail(explain(errno), failure, sock);
  return trust_has_peer(sock) ? sock : fail(FOREIGN, failure, sock);
}
