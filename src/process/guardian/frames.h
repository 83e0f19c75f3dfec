/* Sends and receives frames; inner.c interprets them. */
#pragma once

#include "wire.h"

/* Returns whether to go on with the next frame. */
typedef int frame_handler_t(const struct frame *frame, const unsigned char *block);

/*
 * Allocates the memory for what was received. It is shared with processes that are forked later: what one of them has
 * read of a frame, the next reader of the connection has too. Returns 0, or -1 with errno.
 */
int frames_open(void);

/* Forgets what was received: the next bytes come from another connection. */
void frames_forget(void);

/* Converts a frame from host byte order to little endian, or back. */
struct frame swap_frame(struct frame f);

/* Sends a frame. Ignores failures: guarding continues when the runner is gone or does not read. */
void send_event(int sock, uint32_t kind, int64_t a, int64_t b);

/*
 * Sends a frame with a block. The frame is truncated if the runner does not read and the socket is full: see
 * has_unread.
 */
void send_event_block(int sock, struct frame event, const void *block);

/* Whether the runner has not yet read everything that was sent. If it has, the socket has space for any frame. */
int has_unread(int sock);

/* Whether the runner's end of the socket is closed, even if data is still unread. */
int is_closed(int sock);

enum received { OPEN, ENDED, INVALID };

/*
 * Reads all available data, without blocking. Returns ENDED after the end of the stream or an error, INVALID for data
 * that cannot be a frame.
 */
enum received read_frames(int sock);

/* Passes every complete frame to `handle`, in order, until it refuses to go on. */
void handle_frames(frame_handler_t *handle);
