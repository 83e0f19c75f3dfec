/*
 * The reset of a run: the request in its ticket, what the run does with it, and when `reset` returns.
 *
 * small: -DRESETS=1
 * large: -DRESETS=3
 *
 * One run and one operator. The ticket may vanish with its session (vanished.pml), and then its mark is left.
 *
 * Rules
 * R1: A reset writes a request into the ticket, and leaves the ticket. [test/safety/operate/reset]
 * R2: A grant compares that the ticket is as it was read. [grant-reset]
 * R3: An announcement compares that the ticket is as it was read. [announce-reset]
 * R4: Grace compares that the ticket is as it was read. [grace-reset]
 * R5: A holder heeds a request: it kills its command, then frees its claim. [reset-unheeded]
 * R6: `reset` returns when neither the ticket nor a mark that counts is left. [test/site/operate/departures]
 * R6a: The time of a mark counts from the first read that shows it without its ticket. [test/site/operate/departures]
 * R7: An operator's write compares that the ticket is as it was shown. [test/safety/operate/reset]
 */
#include "common.pml"

#ifndef RESETS
#define RESETS 1
#endif

/* The ticket: its state, whether a request is in it, how often it was written. */
mtype:ticket ticket = NONE;
bool has_request;
byte version;
/* The mark; whether `reset` counts its time, whether it was alone when that began, and whether the time to live has passed. */
bool mark;
bool is_counted;
bool was_alone;
bool is_mark_over;

bool command;
bool is_late;
/* An operator's request was written and not answered yet. */
bool is_asked;

byte resets = RESETS;
byte revokes = 1;

#ifdef WITHOUT_R2
#define may_grant(seen) (ticket != NONE)
#else
#define may_grant(seen) (ticket != NONE && version == seen)
#endif
#ifdef WITHOUT_R3
#define may_announce(seen) (ticket != NONE)
#else
#define may_announce(seen) (ticket != NONE && version == seen)
#endif
#ifdef WITHOUT_R4
#define may_keep_grace(seen) (ticket == HELD)
#else
#define may_keep_grace(seen) (ticket == HELD && version == seen)
#endif
#ifdef WITHOUT_R5
#define is_request_heeded false
#else
#define is_request_heeded has_request
#endif
#ifdef WITHOUT_R6
#define is_gone (ticket == NONE)
#else
#define is_gone (ticket == NONE && (!mark || is_mark_over))
#endif
#ifdef WITHOUT_R7
#define is_as_shown (ticket != NONE)
#else
#define is_as_shown (ticket != NONE && version == seen)
#endif

#ifdef WITHOUT_R6a
#define may_count mark
#else
#define may_count (mark && ticket == NONE)
#endif

inline check() {
  if
  :: is_asked && ticket != NONE && !has_request -> broken("> the request to reset is lost\n")
  :: command && ticket == WAITING -> broken("> the ticket of a run that holds says that it waits\n")
  :: else
  fi
}

/* The run writes its ticket as it has read it, with a change. What it had not read is not in it. */
inline rewrite(state) {
  ticket = state;
  has_request = false;
  version++;
  check()
}

inline delete_ticket() {
  ticket = NONE;
  has_request = false
}

proctype Run() {
  byte seen;
  bool has_announced;

  atomic { ticket = WAITING; version++; printf("> the run waits\n") }
decide:
  atomic {
    if
    :: ticket == NONE || has_request -> goto leave
    :: ticket == WAITING && !has_request -> seen = version
    fi
  }
  if
  :: true -> atomic {
      if
      :: !has_announced && may_announce(seen) ->
        has_announced = true;
        printf("> the run announces that it is admitted\n"); rewrite(WAITING)
      :: else
      fi
    }
    goto decide
  :: true -> atomic {
      if
      :: may_grant(seen) -> mark = true; printf("> etcd grants the claim\n"); rewrite(HELD); seen = version
      :: else -> goto decide
      fi
    }
  fi;
  atomic {
    if
    :: is_late -> goto leave
    :: else -> command = true; printf("> the command starts\n")
    fi
  }
  /* The command runs, until it ends by itself, a request is noticed, or the ticket is missing. */
  do
  :: atomic { is_request_heeded && ticket != NONE -> printf("> the run notices the request\n"); command = false; goto leave }
  :: atomic { ticket == NONE || is_late -> printf("> the run notices that its claim is lost\n"); command = false; goto leave }
#ifdef WITHOUT_R5
  :: atomic { !is_asked -> command = false; printf("> the command ends\n"); break }
#else
  :: atomic { command -> command = false; printf("> the command ends\n"); break }
#endif
  od;
  if
  :: true -> atomic {
      if
      :: may_keep_grace(seen) ->
        mark = false; printf("> the run leaves its ticket in grace\n"); rewrite(GRACE); goto over
      :: else
      fi
    }
  :: true
  fi;
leave:
  atomic {
    command = false;
    delete_ticket();
    mark = false;
    printf("> the run frees its claim\n")
  }
over:
  skip
}

proctype Operator() {
  byte seen;
  mtype:ticket shown = NONE;

  /* It may come at any time, or not at all. */
end:
  do
  :: atomic { resets > 0 && ticket != NONE -> resets--; seen = version; shown = ticket }
    atomic {
      if
      :: is_as_shown ->
#ifdef WITHOUT_R1
        delete_ticket();
        printf("> the operator deletes the ticket\n")
#else
        if
        :: shown == GRACE -> delete_ticket(); printf("> the operator deletes the ticket in grace\n")
        :: shown != GRACE ->
          ticket = shown; has_request = true; version++; is_asked = true;
          printf("> the operator asks the run to end\n");
          check()
        fi
#endif
      :: else -> goto next
      fi
    }
    atomic {
#ifdef WITHOUT_R1
      ticket == NONE ->
#else
      is_gone ->
#endif
      is_asked = false;
      printf("> reset returns\n");
      if
      :: command -> broken("> reset has returned, and the command lives\n")
      :: else
      fi
    }
next:
    skip
  od
}

/* A former leader revokes the session. At the horizon the guardian kills, and after that the mark does not count any more. */
proctype Chance() {
end:
  do
  :: atomic {
      revokes > 0 && ticket != NONE && ticket != GRACE ->
      revokes--; delete_ticket(); printf("> the ticket vanishes\n")
    }
  :: atomic { revokes > 0 -> revokes = 0 }
  :: atomic {
      ticket == NONE && mark && !is_late -> is_late = true; command = false;
      printf("> the guardian kills the command at the horizon\n")
    }
  /* `reset` reads the ticket and the mark while it waits. */
  :: atomic {
      is_asked && may_count && !is_counted ->
      is_counted = true; was_alone = (ticket == NONE); printf("> reset counts the time of the mark\n")
    }
  /* Where the mark is alone, nothing renews the session, so the horizon passes first. */
  :: atomic {
      is_counted && !is_mark_over && (is_late || !was_alone || !mark) ->
      is_mark_over = true; printf("> the time to live has passed\n")
    }
  od
}

init {
  atomic { run Run(); run Operator(); run Chance() }
}
