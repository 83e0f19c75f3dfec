/*
 * signalbox's helper for systemd: `notify ADDRESS`, started by a worker, because Node.js has no Unix datagram sockets.
 * It reads texts from standard input, each followed by a NUL byte, and sends each as one datagram to ADDRESS, as in
 * sd_notify(3). A leading `@` marks an abstract address.
 *
 * It lives as long as its worker: systemd looks up the sender of a datagram when it reads the datagram, and cannot identify
 * one that has ended. It ends only with its standard input, and blocks all signals, because systemd signals all processes
 * of a unit.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 4096

static int fail(const char *what) {
  fprintf(stderr, "signalbox-notify: %s: %s\n", what, strerror(errno));
  return 1;
}

/* Returns the length of the address, or 0 when it is invalid. */
static socklen_t address_of(const char *text, struct sockaddr_un *address) {
  size_t length = strlen(text);
  if ((text[0] != '/' && text[0] != '@') || length < 2 || length > sizeof address->sun_path - (text[0] == '/')) return 0;
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path, text, length);
  if (text[0] == '@') address->sun_path[0] = '\0';
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (text[0] == '/'));
}

/* Drops a message when the receiver is absent or too busy; the next one may arrive. */
static void deliver(int fd, const struct sockaddr_un *address, socklen_t length, const char *text, size_t size) {
  struct timespec nap = {.tv_nsec = 20000000};
  for (int tries = 0; tries < 50; tries++) {
    if (sendto(fd, text, size, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)address, length) >= 0) return;
    if (errno != EAGAIN && errno != EINTR && errno != ENOBUFS) break;
    nanosleep(&nap, NULL);
  }
  fail("cannot send a message to systemd");
}

int main(int argc, char **argv) {
  static char text[LONGEST];
  size_t size = 0;
  struct sockaddr_un address;
  sigset_t all;
  if (argc != 2) {
    fputs("signalbox-notify: started by signalbox only\n", stderr);
    return 1;
  }
  socklen_t length = address_of(argv[1], &address);
  if (length == 0) {
    fputs("signalbox-notify: NOTIFY_SOCKET is neither a path nor an abstract address\n", stderr);
    return 1;
  }
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  prctl(PR_SET_NAME, "signalbox-notify");
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("cannot make a socket");
  for (;;) {
    ssize_t got = read(0, text + size, sizeof text - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    size += (size_t)got;
    for (char *end; (end = memchr(text, '\0', size)) != NULL;) {
      size_t used = (size_t)(end - text);
      if (used > 0) deliver(fd, &address, length, text, used);
      size -= used + 1;
      memmove(text, end + 1, size);
    }
    if (size == sizeof text) return fail("a message is too long");
  }
}
