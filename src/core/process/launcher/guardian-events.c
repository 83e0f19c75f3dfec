#define _GNU_SOURCE
#include "guardian-events.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/frames.h"
#include "hooks.h"
#include "messages.h"

static struct {
  int inner, exit_code;
  char cgroup[PATH_MAX];
} events = {.exit_code = -1};

void guardian_events_reset(void) {
  events.inner = 0;
  events.exit_code = -1;
  events.cgroup[0] = '\0';
}

const char *guardian_cgroup(void) { return events.cgroup; }
int guardian_inner(void) { return events.inner; }
int guardian_exit_code(void) { return events.exit_code; }

static void keep_place(const struct frame *f, const unsigned char *path) {
  events.inner = (int)f->a;
  if (f->length >= sizeof events.cgroup) return;
  memcpy(events.cgroup, path, f->length);
  events.cgroup[f->length] = '\0';
}

static void keep_exit(int status, int64_t bits) {
  if (bits & TERMINATED) events.exit_code = -1;
  else events.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void handle(const struct frame *f, const unsigned char *block) {
  if (f->kind == WRITE && (f->a == 1 || f->a == 2)) write_all((int)f->a, block, f->length);
  if (f->kind == PLACE) keep_place(f, block);
  if (f->kind == STARTED || f->kind == FAILED) hooks_start();
  if (f->kind == EXITED) keep_exit((int)f->a, f->b);
}

/* Returns the descriptor that came with a message, or -1. */
static int find_descriptor(struct msghdr *message) {
  int descriptor = -1;
  struct cmsghdr *head = CMSG_FIRSTHDR(message);
  if (head && head->cmsg_type == SCM_RIGHTS) memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return descriptor;
}

int guardian_events_read(int control, int *sock) {
  static unsigned char text[sizeof(struct frame) + WIRE_BLOCK_MAX];
  char space[CMSG_SPACE(sizeof(int))];
  for (;;) {
    struct iovec part = {text, sizeof text};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    ssize_t n = recvmsg(control, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 && errno == EAGAIN;
    int descriptor = find_descriptor(&message);
    if (descriptor >= 0) {
      close(*sock);
      *sock = descriptor;
    }
    struct frame f;
    if ((size_t)n < sizeof f) continue;
    memcpy(&f, text, sizeof f);
    f = swap_frame(f);
    if (f.length == (size_t)n - sizeof f) handle(&f, text + sizeof f);
  }
}
