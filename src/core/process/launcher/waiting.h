/* The launcher between the call and the GUARD: it waits for the agent's decision. */
#pragma once

#include "options.h"

/* Calls the agent for the first time. */
void call_agent(const struct options *options);

/* Calls the agent again after its connection has ended. Falls back after a while, or at once if the agent has sent no note. */
void call_agent_again(const struct options *options);

/*
 * Waits for the agent to start a command again that has ended. Without an agent, the call then ends with the exit code of that
 * command: the claim is the agent's, so nothing else can start it. exit_code: -1 when it was terminated.
 */
void await_retry(const struct options *options, int sock, int exit_code);

/*
 * Waits until the agent lets the command run. Returns the connection. Does not return when the agent ends the call or
 * cannot serve it.
 */
int wait_for_guard(const struct options *options);
