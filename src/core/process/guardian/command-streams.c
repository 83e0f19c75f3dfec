#define _GNU_SOURCE
#include "command-streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "command-user.h"

static int is_requested;

void streams_request(void) { is_requested = 1; }

int streams_open(void) {
  for (int fd = 0; is_requested && fd < 3; fd++) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0 || user_own(ends[0]) < 0 || dup2(ends[fd == 0 ? 0 : 1], fd) < 0) return -1;
    close(ends[0]);
    close(ends[1]);
  }
  return 0;
}
