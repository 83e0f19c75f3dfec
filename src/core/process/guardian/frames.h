/* Sends and receives frames; inner.c interprets them. */
#pragma once

#include "wire.h"

/* Returns whether to continue with the next frame. */
typedef int frame_handler_t(const struct frame *frame, const unsigned char *block);

/*
 * Allocates the buffer for received bytes. It is shared with processes that are forked later: if one of them has read a
 * part of a frame, the next reader of the connection has that part too. Returns 0, or -1 with errno.
 */
int frames_open(void);

/* Discards received bytes: the next ones come from another connection. */
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

/* Passes every complete frame to `handle`, in order, until it returns 0. */
void handle_frames(frame_handler_t *handle);
