#define _GNU_SOURCE
#include "guardian-fork.h"

#include <sys/socket.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/guardians.h"
#include "../guardian/seen-processes.h"
#include "agent-socket.h"
#include "arguments.h"
#include "call.h"
#include "held-output.h"
#include "signals.h"

static int connect_again(void) {
  struct connect_failure failure;
  return agent_socket_connect(&failure);
}

static const unsigned char *encode_resumed_call(size_t *length) { return call_encode(CALL_IS_GUARDED, length); }

/* Creates a new session, so that signals of a terminal or a dying shell to the launcher's group do not reach the guardian. */
static _Noreturn void become_guardian(int sock, const int ends[2]) {
  const struct agent agent = {
      .control = ends[1], .connect = connect_again, .encode_call = encode_resumed_call};
  setsid();
  arguments_overwrite();
  held_output_use();
  close(ends[0]);
  close(signals_descriptor());
  signals_restore();
  _exit(run_guardians(sock, &agent));
}

pid_t fork_guardian(int sock, int *control) {
  int ends[2];
  if (seen_open() < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
  pid_t pid = fork();
  if (pid == 0) become_guardian(sock, ends);
  close(ends[1]);
  *control = ends[0];
  if (pid < 0) close(ends[0]);
  return pid;
}
