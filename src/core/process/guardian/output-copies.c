/*
 * A relay stands between the command and the output that the caller has given it: it writes everything there, and waits
 * for a slow reader as the command would. The runner gets a copy, as frames of a header and bytes. The relay never waits
 * for the runner: it buffers a megabyte, and counts the bytes that it leaves out. When the runner closes its side or is
 * gone, the relay passes on what is in the pipe, closes the socket, and continues without copies until the last writer has
 * ended. If the reader is gone, the relay ends, and the command gets SIGPIPE as it would without the relay.
 */
#define _GNU_SOURCE
#include "output-copies.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardians.h"

enum { CHUNK = 64 * 1024, BACKLOG = 1024 * 1024, LAST_BYTES_MS = 1000 };

static struct {
  uint32_t header[2]; /* number of bytes that follow, and of bytes that were left out before them; little endian */
  unsigned char bytes[CHUNK];
} frame;
static size_t frame_length, frame_sent;
/* Bytes that the runner has not taken yet, after the frame. */
static unsigned char backlog[BACKLOG];
static size_t backlog_start, backlog_length;
static uint32_t left_out;

static int has_copies(void) { return frame_sent < frame_length || backlog_length > 0; }

static void begin_frame(void) {
  size_t length = backlog_length < CHUNK ? backlog_length : CHUNK;
  frame.header[0] = length;
  frame.header[1] = left_out;
  memcpy(frame.bytes, backlog + backlog_start, length);
  backlog_start += length;
  backlog_length -= length;
  frame_length = sizeof frame.header + length;
  frame_sent = left_out = 0;
}

/* Sends as much as the runner takes. Returns 0 if the runner is gone. */
static int send_copies(int copy) {
  for (;;) {
    while (frame_sent < frame_length) {
      ssize_t sent = send(copy, (char *)&frame + frame_sent, frame_length - frame_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      frame_sent += sent;
    }
    if (!backlog_length) return 1;
    begin_frame();
  }
}

/* If the backlog is full, keeps only its end, because the newest bytes matter most. */
static void add_copy(const void *bytes, size_t length) {
  if (backlog_start + backlog_length + length > BACKLOG) {
    if (backlog_length + length > BACKLOG) {
      const size_t dropped = backlog_length - CHUNK;
      left_out = left_out > UINT32_MAX - dropped ? UINT32_MAX : left_out + dropped;
      backlog_start += dropped;
      backlog_length = CHUNK;
    }
    memmove(backlog, backlog + backlog_start, backlog_length);
    backlog_start = 0;
  }
  memcpy(backlog + backlog_start + backlog_length, bytes, length);
  backlog_length += length;
}

/* Sends the rest, as long as the runner takes it, and closes the socket. */
static void close_copy(int copy) {
  struct pollfd runner = {.fd = copy, .events = POLLOUT};
  while (send_copies(copy) && has_copies())
    if (poll(&runner, 1, LAST_BYTES_MS) <= 0) break;
  close(copy);
}

/* Returns 0 if the reader is gone. */
static int write_all(int out, const unsigned char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(out, bytes, length);
    if (written < 0 && errno == EAGAIN) poll(&(struct pollfd){.fd = out, .events = POLLOUT}, 1, -1);
    else if (written < 0 && errno != EINTR) return 0;
    if (written < 0) continue;
    bytes += written;
    length -= written;
  }
  return 1;
}

static void relay(int in, int out, int copy) {
  static unsigned char bytes[CHUNK];
  int left = -1; /* bytes to pass on before the end that the runner has requested */
  for (;;) {
    if (copy >= 0 && left == 0) {
      close_copy(copy);
      copy = -1;
    }
    short wanted = (left < 0 ? POLLIN : 0) | (has_copies() ? POLLOUT : 0);
    struct pollfd sources[] = {{.fd = in, .events = POLLIN}, {.fd = wanted ? copy : -1, .events = wanted}};
    if (poll(sources, 2, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (left < 0 && (sources[1].revents & ~POLLOUT) && ioctl(in, FIONREAD, &left) < 0) left = 0;
    if (sources[1].revents && !send_copies(copy)) {
      close(copy);
      copy = -1;
    }
    if (!sources[0].revents) continue;
    ssize_t length = read(in, bytes, sizeof bytes);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0 || !write_all(out, bytes, length)) break;
    if (copy >= 0) add_copy(bytes, length);
    if (left > 0) left = left > length ? left - length : 0;
  }
  close(in); /* first, so that a command whose reader is gone learns it at once */
  if (copy >= 0) close_copy(copy);
}

static void move_descriptor(int from, int to) {
  if (from == to) return;
  dup2(from, to);
  close(from);
}

/* Runs a relay. It closes all descriptors but its three: a pipe or socket that it kept open could not end. */
static void run_relay(int in, int out, int copy) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  setsid();
  prctl(PR_SET_NAME, GUARDIAN_NAME);
  int first = fcntl(in, F_DUPFD, 64), second = fcntl(out, F_DUPFD, 64), third = fcntl(copy, F_DUPFD, 64);
  if (first < 0 || second < 0 || third < 0) _exit(1);
  move_descriptor(first, 0);
  move_descriptor(second, 1);
  move_descriptor(third, 2);
  for (int fd = 3; fd < 256; fd++) close(fd);
#ifdef SYS_close_range
  syscall(SYS_close_range, 256, ~0U, 0);
#endif
  if (chdir("/") < 0) errno = 0; /* best effort: keep no file system busy */
  relay(0, 1, 2);
  _exit(0);
}

/* Starts a relay as an orphan, so that it is not a descendant of the guardians. */
static int start_relay(int in, int out, int copy, void hide(void)) {
  pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    pid_t grandchild = fork();
    if (grandchild == 0) {
      if (hide) hide();
      run_relay(in, out, copy);
    }
    _exit(grandchild < 0);
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0 ? 0 : -1;
}

static int is_same_file(int one, int other) {
  struct stat a, b;
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int copies_relay(int out, int copy, void hide(void)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return -1;
  const int failed = start_relay(ends[0], out, copy, hide);
  close(ends[0]);
  if (failed) close(ends[1]);
  return failed ? -1 : ends[1];
}

const char *copies_start(void) {
  int is_one = is_same_file(1, 2);
  for (int fd = 1; fd <= (is_one ? 1 : 2); fd++) {
    if (fcntl(fd, F_GETFD) < 0) continue; /* the caller has closed it */
    const int in = copies_relay(fd, COPIES_FD + fd - 1, NULL);
    if (in < 0) return "cannot start a relay";
    if (dup2(in, fd) < 0) return "cannot replace the output";
    close(in);
  }
  if (is_one && dup2(1, 2) < 0) return "cannot replace the output";
  close(COPIES_FD);
  close(COPIES_FD + 1);
  return NULL;
}
