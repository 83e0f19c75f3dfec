/* Requests that only an agent sends. */
#pragma once

#include "wire.h"

/* How a request was handled. DISMISSED: the agent does not want this command to run. */
enum handled { UNKNOWN, HANDLED, DISMISSED };

enum handled handle_agent_request(const struct frame *f, const unsigned char *block);
