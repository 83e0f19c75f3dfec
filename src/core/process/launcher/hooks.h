/*
 * The hooks of a run that an agent serves (--ping, --on-failure, --on-success). The agent says when, and what they tell. Node
 * calls them, in a process of the caller, when the command has started, and when the claim is free.
 */
#pragma once

#include <sys/types.h>

#include "../guardian/wire.h"
#include "options.h"

/* Sets the command line, which names the hooks. */
void hooks_set_options(const struct options *options);

/* Prepares for the hooks that a GUARD requests. */
void hooks_prepare(const struct frame *guard, const unsigned char *block);

/* Calls those at the start, once. The command does not wait for them. */
void hooks_start(void);

/* Notices the end of a process. */
void hooks_notice_end(pid_t pid);

/* Keeps what an END says about the end; without a block, nothing is to be called. */
void hooks_keep_end(const struct frame *end, const unsigned char *block);

/* Calls those at the end, if the agent has said so, or has ended since the start. Waits for them, and for the output. */
void hooks_end(int code);
