/* Frames to and from the runner; what they mean is inner.c's business. */
#ifndef TALK_H
#define TALK_H

#include "wire.h"

typedef void obey_t(const struct frame *frame, const unsigned char *block);

/* Sends a frame. A runner that is gone or does not read is no reason to stop guarding: failures are ignored. */
void tell(int sock, uint32_t kind, int64_t a, int64_t b);

/*
 * Takes in all there is to read, without blocking. Returns whether the runner is still there: 0 after the end of the
 * stream, an error, or something that no frame of ours can be.
 */
int listen_to(int sock);

/* Hands every complete frame that was taken in to `obey`, in order. */
void take_frames(obey_t *obey);

#endif
