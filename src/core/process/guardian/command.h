/* The guarded command: its start, its signals, its end. */
#pragma once

#include <stdint.h>

#include "wire.h"

/*
 * Starts the command with the guardian's environment and the block of a START, which takes precedence, and sends the result.
 * is_lost: the runner is gone.
 */
void command_start(int is_lost, const struct frame *f, const unsigned char *block);

/* Forwards a signal. Returns whether the command got it. */
int command_signal(int64_t sig);

/* Whether a first process was ever started. */
int command_was_started(void);

/* Whether the first process has not been reaped. */
int command_is_running(void);

/* A descriptor to poll until the exec has succeeded or failed; -1 when no exec is pending. */
int command_exec_outcome(void);
void command_read_outcome(void);

/*
 * Reaps children; no other function does. Returns whether no process is left of a command that was started or is
 * terminated.
 * is_alone: the outer guardian is gone, so the command is being killed.
 */
int command_reap(int is_alone);
