#define _GNU_SOURCE
#include "command-input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Texts that arrive in pieces, each text followed by a NUL. */
struct pieces {
  char *text;
  size_t length, room;
  int fault; /* errno; 0: all pieces were stored */
};

static struct pieces words, entries;

/* More than any kernel accepts: a command line that is too long fails in the exec, with the kernel's error. */
enum { LONGEST = 16 * 1024 * 1024 };

/* Appends a piece. A piece that cannot be stored sets the fault. */
static void add_piece(struct pieces *all, const unsigned char *piece, uint32_t size) {
  if (all->length + size > LONGEST) all->fault = E2BIG;
  if (all->fault) return;
  if (all->length + size > all->room) {
    size_t wanted = (all->length + size) * 2;
    char *grown = realloc(all->text, wanted);
    if (!grown) {
      all->fault = ENOMEM;
      return;
    }
    all->text = grown;
    all->room = wanted;
  }
  if (size > 0) memcpy(all->text + all->length, piece, size);
  all->length += size;
}

void words_add(const unsigned char *piece, uint32_t size) { add_piece(&words, piece, size); }

char **words_list(void) {
  size_t count = 0, next = 0;
  if (!words.fault && (words.length == 0 || words.text[words.length - 1] != '\0')) words.fault = EINVAL;
  for (size_t at = 0; at < words.length; at++) count += words.text[at] == '\0';
  char **list = words.fault ? NULL : malloc((count + 1) * sizeof *list);
  if (!list) {
    errno = words.fault ? words.fault : ENOMEM;
    return NULL;
  }
  for (size_t at = 0; at < words.length; at += strlen(words.text + at) + 1) list[next++] = words.text + at;
  list[next] = NULL;
  return list;
}

void words_free(char **list) {
  free(list);
  free(words.text);
  words = (struct pieces){.fault = EINVAL}; /* a command is never started twice */
}

void environment_add(const unsigned char *piece, uint32_t length) { add_piece(&entries, piece, length); }

int environment_fault(void) {
  if (!entries.fault && entries.length > 0 && entries.text[entries.length - 1] != '\0') entries.fault = EINVAL;
  return entries.fault;
}

static void set_entry(char *at, size_t length) {
  for (char *end = at + length; at < end;) {
    char *next = at + strlen(at) + 1;
    char *equals = strchr(at, '=');
    if (equals) {
      *equals = '\0';
      setenv(at, equals + 1, 1);
    } else if (*at) {
      unsetenv(at);
    }
    at = next;
  }
}

void environment_apply(char *extra, size_t length) {
  if (entries.length > 0) set_entry(entries.text, entries.length);
  set_entry(extra, length);
}
