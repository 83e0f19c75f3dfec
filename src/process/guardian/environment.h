/*
 * The entries that the command's environment has in addition to or instead of the guardian's own. The runner passes
 * text through the guardian's environment; entries that are not valid UTF-8 arrive here unchanged.
 */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stddef.h>
#include <stdint.h>

/* Appends a piece of the entries, each "NAME=value" and a NUL. */
void environment_add(const unsigned char *piece, uint32_t length);

/* Returns 0, or the errno of entries that could not be stored; nothing must be started then. */
int environment_fault(void);

/*
 * Adds the entries to this process's environment, replacing existing ones, then `extra`. `extra` has the same form and
 * is modified.
 */
void environment_apply(char *extra, size_t length);

#endif
