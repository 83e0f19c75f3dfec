/*
 * What the command receives from the runner: its words, which never appear in a guardian's argument list, and the
 * entries that its environment has in addition to or instead of the guardian's. The runner passes text through the
 * guardian's environment; entries that are not valid UTF-8 arrive here unchanged.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Appends a piece of the words, each ending with a NUL. */
void words_add(const unsigned char *piece, uint32_t length);

/* Returns the words as an argument list, or NULL with errno when there are none or too many to store. */
char **words_list(void);

/* Frees the words after the command has received them. */
void words_free(char **list);

/* Appends a piece of the entries, each "NAME=value" and a NUL, or "NAME" and a NUL to remove the variable. */
void environment_add(const unsigned char *piece, uint32_t length);

/* Returns 0, or the errno of entries that could not be stored; nothing must be started then. */
int environment_fault(void);

/*
 * Adds the entries to this process's environment, replacing existing ones, then `extra`. `extra` has the same form and
 * is modified.
 */
void environment_apply(char *extra, size_t length);
