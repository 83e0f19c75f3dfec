/* Without an agent: this process becomes Node, with the same words. */
#pragma once

#include "options.h"

/*
 * Becomes Node. reason: why no agent serves the call, for SIGNALBOX_FALLBACK; NULL: there is nothing to explain. Ends
 * the process with 78 when there is no Node.
 */
_Noreturn void run_node(const struct options *options, const char *reason);

/* Becomes Node, unless the mode is `always`: then ends the process with this code, and says why. */
_Noreturn void fall_back(const struct options *options, const char *reason, int code);

/* The same when this host has no agent: Node does not explain that. */
_Noreturn void fall_back_without_agent(const struct options *options, const char *reason);

/* Exit codes, as in src/base/errors.ts. */
enum { EXIT_NO_AGENT = 69, EXIT_NO_PERMISSION = 77, EXIT_CONFIG = 78, EXIT_LOST = 125 };
