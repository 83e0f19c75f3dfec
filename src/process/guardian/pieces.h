/* Texts that arrive in pieces, each text followed by a NUL. */
#ifndef PIECES_H
#define PIECES_H

#include <stddef.h>
#include <stdint.h>

struct pieces {
  char *text;
  size_t length, room;
  int fault; /* errno; 0: all pieces were stored */
};

/* Appends a piece. A piece that cannot be stored sets the fault. */
void pieces_add(struct pieces *all, const unsigned char *piece, uint32_t size);

/* Frees the text; the fault stays. */
void pieces_free(struct pieces *all);

#endif
