/* The frames of a call: words, settings and folder of this process. */
#pragma once

#include <stddef.h>

#include "options.h"

/* Collects the call. Returns NULL, or why an agent cannot serve it. */
const char *call_collect(const struct options *options);

/*
 * Encodes the next connection of the call: a stage of agent-wire.h, and the note so far. The frames are valid until the
 * next call of this function.
 */
const unsigned char *call_encode(int stage, size_t *length);
