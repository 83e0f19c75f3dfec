/*
 * signalbox's launcher, the program `signalbox` in PATH. It asks the agent of this host to serve a run, waits, and forks
 * the guardians, which start the command here, in the context of the caller. Without an agent, and for all other
 * commands, it becomes Node.
 *
 *   cron ── launcher ── outer guardian ── inner guardian ── command
 */
#include <fcntl.h>
#include <unistd.h>

#include "../guardian/frames.h"
#include "../guardian/note.h"
#include "agent-socket.h"
#include "arguments.h"
#include "call.h"
#include "fallback.h"
#include "first-process.h"
#include "holding.h"
#include "hooks.h"
#include "keeper.h"
#include "options.h"
#include "signals.h"
#include "waiting.h"

/*
 * Opens closed standard streams for reading. Otherwise a socket would take their place, and Node would open /dev/null for
 * writing, but a write to a closed output must fail.
 */
static void open_missing_stdio(void) {
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDONLY);
}

/* Collects everything that a call needs. Returns NULL, or why no agent can serve it. */
static const char *prepare(const struct options *options) {
  if (frames_open() < 0 || note_open() < 0 || signals_open() < 0) return "out of memory or descriptors";
  return call_collect(options);
}

int main(int argc, char **argv) {
  static struct options options;
  signals_hold_usr1();
  split_first_process();
  open_missing_stdio();
  options_read(&options, argv);
  arguments_keep(argc, argv);
  keep_agent(&options);
  if (!options.is_for_agent) run_node(&options, NULL);
  agent_socket_set(options.socket);
  hooks_set_options(&options);
  const char *failed = prepare(&options);
  if (failed) fall_back(&options, failed, EXIT_NO_AGENT);
  call_agent(&options);
  for (;;) {
    const struct hold_end end = hold_command(wait_for_guard(&options));
    if (end.is_retried) await_retry(&options, end.sock, end.exit_code);
    else call_agent_again(&options);
  }
}
