#include "launcher-control.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frames.h"

static int control = -1;

void control_open(int sock) { control = sock; }

struct pollfd control_poll(void) { return (struct pollfd){.fd = control, .events = POLLIN}; }

void control_send(struct frame f, const void *block) {
  if (control >= 0) send_event_block(control, f, block);
}

int control_read(void handle(int64_t sig)) {
  struct frame f;
  ssize_t n;
  while ((n = recv(control, &f, sizeof f, MSG_DONTWAIT)) == (ssize_t)sizeof f) {
    f = swap_frame(f);
    if (f.kind == SIGNAL) handle(f.a);
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
  close(control);
  control = -1;
  return 0;
}
