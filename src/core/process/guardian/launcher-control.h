/* The inner guardian's control socket with its launcher. Without a launcher, all of these functions do nothing. */
#pragma once

#include <poll.h>

#include "wire.h"

/* sock: the socket, or -1. */
void control_open(int sock);

struct pollfd control_poll(void);

/* Sends a frame with its block. Drops it if the launcher does not read. */
void control_send(struct frame f, const void *block);

/* Passes the signals that the launcher has received to `handle`. Returns 0 when the launcher is dead. */
int control_read(void handle(int64_t sig));
