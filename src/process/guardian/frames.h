/* Sends and receives frames; inner.c interprets them. */
#pragma once

#include "wire.h"

typedef void frame_handler_t(const struct frame *frame, const unsigned char *block);

/* Sends a frame. Ignores failures: guarding continues when the runner is gone or does not read. */
void send_event(int sock, uint32_t kind, int64_t a, int64_t b);

/*
 * Sends a frame with a block. The frame is truncated if the runner does not read and the socket is full: see
 * has_unread.
 */
void send_event_block(int sock, uint32_t kind, int64_t a, const void *block, uint32_t length);

/* Whether the runner has not yet read everything that was sent. If it has, the socket has space for any frame. */
int has_unread(int sock);

/* Whether the runner's end of the socket is closed, even if data is still unread. */
int is_closed(int sock);

/*
 * Reads all available data, without blocking. Returns whether the runner is still connected: 0 after the end of the
 * stream, an error, or data that cannot be a valid frame.
 */
int read_frames(int sock);

/* Passes every complete frame to `obey`, in order. */
void handle_frames(frame_handler_t *handle_request);
