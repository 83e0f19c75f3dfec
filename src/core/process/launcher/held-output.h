/* The command's output, held back until its exit code is known (--quiet-success), or copied for hooks. */
#pragma once

/*
 * Opens files without a name for the output of this process, once. If standard output and error are the same file, one file
 * keeps their order. Without files, the output passes as usual.
 */
void held_output_open(void);

/*
 * Puts relays before the output, once, unless it is held back: they keep its end. Call this before this process can become
 * a subreaper, which would kill them with what a command has left.
 */
void held_output_relay(void);

/* Replaces standard output and error by files or relays, in the process that becomes the guardian. */
void held_output_use(void);

/* Writes what the files have to standard output and error. */
void held_output_print(void);

/* Waits until the relays have passed on what was written so far, or for a signal. */
void held_output_await(void);

/*
 * Duplicates descriptors for the program that this process becomes. passed: one for standard output and one for standard error;
 * -1: there is none. Returns "files" if the output is held back in files, or "copies" if they are the sockets of relays.
 */
const char *held_output_pass_on(int passed[2]);
