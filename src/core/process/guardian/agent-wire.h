/*
 * The frames between an agent and a launched command, in addition to those of wire.h. A launcher opens the connection, and
 * its guardians continue to use it.
 *
 * Launcher and inner guardian have a control socket, which preserves message boundaries. The launcher sends SIGNAL; the
 * guardian sends WRITE, PLACE, STARTED, FAILED, EXITED, and CONNECTION with a descriptor.
 */
#pragma once

enum {
  AGENT_WIRE_VERSION = 1,
  NOTE_MAX = 4096,   /* maximum length of a note */
  NOTE_RETRY_MAX = 24 * 60 * 60 * 1000, /* ms; a larger value in a NOTE counts as this */
  LATER_KINDS = 166, /* kinds from here on belong to later versions and are ignored */
};

/* launcher to agent */
enum {
  CALL = 32,             /* a = now, b = AGENT_WIRE_VERSION; block = u32 process id, u32 that of the parent, folder, NUL */
  CALL_WORDS = 33,       /* a = 1: the caller has a configuration file; block = a piece of the words after the program's name, each with a NUL */
  CALL_SETTINGS = 34,    /* block = a piece of entries of the environment, each "NAME=value" and a NUL */
  CALL_NOTE = 35,        /* block = the last NOTE; only in a call that is resumed */
  CALL_END = 36,         /* a = a stage of the call, b = number of this connection of the call, from 0 */
  SIGNALLED = 37,        /* a = number of a signal, b = 1: the command got it */
  GUARDIANS_ENDED = 38,  /* a = wait status of the outer guardian */
};

/* stages of a call, in CALL_END */
enum { CALL_IS_NEW = 0, CALL_WAITS = 1, CALL_IS_GUARDED = 2 };

/* agent to launcher */
enum {
  ACCEPTED = 160, /* a = AGENT_WIRE_VERSION */
  DECLINED = 161, /* block = reason, UTF-8 */
  NOTE = 162,     /* block = text for CALL_NOTE; a = ms for which a waiting launcher tries to connect again; b = 1: the
                     guardians have ended, and the command will be started again */
  WRITE = 163,    /* a = 1 or 2, the launcher's standard output or error; block = bytes */
  GUARD = 164,    /* fork the guardians; all later bytes are for the inner guardian. a = 1: hold back the command's output;
                     b = some of the bits below, block = what hooks tell of the run, JSON, if there are some */
  END = 165,      /* a = exit code; block = what hooks tell of the end, JSON, if some are to be called */
};

/* bits of GUARD */
enum { HOOKS_AT_END = 1, HOOKS_AT_START = 2 };

/* guardian to launcher, over the control socket only */
enum { CONNECTION = 200 }; /* with the descriptor of the connection that replaces the earlier one */
