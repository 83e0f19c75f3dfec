/* Messages on standard error. */
#pragma once

#include <stddef.h>

/* Writes "signalbox: ", the texts up to a NULL, and a line feed. Control characters of the texts become "?". */
void print_message(const char *const *texts);

/* Writes all bytes, even to a non-blocking descriptor. Ignores failures: there is no place to report them. */
void write_all(int fd, const void *bytes, size_t length);
