#include "messages.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST = 1024 };

void write_all(int fd, const void *bytes, size_t length) {
  const char *at = bytes;
  while (length > 0) {
    ssize_t n = write(fd, at, length);
    struct pollfd on = {.fd = fd, .events = POLLOUT};
    if (n < 0 && errno == EAGAIN) poll(&on, 1, -1);
    else if (n < 0 && errno != EINTR) return;
    if (n < 0) continue;
    at += n;
    length -= (size_t)n;
  }
}

void print_message(const char *const *texts) {
  char line[LONGEST] = "signalbox: ";
  size_t length = strlen(line);
  for (; *texts; texts++)
    for (const char *at = *texts; *at && length < sizeof line - 1; at++)
      line[length++] = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
  line[length++] = '\n';
  write_all(2, line, length);
}
