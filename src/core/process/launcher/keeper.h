/* Restarts an agent that was started by a run, and therefore is not supervised by systemd. */
#pragma once

#include "options.h"

/*
 * Returns unless the environment requests it (src/cli/commands/run/start-agent.impl.ts). Then closes the caller's descriptors,
 * runs the agent, and restarts it if a signal ends it, because the commands that it serves need it.
 */
void keep_agent(const struct options *options);
