#define _GNU_SOURCE
#include "environment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

static struct pieces entries;

void environment_add(const unsigned char *piece, uint32_t length) { pieces_add(&entries, piece, length); }

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
    }
    at = next;
  }
}

void environment_apply(char *extra, size_t length) {
  set_entry(entries.text, entries.length);
  set_entry(extra, length);
}
