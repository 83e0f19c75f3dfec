/* The agent's last NOTE, which the launcher and its guardians share. */
#pragma once

#include <stdint.h>

/* Allocates the memory, shared with a process that is forked later. Returns 0, or -1 with errno. */
int note_open(void);

/* Stores a note in place of the earlier one. Returns 0 if it is invalid: too long, or with a NUL. */
int note_keep(const unsigned char *text, uint32_t length, int64_t retry_ms);

/* The note, ending with a NUL, or NULL when there is none. */
const char *note_text(void);

/* How long a waiting launcher tries to connect again, ms. */
int64_t note_retry_ms(void);
