#define _GNU_SOURCE
#include "held-output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messages.h"

static int files[] = {-1, -1}; /* for standard output and error */

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

void held_output_use(void) {
  for (int i = 0; i < 2 && files[i] >= 0; i++) dup2(files[i], i + 1);
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
  if (files[0] >= 0) print_file(files[0], 1);
  if (files[1] != files[0]) print_file(files[1], 2);
}
