/*
 * signalbox's guardian, started by the runner with a socket as descriptor 3, over which it receives the command CMD. It
 * runs CMD when ordered, and ensures that no process of CMD lives on when the runner is killed, frozen or late. Neither
 * its name nor its arguments contain a word of CMD or of the runner, so that killing a job by its name does not kill
 * its guardians. The only argument there is asks for copies of the output (output-copies.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "guardians.h"
#include "output-copies.h"

static int is_socket(int fd) {
  int type;
  socklen_t length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

int main(int argc, char **argv) {
  (void)argv;
  if (!is_socket(WIRE_FD) || fcntl(WIRE_FD, F_SETFD, FD_CLOEXEC) < 0) {
    fputs("signalbox-guard: started by signalbox only\n", stderr);
    return EXIT_SETUP;
  }
  const char *failed = argc > 1 ? copies_start() : NULL;
  if (failed) {
    fprintf(stderr, "signalbox-guard: %s: %s\n", failed, strerror(errno));
    return EXIT_SETUP;
  }
  return run_guardians(WIRE_FD, NULL, WIRE_FD);
}
