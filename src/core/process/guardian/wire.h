/*
 * The guardian's protocol with its runner, on descriptor 3. The runner's side is ../guarded-command/wire.ts.
 *
 * Frames of 24 bytes, little endian: u32 kind, u32 length, i64 a, i64 b; `length` bytes follow, the frame's block.
 * Instants are absolute nanoseconds of CLOCK_BOOTTIME, so that neither a late or repeated frame nor a suspended machine
 * can extend a deadline.
 */
#pragma once

#include <stdint.h>

/* argv[0] and the process name: not part of any signalbox path or word, so that no pattern for those matches it. */
#define GUARDIAN_NAME "sbxgd"

enum {
  WIRE_FD = 3,
  WIRE_VERSION = 3,
  WIRE_BLOCK_MAX = 64 * 1024, /* maximum length of a frame's block */
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
  START = 2,     /* block = additions to the environment, each "NAME=value" and a NUL; a = the least exit code after which
                    a daemon may still start its container, 0: no daemon starts one */
  SIGNAL = 3,    /* a = number of the signal to forward */
  TERMINATE = 4, /* a = SIGKILL at; SIGTERM is sent now */
  RELEASE = 5,   /* leave remaining processes of the command running, and exit; also the answer to GONE */
  WORDS = 6,     /* block = a piece of the command's words, each followed by a NUL; in order, before START */
  PING = 7,      /* requests a PONG, which a stopped guardian does not send */
  ENVIRONMENT = 8, /* block = a piece of entries that are not UTF-8, each "NAME=value" and a NUL; as WORDS.
                      A "NAME" without "=" removes the variable */
};

/* guardian to runner */
enum {
  HELLO = 65,   /* a = now, b = WIRE_VERSION */
  STARTED = 66, /* a = process id; the exec succeeded */
  FAILED = 67,  /* a = errno of the fork or exec; nothing runs */
  REFUSED = 68, /* a = one of the reasons below; nothing runs */
  EXITED = 69,  /* a = wait status of the first process, b = some of the bits below */
  GONE = 70,    /* no process is left; the guardian exits after the runner's RELEASE */
  PLACE = 71,   /* a = process id of the inner guardian, b = of the outer one if a launcher forked it; block = path of the command's cgroup, or empty */
  SEEN = 72,    /* block = all living processes of the command seen so far: u32 pid, u32 0, u64 start time each */
  PONG = 73,    /* the answer to PING */
  REPORT = 74,  /* block = a sentence for the log; to a runner of Node only */
};

/* bits of EXITED */
enum {
  LEFTOVERS = 1,  /* descendants of the first process are alive */
  TERMINATED = 2, /* the termination had begun */
  GUARDIAN_LOST = 4, /* it was terminated because the outer guardian was killed */
};

/* why a START was refused */
enum { UNARMED = 1, TOO_LATE = 2, ALREADY_STARTED = 3 };

/* exit codes of the guardian; any other end says nothing about the command */
enum {
  EXIT_GONE = 0,         /* no process of the command is left */
  EXIT_RELEASED = 3,     /* ended by RELEASE */
  EXIT_INNER_KILLED = 4, /* the inner guardian was killed, or held by a debugger; the outer one killed everything: no process is left */
  EXIT_SETUP = 5,        /* cannot guard here; nothing was started */
  EXIT_UNSTARTED = 6,    /* the agent's connection has ended before the START; nothing was started */
};
