#define _GNU_SOURCE
#include "trust.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_trusted(uid_t user) { return user == 0 || user == getuid(); }

/* In a sticky folder such as /tmp, only the owner of a link can replace it. */
static int check_folder(const char *path) {
  char folder[PATH_MAX];
  struct stat st;
  const char *slash = strrchr(path, '/');
  size_t length = slash ? (size_t)(slash - path) : 0;
  if (length >= sizeof folder) return -1;
  memcpy(folder, path, length);
  folder[length] = '\0';
  if (length && (lstat(folder, &st) < 0 || !is_trusted(st.st_uid))) return -1;
  if (stat(length ? folder : slash ? "/" : ".", &st) < 0 || !is_trusted(st.st_uid)) return -1;
  return (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 || (st.st_mode & S_ISVTX) ? 0 : -1;
}

int trust_check_path(const char *path) {
  struct stat st;
  if (lstat(path, &st) < 0) return -1;
  int checked = is_trusted(st.st_uid) ? check_folder(path) : -1;
  errno = checked == 0 && !S_ISSOCK(st.st_mode) ? ENOTSOCK : 0;
  return errno ? -1 : checked;
}

int trust_has_peer(int sock) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  return getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && is_trusted(peer.uid);
}
