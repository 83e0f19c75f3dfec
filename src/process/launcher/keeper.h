/* An agent that a run has started has no systemd that starts it again. */
#pragma once

#include "options.h"

/*
 * Returns, unless the environment asks to keep an agent (src/commands/run/start-agent.impl.ts). Then closes the descriptors
 * of the caller, runs the agent, and runs it again if a signal has ended it: commands that it serves need it.
 */
void keep_agent(const struct options *options);
