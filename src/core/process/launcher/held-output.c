#define _GNU_SOURCE
#include "held-output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../guardian/output-copies.h"
#include "arguments.h"
#include "messages.h"
#include "signals.h"

static int files[] = {-1, -1};  /* for standard output and error: files without a name, or pipes to relays */
static int copies[] = {-1, -1}; /* the relays' sockets; -1: they are files */

static int open_unnamed(void) {
  char path[PATH_MAX];
  const char *folder = getenv("TMPDIR");
  if (!folder || !*folder) folder = "/tmp";
  if (snprintf(path, sizeof path, "%s/signalbox-output-XXXXXX", folder) >= (int)sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  int file = mkostemp(path, O_APPEND | O_CLOEXEC);
  if (file >= 0) unlink(path);
  return file;
}

static int is_one_file(void) {
  struct stat a, b;
  return fstat(1, &a) == 0 && fstat(2, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void held_output_open(void) {
  if (files[0] >= 0) return;
  const int out = open_unnamed();
  const int error = out < 0 || is_one_file() ? out : open_unnamed();
  if (error >= 0) {
    files[0] = out;
    files[1] = error;
    return;
  }
  print_message((const char *const[]){"output is not held back (--quiet-success): ", strerror(errno), NULL});
  if (out >= 0) close(out);
}

/* Returns 0 for a stream that the caller has closed, or if there is no relay: the output then passes as usual. */
static int start_relay(int i) {
  int ends[2];
  if ((fcntl(i + 1, F_GETFL) & O_ACCMODE) == O_RDONLY) return 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return 0;
  files[i] = copies_relay(i + 1, ends[1], arguments_overwrite);
  copies[i] = ends[0];
  close(ends[1]);
  return files[i] >= 0;
}

void held_output_relay(void) {
  if (files[0] >= 0 || copies[0] >= 0 || copies[1] >= 0) return;
  if (start_relay(0) && is_one_file()) files[1] = files[0];
  else start_relay(1);
}

void held_output_use(void) {
  for (int i = 0; i < 2; i++)
    if (files[i] >= 0) dup2(files[i], i + 1);
}

static int is_ended_by_signal(void) {
  int sig;
  while ((sig = signals_next()) != 0)
    if (sig != SIGCHLD) return 1;
  return 0;
}

void held_output_await(void) {
  static char sink[4096];
  for (int i = 0; i < 2; i++)
    if (copies[i] >= 0) shutdown(copies[i], SHUT_WR);
  for (int i = 0; i < 2; i++) {
    for (ssize_t n = 1; copies[i] >= 0 && n > 0;) {
      struct pollfd on[] = {{.fd = copies[i], .events = POLLIN}, {.fd = signals_descriptor(), .events = POLLIN}};
      if (poll(on, 2, -1) < 0) continue;
      if (on[1].revents && is_ended_by_signal()) return;
      if (on[0].revents) n = read(copies[i], sink, sizeof sink);
    }
  }
}

const char *held_output_pass_on(int passed[2]) {
  const int are_files = files[0] >= 0 && copies[0] < 0 && copies[1] < 0;
  for (int i = 0; i < 2; i++) {
    const int from = are_files ? files[i] : copies[i];
    passed[i] = from < 0 ? -1 : fcntl(from, F_DUPFD, 3);
  }
  return are_files ? "files" : "copies";
}

static void print_file(int file, int to) {
  static char chunk[64 * 1024];
  struct stat status;
  if (fstat(file, &status) < 0) return; /* its size now: what is left in the background may write on */
  for (off_t at = 0; at < status.st_size;) {
    const off_t left = status.st_size - at;
    const ssize_t n = pread(file, chunk, left < (off_t)sizeof chunk ? (size_t)left : sizeof chunk, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    write_all(to, chunk, (size_t)n);
    at += n;
  }
}

void held_output_print(void) {
  if (copies[0] >= 0 || copies[1] >= 0) return; /* it has passed */
  if (files[0] >= 0) print_file(files[0], 1);
  if (files[1] != files[0]) print_file(files[1], 2);
}
