/*
 * The guardian's protocol with its runner, on descriptor 3. The runner's side of it is ../wire.ts.
 *
 * Frames of 24 bytes, little endian: u32 kind, u32 length, i64 a, i64 b; `length` bytes follow (START only).
 * Instants are nanoseconds of CLOCK_BOOTTIME, absolute, so that a late or repeated frame cannot stretch a deadline
 * and a suspended machine cannot either.
 */
#ifndef WIRE_H
#define WIRE_H

#include <stdint.h>

enum {
  WIRE_FD = 3,
  WIRE_VERSION = 1,
  WIRE_BLOCK_MAX = 64 * 1024, /* the longest block of environment additions */
};

struct frame {
  uint32_t kind;
  uint32_t length;
  int64_t a;
  int64_t b;
};

/* runner to guardian */
enum {
  ARM = 1,       /* a = SIGTERM at, b = SIGKILL at; replaces earlier ones, never undoes a termination */
  START = 2,     /* block = additions to the environment, each "NAME=value" and a NUL */
  SIGNAL = 3,    /* a = signal number, to be forwarded */
  TERMINATE = 4, /* a = SIGKILL at; SIGTERM goes out now */
  RELEASE = 5,   /* the farewell: leave what the command left behind alone, and exit; also the answer to GONE */
};

/* guardian to runner */
enum {
  HELLO = 65,   /* a = now, b = WIRE_VERSION */
  STARTED = 66, /* a = process id; the exec succeeded */
  FAILED = 67,  /* a = errno of the fork or exec; nothing runs */
  REFUSED = 68, /* a = one of the reasons below; nothing runs */
  EXITED = 69,  /* a = wait status of the first process, b = some of the bits below */
  GONE = 70,    /* waitpid(2) says that nothing is left; the guardian exits after the runner's farewell */
};

/* what EXITED says beside the status */
enum {
  LEFTOVERS = 1,  /* descendants of the first process live */
  TERMINATED = 2, /* its termination had begun */
};

/* why a START was refused */
enum { UNARMED = 1, TOO_LATE = 2, ALREADY_STARTED = 3 };

/* exit codes of the guardian; any other end of it says nothing about the command */
enum {
  EXIT_GONE = 0,     /* nothing of the command is left */
  EXIT_RELEASED = 3, /* let go by a farewell */
  EXIT_AVENGED = 4,  /* the inner guardian was killed; the outer one killed everything: nothing is left */
  EXIT_SETUP = 5,    /* could not guard here; nothing was started */
};

#endif
