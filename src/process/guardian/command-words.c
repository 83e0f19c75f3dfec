#include "command-words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

static struct pieces words;

void words_add(const unsigned char *piece, uint32_t size) { pieces_add(&words, piece, size); }

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
  pieces_free(&words);
  words.fault = EINVAL; /* a command is never started twice */
}
