#define _GNU_SOURCE
#include "command-user.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
  int is_given;
  uid_t uid;
  gid_t gid, groups[NGROUPS_MAX];
  size_t count;
} user;

/* Reads an id and the ':' after it. The highest one means "unchanged" to the system. */
static int read_id(const char **at, unsigned *id) {
  char *end;
  if (**at < '0' || **at > '9') return -1;
  unsigned long long number = strtoull(*at, &end, 10);
  if (number >= UINT_MAX || (*end && *end != ':')) return -1;
  *at = *end ? end + 1 : end;
  *id = (unsigned)number;
  return 0;
}

int user_take(const char *word) {
  const char *at = word + strcspn(word, "=") + 1;
  errno = EINVAL;
  if (user.is_given || read_id(&at, &user.uid) < 0 || read_id(&at, &user.gid) < 0) return -1;
  while (*at)
    if (user.count == NGROUPS_MAX || read_id(&at, &user.groups[user.count++]) < 0) return -1;
  user.is_given = 1;
  return 0;
}

int user_own(int fd) { return user.is_given ? fchown(fd, user.uid, (gid_t)-1) : 0; }

/* A change of the user ids takes them too, unless the process inherited that it does not (SECBIT_NO_SETUID_FIXUP). */
static int drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  return (int)syscall(SYS_capset, &header, none);
}

int user_become(void) {
  if (!user.is_given) return 0;
  if (setgroups(user.count, user.groups) < 0 || setresgid(user.gid, user.gid, user.gid) < 0 ||
      setresuid(user.uid, user.uid, user.uid) < 0)
    return -1;
  /* Whoever has the keyring of the session has its keys. Without permission for it, the command has none either. */
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
  if (user.uid == 0) return 0;
  if (drop_capabilities() < 0) return -1;
  errno = EPERM;
  return setuid(0) < 0 ? 0 : -1;
}
