#define _GNU_SOURCE
#include "inherited.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

void inherited_each_descriptor(void each(int fd)) {
  DIR *all = opendir("/proc/self/fd");
  struct dirent *entry;
  while (all && (entry = readdir(all))) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && fcntl(fd, F_GETFD) == 0) each(fd);
  }
  if (all) closedir(all);
}

static void close_descriptor(int fd) { close(fd); }

void inherited_close(void) { inherited_each_descriptor(close_descriptor); }

int inherited_is_ignored(int sig) {
  struct sigaction action;
  return sig != SIGCHLD && sigaction(sig, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static char *end;
static size_t space;

/* Leaves out words for which there is no space: a caller with thousands of descriptors leaks them. */
static void describe(const char *name, int number) {
  int length = snprintf(end, space, "%s=%d ", name, number);
  if (length <= 0 || (size_t)length >= space) {
    *end = '\0';
    return;
  }
  end += length;
  space -= (size_t)length;
}

/* Skips descriptors above the limit, which the caller opened before it set the limit: no process can open that number again. */
static void describe_descriptor(int fd) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd < limit.rlim_max) describe("fd", fd);
}

void inherited_describe(char *text, size_t size) {
  end = text;
  space = size;
  *end = '\0';
  describe("pid", getpid());
  const char *first = end;
  for (int sig = 1; sig < NSIG; sig++)
    if (inherited_is_ignored(sig)) describe("ignore", sig);
  inherited_each_descriptor(describe_descriptor);
  if (end > first) end[-1] = '\0';
  else *text = '\0';
}

/* Returns the number of a descriptor that a word names, or -1. */
static int parse_descriptor(const char *word) {
  int fd;
  return sscanf(word, "fd=%d", &fd) == 1 && fd > 2 ? fd : -1;
}

static int is_wanted(char **words, int number) {
  for (; *words; words++)
    if (parse_descriptor(*words) == number) return 1;
  return 0;
}

/* Moves a descriptor to a number of at least `first` that no word names. Returns the number, or -1 with errno. */
static int move_away(int fd, char **words, int first) {
  while (is_wanted(words, first)) first++;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, first);
  if (moved >= 0 && is_wanted(words, moved)) {
    close(moved);
    return move_away(fd, words, moved + 1);
  }
  if (moved >= 0) close(fd);
  return moved;
}

static int move_back(int from, int to) {
  if (dup2(from, to) < 0) return -1;
  return close(from);
}

static int take_descriptors(char **words, int count, int first, int *sock) {
  int *moved = calloc((size_t)count, sizeof *moved), failed = !moved;
  for (int i = 0; i < count && !failed; i++)
    failed = (moved[i] = move_away(first + i, words, first + count)) < 0;
  failed = failed || (*sock = move_away(*sock, words, first + count)) < 0;
  for (int i = 0; *words && !failed; words++)
    if (parse_descriptor(*words) >= 0) failed = move_back(moved[i++], parse_descriptor(*words)) < 0;
  free(moved);
  return failed ? -1 : 0;
}

static int first_other;

static void close_other(int fd) {
  if (fd >= first_other) close(fd);
}

int inherited_take(char **words, int first, int *sock) {
  int count = 0, sig;
  for (char **word = words; *word; word++) {
    if (parse_descriptor(*word) >= 0) count++;
    else if (sscanf(*word, "ignore=%d", &sig) == 1) signal(sig, SIG_IGN);
  }
  first_other = first + count;
  inherited_each_descriptor(close_other); /* Node also passes on others: at its start it marks only the first descriptors as close-on-exec */
  return count == 0 ? 0 : take_descriptors(words, count, first, sock);
}
