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
} c = {.sock = -1};

void connection_open(int sock, const struct agent *agent) {
  c.sock = sock;
  c.agent = agent;
  c.pause = FIRST_PAUSE;
}

int connection_has_agent(void) { return c.agent != NULL; }

int connection_socket(void) { return c.call ? -1 : c.sock; }

struct pollfd connection_poll(void) {
  return (struct pollfd){.fd = c.sock, .events = (short)(c.call ? POLLIN | POLLOUT : POLLIN)};
}

int connection_is_closed(void) { return c.sock < 0 || is_closed(c.sock); }

enum received connection_read(void) { return read_frames(c.sock); }

static void plan_next_try(void) {
  c.retry_at = now() + c.pause;
  c.pause = c.pause * 2 > LONGEST_PAUSE ? LONGEST_PAUSE : c.pause * 2;
}

void connection_end(void) {
  if (c.sock >= 0) close(c.sock);
  c.sock = -1;
  c.call = NULL;
  frames_forget();
  plan_next_try();
}

int connection_is_lost(void) { return c.sock < 0; }

/* After the SIGKILL there is nothing left that an agent could decide. */
int64_t connection_next_try(void) {
  return c.agent && c.sock < 0 && c.retry_at < deadline_kill_at() ? c.retry_at : INT64_MAX;
}

static void open_another(void) {
  c.sock = c.agent->connect();
  if (c.sock < 0) return plan_next_try();
  c.call = c.agent->encode_call(&c.left);
}

/* Sends what the socket takes. Returns whether everything is sent, and the socket has space for any frame. */
static int send_call(void) {
  while (c.left) {
    ssize_t n = send(c.sock, c.call, c.left, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      if (errno != EAGAIN) connection_end();
      return 0;
    }
    c.call += n;
    c.left -= (size_t)n;
  }
  struct pollfd on = {.fd = c.sock, .events = POLLOUT};
  return poll(&on, 1, 0) > 0 && (on.revents & POLLOUT); /* at most a quarter of its space is used */
}

/* Gives the launcher the connection too: it sends the last frame when both guardians have ended. */
static void share_connection(void) {
  struct frame f = swap_frame((struct frame){.kind = CONNECTION});
  struct iovec part = {&f, sizeof f};
  union {
    struct cmsghdr head;
    char space[CMSG_SPACE(sizeof(int))];
  } rights = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &rights, .msg_controllen = sizeof rights.space};
  memcpy(CMSG_DATA(&rights.head), &c.sock, sizeof(int));
  sendmsg(c.agent->control, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int connection_resume(void) {
  if (!c.agent) return 0;
  if (now() >= connection_next_try()) open_another();
  if (!c.call || !send_call()) return 0;
  c.call = NULL;
  c.pause = FIRST_PAUSE;
  share_connection();
  return 1;
}
