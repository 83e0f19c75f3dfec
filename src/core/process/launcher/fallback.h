/* Runs without an agent: this process becomes Node, with the same words. */
#pragma once

#include "options.h"

/*
 * Becomes Node. reason: why no agent serves the call, for SIGNALBOX_FALLBACK; NULL: there is nothing to explain. Exits
 * with 78 if there is no Node.
 */
_Noreturn void run_node(const struct options *options, const char *reason);

/* Becomes Node, which only calls hooks, as SIGNALBOX_HOOKS says. */
_Noreturn void run_hooks(const struct options *options, const char *hooks);

/* Becomes Node, unless the mode is `always`: then prints the reason and exits with this code. */
_Noreturn void fall_back(const struct options *options, const char *reason, int code);

/* The same if this host has no agent. Node then does not report a reason. */
_Noreturn void fall_back_without_agent(const struct options *options, const char *reason);

/* Exit codes, as in src/core/base/errors.ts. */
enum { EXIT_NO_AGENT = 69, EXIT_NO_PERMISSION = 77, EXIT_CONFIG = 78, EXIT_LOST = 125 };
