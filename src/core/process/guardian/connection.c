#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent-wire.h"
#include "deadline.h"

#define MS 1000000LL
#define FIRST_PAUSE (50 * MS)
#define LONGEST_PAUSE (500 * MS)

static struct {
  int sock; /* -1: none */
  const struct agent *agent;
  const unsigned char *call; /* the rest of the call, on a new connection; NULL when it is sent */
  size_t left;
  int64_t retry_at, pause;
} connection = {.sock = -1};

void connection_open(int sock, const struct agent *agent) {
  connection.sock = sock;
  connection.agent = agent;
  connection.pause = FIRST_PAUSE;
}

int connection_has_agent(void) { return connection.agent != NULL; }

int connection_socket(void) { return connection.call ? -1 : connection.sock; }

struct pollfd connection_poll(void) {
  return (struct pollfd){.fd = connection.sock, .events = (short)(connection.call ? POLLIN | POLLOUT : POLLIN)};
}

int connection_is_closed(void) { return connection.sock < 0 || is_closed(connection.sock); }

enum received connection_read(void) { return read_frames(connection.sock); }

static void plan_next_try(void) {
  connection.retry_at = now() + connection.pause;
  connection.pause = connection.pause * 2 > LONGEST_PAUSE ? LONGEST_PAUSE : connection.pause * 2;
}

void connection_end(void) {
  if (connection.sock >= 0) close(connection.sock);
  connection.sock = -1;
  connection.call = NULL;
  frames_forget();
  plan_next_try();
}

int connection_is_lost(void) { return connection.sock < 0; }

/* After the SIGKILL, nothing is left for an agent to decide. */
int64_t connection_next_try(void) {
  int must_retry = connection.agent && connection.sock < 0 && connection.retry_at < deadline_kill_at();
  return must_retry ? connection.retry_at : INT64_MAX;
}

static void open_another(void) {
  connection.sock = connection.agent->connect();
  if (connection.sock < 0) return plan_next_try();
  connection.call = connection.agent->encode_call(&connection.left);
}

/* Sends what the socket takes. Returns whether everything is sent, and the socket has space for any frame. */
static int send_call(void) {
  while (connection.left) {
    ssize_t n = send(connection.sock, connection.call, connection.left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      if (errno != EAGAIN) connection_end();
      return 0;
    }
    connection.call += n;
    connection.left -= (size_t)n;
  }
  struct pollfd on = {.fd = connection.sock, .events = POLLOUT};
  return poll(&on, 1, 0) > 0 && (on.revents & POLLOUT); /* at most a quarter of its space is used */
}

/* Passes the connection to the launcher too: the launcher sends the last frame when both guardians have ended. */
static void share_connection(void) {
  struct frame f = swap_frame((struct frame){.kind = CONNECTION});
  struct iovec part = {&f, sizeof f};
  union {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
  } rights = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights.space};
  memcpy(CMSG_DATA(&rights.head), &connection.sock, sizeof(int));
  sendmsg(connection.agent->control, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int connection_resume(void) {
  if (!connection.agent) return 0;
  if (now() >= connection_next_try()) open_another();
  if (!connection.call || !send_call()) return 0;
  connection.call = NULL;
  connection.pause = FIRST_PAUSE;
  share_connection();
  return 1;
}
