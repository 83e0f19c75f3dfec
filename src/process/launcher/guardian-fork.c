#define _GNU_SOURCE
#include "guardian-fork.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/guardians.h"
#include "../guardian/seen-processes.h"
#include "agent-socket.h"
#include "call.h"

enum { SOCK_AT = WIRE_FD, CONTROL_AT, ABOVE };

static int connect_again(void) {
  struct connect_failure failure;
  return agent_socket_connect(&failure);
}

static const unsigned char *encode_resumed_call(size_t *length) { return call_encode(CALL_IS_GUARDED, length); }

/* `pkill -f` with a word of the job must not find a guardian. */
static void overwrite_arguments(struct arguments arguments) {
  memset(arguments.at, 0, arguments.length);
  strncpy(arguments.at, GUARDIAN_NAME, arguments.length - 1);
}

/* Moves both descriptors to fixed places, so that everything above them can be closed. */
static int move_descriptors(int sock, int control) {
  int high_sock = fcntl(sock, F_DUPFD_CLOEXEC, ABOVE), high_control = fcntl(control, F_DUPFD_CLOEXEC, ABOVE);
  if (dup3(high_sock, SOCK_AT, O_CLOEXEC) < 0 || dup3(high_control, CONTROL_AT, O_CLOEXEC) < 0) return -1;
  close(high_sock);
  close(high_control);
  if (sock > CONTROL_AT) close(sock);
  if (control > CONTROL_AT) close(control);
  return 0;
}

/* A session of its own, so that signals of a terminal or a dying shell to the launcher's group do not reach it. */
static _Noreturn void become_guardian(int sock, struct arguments arguments, const int ends[2]) {
  const struct agent agent = {
      .control = CONTROL_AT, .connect = connect_again, .encode_call = encode_resumed_call};
  setsid();
  overwrite_arguments(arguments);
  close(ends[0]); /* before anything is moved to its place */
  if (move_descriptors(sock, ends[1]) < 0) _exit(EXIT_SETUP);
  _exit(run_guardians(SOCK_AT, &agent, CONTROL_AT));
}

pid_t fork_guardian(int sock, struct arguments arguments, int *control) {
  int ends[2];
  if (seen_open() < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
  pid_t pid = fork();
  if (pid == 0) become_guardian(sock, arguments, ends);
  close(ends[1]);
  *control = ends[0];
  if (pid < 0) close(ends[0]);
  return pid;
}
