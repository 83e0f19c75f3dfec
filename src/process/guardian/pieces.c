#include "pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than any kernel accepts, so that a command line that is too long fails in the exec, with the kernel's error. */
enum { LONGEST = 16 * 1024 * 1024 };

void pieces_add(struct pieces *all, const unsigned char *piece, uint32_t size) {
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
  memcpy(all->text + all->length, piece, size);
  all->length += size;
}

void pieces_free(struct pieces *all) {
  free(all->text);
  all->text = NULL;
  all->length = all->room = 0;
}
