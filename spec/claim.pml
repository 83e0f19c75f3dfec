/*
 * The claim of one lock: the queue, the grant, lost and repeated answers, grace.
 *
 * small: -DRUNS=2
 * small: -DRUNS=3 -DCOPIES=0 -DEXPIRIES=0
 * large: -DRUNS=3
 *
 * Taken for granted: the command is dead before its session expires (session.pml), and only expiry and its own run delete a
 * ticket (vanished.pml and reset.pml have the rest).
 *
 * Rules
 * C1: A claim that is granted at once compares that nobody is in the queue of the lock. [claim-lock-free]
 * C2 (-DRUNS=3 -DCOPIES=0 -DEXPIRIES=0 -DRELEASES=0): A run that waits is granted only when no ticket is before its own, in the order in which they were created. [test/safety/queues/races]
 * C2a (-DRUNS=3 -DCOPIES=0 -DEXPIRIES=0): A run that does not read the queue again when the ticket ahead is gone has read that it held the lock. [ahead-alone]
 * C3: A grant compares that the own tickets are as they were read. [grant-reset]
 * C4: A call without an answer counts neither as applied nor as refused: a read decides. [granted-unseen]
 * C5: A run that leaves without its claim ends its session first, so that a late copy of a call finds none. [refused-session]
 * C6: A claim is freed only when its command is dead. [finish-while-alive]
 * C7: A command starts only while the session cannot have expired. [test/core/process/deadlines]
 * C8: A ticket in grace counts as held until its time has passed. [test/core/protocol/admission]
 * C9: A run that waits deletes a ticket in grace whose time has passed. [grace-sweep]
 */
#include "common.pml"

/* The ticket of each run, its place (`create_revision`), and how often it was written (`mod_revision`). */
mtype:ticket ticket[ROOM] = NONE;
byte place[ROOM];
byte version[ROOM];
bool session[ROOM];
bool is_grace_over[ROOM];
byte places;

/* Whether the command of a run lives, whether the run has left without a claim, and whether its session may have expired. */
bool command[ROOM];
bool has_left[ROOM];
bool is_late[ROOM];

/* The largest place that has held the lock: the token. */
byte token;

/* A call on its way that has no answer yet, or a copy of one that was answered. */
mtype:call = { NOTHING, CLAIM, GRANT };
mtype:call copy[ROOM] = NOTHING;
byte copy_version[ROOM];

/* What chance may still do. */
#ifndef COPIES
#define COPIES 1
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef RELEASES
#define RELEASES 1
#endif
byte copies = COPIES;
byte expiries = EXPIRIES;
byte releases = RELEASES;

#ifdef WITHOUT_C8
#define counts(one) (ticket[one] != NONE && ticket[one] != GRACE)
#else
#define counts(one) (ticket[one] != NONE)
#endif

#define is_before(one, own) (one != own && counts(one) && place[one] < place[own])
#define is_somebody_before(own) (is_before(1, own) || is_before(2, own) || is_before(3, own))
#define is_between(one, ahead, own) (one != ahead && is_before(one, own) && place[one] > place[ahead])
#define is_directly_before(one, own) \
  (is_before(one, own) && !is_between(1, one, own) && !is_between(2, one, own) && !is_between(3, one, own))
#ifdef WITHOUT_C2a
#define is_proof(one, own) is_directly_before(one, own)
#else
#define is_proof(one, own) (is_directly_before(one, own) && is_holding(ticket[one]))
#endif
#define is_other(one, own) (one != own && ticket[one] != NONE)
#define is_somebody_else(own) (is_other(1, own) || is_other(2, own) || is_other(3, own))
#define is_other_holding(one, own) (one != own && is_holding(ticket[one]))
#define is_somebody_holding(own) (is_other_holding(1, own) || is_other_holding(2, own) || is_other_holding(3, own))
#define is_overtaken(one, own) (one != own && ticket[one] == WAITING && place[one] < place[own])
#define is_somebody_overtaken(own) (is_overtaken(1, own) || is_overtaken(2, own) || is_overtaken(3, own))
#define is_other_alive(one, own) (one != own && command[one])
#define is_somebody_alive(own) (is_other_alive(1, own) || is_other_alive(2, own) || is_other_alive(3, own))

#ifdef WITHOUT_C1
#define is_lock_free(own) true
#else
#define is_lock_free(own) (!is_somebody_else(own))
#endif
#ifdef WITHOUT_C2
#define may_be_granted(own) (!is_somebody_holding(own))
#else
#define may_be_granted(own) (!is_somebody_before(own))
#endif
#ifdef WITHOUT_C3
#define is_as_read(own, seen) true
#else
#define is_as_read(own, seen) (ticket[own] != NONE && version[own] == seen)
#endif
#ifdef WITHOUT_C9
#define may_sweep(one) false
#else
#define may_sweep(one) (ticket[one] == GRACE && is_grace_over[one])
#endif

/* Writes a ticket. A new one gets the next place. */
inline put(own, state) {
  if
  :: ticket[own] == NONE -> places++; place[own] = places
  :: else
  fi;
  ticket[own] = state;
  version[own]++
}

inline delete(own) {
  ticket[own] = NONE;
  place[own] = 0
}

/* Deletes the ticket that is on the session of a run. A ticket in grace is on a session of its own. */
inline remove_from_session(own) {
  if
  :: ticket[own] != GRACE -> delete(own)
  :: else
  fi
}

inline check_grant(own) {
  if
  :: is_somebody_holding(own) -> broken("> two runs hold the lock\n")
  :: else
  fi;
  if
  :: is_somebody_overtaken(own) -> broken("> a run overtakes one that came before it\n")
  :: place[own] <= token -> broken("> a token does not grow\n")
  :: else
  fi;
  token = place[own]
}

/* The transactions of a run. `is_done`: it was applied. */
inline apply(own, call, seen) {
  is_done = false;
  if
  :: !session[own]
  :: call == CLAIM && session[own] ->
    if
    :: ticket[own] == NONE && is_lock_free(own) ->
      put(own, HELD); is_done = true;
      printf("> etcd grants the lock to run %d\n", own);
      check_grant(own)
    :: ticket[own] == NONE && !is_lock_free(own) ->
      put(own, WAITING);
      printf("> etcd puts run %d into the queue\n", own)
    :: else
    fi
  :: call == GRANT && session[own] ->
    if
    :: is_as_read(own, seen) ->
      put(own, HELD); is_done = true;
      printf("> etcd grants the lock to run %d\n", own);
      check_grant(own)
    :: else
    fi
  fi;
  if
  :: has_left[own] && ticket[own] != NONE && ticket[own] != GRACE -> broken("> a run that has left has a ticket\n")
  :: else
  fi
}

/* Sends a call: it is applied and answered, applied without an answer, or delayed or lost. A copy may be applied later. */
inline send(own, call, seen) {
  atomic {
    is_answered = false;
    if
    :: apply(own, call, seen); is_answered = true
    :: apply(own, call, seen); printf("> the answer to run %d is lost\n", own)
    :: printf("> a call of run %d is not answered\n", own)
    fi;
    if
    :: copies > 0 -> copies--; copy[own] = call; copy_version[own] = seen
    :: true
    fi
  }
}

proctype Run(byte own) {
  bool is_answered, is_done;
  byte seen, ahead, proof;

  printf("> run %d claims\n", own);
claim:
  send(own, CLAIM, 0);
#ifdef WITHOUT_C4
  if
  :: !is_answered -> goto granted
  :: else
  fi;
#endif
  if
  :: is_answered && is_done -> goto granted
  :: true
  fi;

  /* Reads the queue and decides. It waits here while nothing in the queue changes. */
decide:
  atomic {
    if
    :: is_late[own] -> goto leave
    :: ticket[own] == NONE && session[own] -> goto unqueued
    :: is_holding(ticket[own]) -> goto granted
    :: ticket[own] == WAITING && may_be_granted(own) -> seen = version[own]
    :: ticket[own] == WAITING && proof == 0 && is_proof(1, own) -> proof = 1; goto decide
    :: ticket[own] == WAITING && proof == 0 && is_proof(2, own) -> proof = 2; goto decide
    :: ticket[own] == WAITING && proof == 0 && is_proof(3, own) -> proof = 3; goto decide
    :: ticket[own] == WAITING && proof != 0 && ticket[proof] == NONE -> seen = version[own]
    :: ticket[own] == WAITING && is_before(1, own) && may_sweep(1) -> ahead = 1; goto sweep
    :: ticket[own] == WAITING && is_before(2, own) && may_sweep(2) -> ahead = 2; goto sweep
    :: ticket[own] == WAITING && is_before(3, own) && may_sweep(3) -> ahead = 3; goto sweep
    fi
  }
  send(own, GRANT, seen);
#ifdef WITHOUT_C4
  if
  :: !is_answered -> goto granted
  :: else
  fi;
#endif
  if
  :: is_answered && is_done -> goto granted
  :: else -> goto decide
  fi;

  /* The first claim was not applied, or somebody removed the ticket. It claims once more, or leaves. */
unqueued:
  if
  :: goto leave
  :: copies > 0 -> goto claim
  fi;

sweep:
  atomic {
    if
    :: may_sweep(ahead) -> delete(ahead); printf("> run %d deletes the grace of run %d\n", own, ahead)
    :: else
    fi
  }
  goto decide;

granted:
  atomic {
    if
#ifndef WITHOUT_C7
    :: is_late[own] -> goto leave
#endif
    :: else ->
      printf("> run %d starts its command\n", own);
      command[own] = true;
      if
      :: is_somebody_alive(own) -> broken("> two commands run\n")
      :: else
      fi
    fi
  }
  /* The command runs. It ends by itself, or the guardian has killed it. */
#ifdef WITHOUT_C6
  skip;
#else
  atomic { command[own] = false; printf("> the command of run %d has ended\n", own) }
#endif
  atomic {
    if
    :: ticket[own] == HELD ->
      if
      :: true -> delete(own); printf("> run %d frees the lock\n", own)
      :: true -> put(own, GRACE); printf("> run %d leaves the lock in grace\n", own)
      fi
    :: else
    fi
  }
  atomic { command[own] = false };

leave:
#ifndef WITHOUT_C5
  atomic { session[own] = false; remove_from_session(own) }
#endif
  atomic {
    has_left[own] = true;
    printf("> run %d has left\n", own);
    if
    :: ticket[own] == WAITING || ticket[own] == HELD -> broken("> a run that has left has a ticket\n")
    :: else
    fi
  }
}

/* What chance does to a run: late copies, expiry, the end of its grace, an operator who removes it from the queue. */
proctype Chance(byte own) {
  bool is_done;
end:
  do
  :: atomic {
      copy[own] != NOTHING ->
      printf("> a copy of a call of run %d arrives late\n", own);
      apply(own, copy[own], copy_version[own]);
      copy[own] = NOTHING;
      copy_version[own] = 0
    }
  :: atomic {
      ticket[own] == GRACE && !is_grace_over[own] ->
      is_grace_over[own] = true;
      printf("> the grace of run %d is over\n", own)
    }
  :: atomic {
      expiries > 0 && session[own] && !is_late[own] ->
      expiries--; is_late[own] = true; command[own] = false;
      printf("> the horizon of run %d passes\n", own)
    }
  :: atomic {
      is_late[own] && session[own] ->
      session[own] = false;
      remove_from_session(own);
      printf("> the session of run %d expires\n", own)
    }
  :: atomic { expiries + releases > 0 -> expiries = 0; releases = 0 }
  :: atomic {
      releases > 0 && ticket[own] == WAITING ->
      releases--; remove_from_session(own);
      printf("> an operator removes run %d from the queue\n", own)
    }
  od
}

init {
  atomic {
    byte own;
    for (own : 1 .. RUNS) {
      session[own] = true;
      run Run(own);
      run Chance(own)
    }
  }
}
