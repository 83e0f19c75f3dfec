/*
 * Processes that were seen as descendants of the command. A process that leaves the tree later (nsenter(1) into a pid
 * namespace, and its parent dies) still belongs to the command. Both guardians share this memory, so the survivor has
 * it too.
 */
#pragma once

#include <stdint.h>

#include "proc.h"

/* The form of SEEN on the wire; little endian there. */
struct seen {
  uint32_t pid, zero;
  uint64_t born;
};

enum { SEEN_MAX = 2048 }; /* with more processes at once, the later ones are not remembered */

/*
 * Allocates the memory, which is shared with processes that are forked later. Does nothing if that was done before.
 * Returns 0, or -1 with errno.
 */
int seen_open(void);

/* Marks the living remembered processes as members of the command. */
void seen_mark(const struct list *all);

/* Remembers exactly these processes. They must include the living ones that were remembered before. */
void seen_replace(const struct list *members);

/* Whether a remembered process is alive. */
int seen_has_living(void);

/* Whether the memory was updated since the last call. */
int seen_has_changed(void);

/* Writes all remembered processes in the form of SEEN. Returns their number, at most SEEN_MAX. */
uint32_t seen_list(struct seen *out);
