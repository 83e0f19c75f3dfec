#define _GNU_SOURCE
#include "frames.h"

#include <endian.h>
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "shared-memory.h"

static struct input {
  size_t filled;
  unsigned char at[sizeof(struct frame) + WIRE_BLOCK_MAX];
} *in;

int frames_open(void) {
  if (!in) in = shared_memory_allocate(sizeof *in);
  return in ? 0 : -1;
}

void frames_forget(void) { in->filled = 0; }

struct frame swap_frame(struct frame f) {
  return (struct frame){
      .kind = le32toh(f.kind),
      .length = le32toh(f.length),
      .a = (int64_t)le64toh((uint64_t)f.a),
      .b = (int64_t)le64toh((uint64_t)f.b),
  };
}

void send_event(int sock, uint32_t kind, int64_t a, int64_t b) {
  struct frame f = swap_frame((struct frame){.kind = kind, .a = a, .b = b});
  send(sock, &f, sizeof f, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void send_event_block(int sock, struct frame event, const void *block) {
  struct frame f = swap_frame(event);
  struct iovec parts[] = {{&f, sizeof f}, {(void *)block, event.length}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = event.length ? 2 : 1};
  sendmsg(sock, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

int has_unread(int sock) {
  int unread = 0;
  return ioctl(sock, SIOCOUTQ, &unread) < 0 || unread > 0;
}

int is_closed(int sock) {
  struct pollfd on = {.fd = sock, .events = POLLRDHUP};
  return poll(&on, 1, 0) > 0 && (on.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static struct frame frame_at(size_t at) {
  struct frame f;
  memcpy(&f, in->at + at, sizeof f);
  return swap_frame(f);
}

enum received read_frames(int sock) {
  ssize_t n;
  do {
    n = recv(sock, in->at + in->filled, sizeof in->at - in->filled, MSG_DONTWAIT);
    if (n > 0) in->filled += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return ENDED;
  } while (n > 0 && in->filled < sizeof in->at);
  return in->filled < sizeof(struct frame) || frame_at(0).length <= WIRE_BLOCK_MAX ? OPEN : INVALID;
}

void handle_frames(frame_handler_t *handle) {
  size_t at = 0;
  int is_next = 1;
  while (is_next && in->filled - at >= sizeof(struct frame)) {
    struct frame f = frame_at(at);
    if (f.length > in->filled - at - sizeof f) break;
    is_next = handle(&f, in->at + at + sizeof f);
    at += sizeof f + f.length;
  }
  memmove(in->at, in->at + at, in->filled - at);
  in->filled -= at;
}
