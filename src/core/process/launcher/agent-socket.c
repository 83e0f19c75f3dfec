#define _GNU_SOURCE
#include "agent-socket.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "trust.h"

#define SYSTEM_SOCKET "/run/signalbox/agent.sock"

enum { PLACES_MAX = 3 };
/* Where an agent may listen. After the first connection, only its place: no other agent knows the run. */
static struct sockaddr_un places[PLACES_MAX];
static size_t count;

/* As in src/core/process/agent-socket/socket-places.ts. Leaves out a path that is too long for a socket. */
__attribute__((format(printf, 1, 2))) static void add_place(const char *format, ...) {
  struct sockaddr_un *place = &places[count];
  va_list values;
  va_start(values, format);
  int length = vsnprintf(place->sun_path, sizeof place->sun_path, format, values);
  va_end(values);
  place->sun_family = AF_UNIX;
  if (length > 0 && length < (int)sizeof place->sun_path) count++;
}

void agent_socket_set(const char *path) {
  const char *runtime = getenv("XDG_RUNTIME_DIR");
  const unsigned user = getuid();
  if (path) {
    add_place("%s", path);
    return;
  }
  if (user != 0) {
    if (runtime && *runtime) add_place("%s/signalbox/agent.sock", runtime);
    else add_place("/run/user/%u/signalbox/agent.sock", user);
    add_place("/tmp/signalbox-%u/agent.sock", user);
  }
  add_place(SYSTEM_SOCKET);
}

static const struct connect_failure FOREIGN = {
    UNTRUSTED, "the agent's socket, its folder or the process behind it belongs to another user"};

/* Explains an errno. */
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

static int connect_to(const struct sockaddr_un *place, struct connect_failure *failure) {
  if (trust_check_path(place->sun_path) < 0) return fail(errno ? explain(errno) : FOREIGN, failure, -1);
  int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (sock < 0 || connect(sock, (const struct sockaddr *)place, sizeof *place) < 0)
    return fail(explain(errno), failure, sock);
  return trust_has_peer(sock) ? sock : fail(FOREIGN, failure, sock);
}

int agent_socket_connect(struct connect_failure *failure) {
  *failure = explain(count == 0 ? ENAMETOOLONG : ENOENT);
  for (size_t i = 0; i < count; i++) {
    struct connect_failure here;
    int sock = connect_to(&places[i], &here);
    if (sock >= 0) {
      places[0] = places[i];
      count = 1;
      return sock;
    }
    if (failure->kind == NOTHING_THERE) *failure = here;
    if (here.kind == BUSY) break;
  }
  return -1;
}
