/* The command's words as received from the runner: they never appear in a guardian's own argument list. */
#ifndef COMMAND_WORDS_H
#define COMMAND_WORDS_H

#include <stdint.h>

/* Appends a piece of the words, each ending with a NUL. */
void words_add(const unsigned char *piece, uint32_t length);

/* Returns the words as an argument list, or NULL with errno when there are none or too many to store. */
char **words_list(void);

/* Frees the words, which the command has received. */
void words_free(char **list);

#endif
