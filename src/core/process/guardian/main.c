/*
 * signalbox's guardian, started by the runner with a socket as descriptor 3, over which it receives the command CMD. It
 * runs CMD when ordered, and ensures that no process of CMD survives when the runner is killed, frozen or late. Neither
 * its name nor its arguments contain a word of CMD or of the runner, so that killing a job by its name does not kill
 * its guardians. Its arguments are "copies", which requests copies of the output (output-copies.c), the words for what
 * the caller passes on (inherited.c), "foreground", which leaves the command in the guardian's process group, "pipes",
 * which requests pipes as standard streams (command-streams.c), and the ids of the command's user (command-user.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "command-streams.h"
#include "command-user.h"
#include "guardians.h"
#include "inherited.h"
#include "launch.h"
#include "output-copies.h"

static int is_socket(int fd) {
  int type;
  socklen_t length = sizeof type;
  return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

static int fail(const char *what) {
  fprintf(stderr, "signalbox-guard: %s: %s\n", what, strerror(errno));
  return EXIT_SETUP;
}

int main(int argc, char **argv) {
  int sock = WIRE_FD, has_copies = argc > 1 && strcmp(argv[1], "copies") == 0;
  if (!is_socket(WIRE_FD) || fcntl(WIRE_FD, F_SETFD, FD_CLOEXEC) < 0) {
    fputs("signalbox-guard: started by signalbox only\n", stderr);
    return EXIT_SETUP;
  }
  inherited_restore_streams(argv + 1);
  const char *failed = has_copies ? copies_start() : NULL;
  if (failed) return fail(failed);
  for (char **word = argv + 1; *word; word++) {
    if (strcmp(*word, "foreground") == 0) launch_in_own_group();
    if (strcmp(*word, "pipes") == 0) streams_request();
    if (strncmp(*word, "user=", 5) == 0 && user_take(*word) < 0) return fail("cannot take a user");
  }
  if (inherited_take(argv + 1, has_copies ? COPIES_FD + 2 : WIRE_FD + 1, &sock) < 0)
    return fail("cannot pass on a descriptor");
  return run_guardians(sock, NULL);
}
