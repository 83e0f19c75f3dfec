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

static unsigned char in[sizeof(struct frame) + WIRE_BLOCK_MAX];
static size_t filled;

/* Converts little endian to host byte order, or back. */
static struct frame swap_bytes(struct frame f) {
  return (struct frame){
      .kind = le32toh(f.kind),
      .length = le32toh(f.length),
      .a = (int64_t)le64toh((uint64_t)f.a),
      .b = (int64_t)le64toh((uint64_t)f.b),
  };
}

void send_event(int sock, uint32_t kind, int64_t a, int64_t b) {
  struct frame f = swap_bytes((struct frame){.kind = kind, .a = a, .b = b});
  send(sock, &f, sizeof f, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void send_event_block(int sock, uint32_t kind, int64_t a, const void *block, uint32_t length) {
  struct frame f = swap_bytes((struct frame){.kind = kind, .length = length, .a = a});
  struct iovec parts[] = {{&f, sizeof f}, {(void *)block, length}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = length ? 2 : 1};
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
  memcpy(&f, in + at, sizeof f);
  return swap_bytes(f);
}

int read_frames(int sock) {
  ssize_t n;
  do {
    n = recv(sock, in + filled, sizeof in - filled, MSG_DONTWAIT);
    if (n > 0) filled += (size_t)n;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return 0;
  } while (n > 0 && filled < sizeof in);
  return filled < sizeof(struct frame) || frame_at(0).length <= WIRE_BLOCK_MAX;
}

void handle_frames(frame_handler_t *handle_request) {
  size_t at = 0;
  while (filled - at >= sizeof(struct frame)) {
    struct frame f = frame_at(at);
    if (f.length > filled - at - sizeof f) break;
    handle_request(&f, in + at + sizeof f);
    at += sizeof f + f.length;
  }
  memmove(in, in + at, filled - at);
  filled -= at;
}
