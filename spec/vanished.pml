/*
 * Tickets that vanish: a former leader revokes sessions that were renewed under its successor.
 *
 * small: -DELECTIONS=2
 * small: -DBEFORE
 * small: -DLONGER -DELECTIONS=1
 * large: -DREVOKES=2 -DELECTIONS=2 -DTTL=4
 * large: -DRUNS=3 -DELECTIONS=1 -DCRASHES=0 -DTTL=2
 *
 * One lock. Time passes in ticks, as in session.pml, whose result is used here: a renewal that counts is one step, which gives
 * the command the time to live less a margin. A run that waits renews its session in time.
 *
 * Rules
 * V1: A grant puts a mark beside the ticket, on no session. [vanished-mark]
 * V2: Who frees a ticket deletes its mark in the same transaction. [vanished-freed]
 * V3: A mark whose ticket is missing counts as held. [vanished-counts]
 * V3a (-DBEFORE -DELECTIONS=1 -DCRASHES=0 -DTTL=2): It counts at the place of the ticket, not at its own. [vanished-place]
 * V4: A run whose ticket has vanished kills its command first, and deletes the mark then. [vanished-left]
 * V5 (-DELECTIONS=1): A run that waits removes a mark when the time to live has passed. [vanished-waits]
 * V5a: It does not remove it at once, if another leader may know the session. [vanished-at-once]
 * V5b (-DELECTIONS=1 -DCRASHES=0): It waits for the whole time to live. [vanished-whole-time]
 * V5c (-DELECTIONS=1 -DCRASHES=0): It counts from the receipt of the first read that shows the mark alone. [vanished-whole-time]
 * V7: The term in a mark is that in which the session was granted; none if that is not certain. [test/core/etcd/session-renewal]
 * V8 (-DLONGER -DELECTIONS=1 -DCRASHES=0): The horizon never counts with a longer time to live than the mark states.
 *     [test/core/etcd/session-renewal]
 * V9 (-DELECTIONS=1): A run without --wait that finds only such marks waits for their removal. [vanished-alone]
 */
#include "common.pml"

#ifndef TTL
#define TTL 3
#endif
#ifndef REVOKES
#define REVOKES 1
#endif
#ifndef ELECTIONS
#define ELECTIONS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define MARGIN 1
#define UNSEEN 99

/* etcd: the term of its leader, the term of a former leader that still acts (0: none), the last place that was given. */
byte term = 1;
byte former;
byte places;

/* The session of a run: the term in which it was granted (0: there is none), and its time by the leader's clock. */
byte session[ROOM];
byte server_left[ROOM];

/* The tickets and marks of the queue. */
mtype:ticket ticket[ROOM] = NONE;
byte place[ROOM];
bool mark[ROOM];
byte mark_place[ROOM];
byte mark_term[ROOM];

/* The command of a run, the ticks to its horizon, and whether the runner is dead. */
bool command[ROOM];
byte horizon_left[ROOM];
bool is_dead[ROOM];
bool is_granted[ROOM];

/* Ticks until run `own` may remove the mark of run `one`. */
typedef Waits { byte left[ROOM] };
Waits waits[ROOM];

byte elections = ELECTIONS;
byte revokes = REVOKES;
byte crashes = CRASHES;
/* A renewal may state a longer time to live than the grant. */
#ifdef LONGER
bool may_be_longer = true;
#define LONGER_TTL (TTL + 2)
#ifdef WITHOUT_V8
#define HORIZON_TTL LONGER_TTL
#else
#define HORIZON_TTL TTL
#endif
#endif

#define has_vanished(one) (mark[one] && ticket[one] == NONE)
#ifdef WITHOUT_V3
#define counts_vanished(one) false
#else
#define counts_vanished(one) has_vanished(one)
#endif
#define is_other_in_queue(one, own) (one != own && (ticket[one] != NONE || counts_vanished(one)))
#define is_queue_taken(own) (is_other_in_queue(1, own) || is_other_in_queue(2, own) || is_other_in_queue(3, own))
#define is_other_ticket(one, own) (one != own && ticket[one] != NONE)
#define is_ticket_there(own) (is_other_ticket(1, own) || is_other_ticket(2, own) || is_other_ticket(3, own))
#define is_before(one, own) \
  (one != own && ((ticket[one] != NONE && place[one] < place[own]) || \
    (counts_vanished(one) && mark_place[one] < place[own])))
#define is_somebody_before(own) (is_before(1, own) || is_before(2, own) || is_before(3, own))
#define is_other_alive(one, own) (one != own && command[one])
#define is_somebody_alive(own) (is_other_alive(1, own) || is_other_alive(2, own) || is_other_alive(3, own))

#ifdef WITHOUT_V5
#define is_time_over(own, one) false
#else
#ifdef WITHOUT_V5a
#define is_time_over(own, one) true
#else
#define is_time_over(own, one) (waits[own].left[one] == 0)
#endif
#endif
/* Its leader has counted the time of the session: no other leader knows it. */
#define is_counted(one) (mark_term[one] == term)
#ifdef WITHOUT_V5b
#define WHOLE_TIME (TTL / 2)
#else
#define WHOLE_TIME TTL
#endif

inline put_mark(own) {
  is_granted[own] = true;
#ifndef WITHOUT_V1
  mark[own] = true;
  mark_term[own] = stated;
#ifdef WITHOUT_V3a
  places++;
  mark_place[own] = places
#else
  mark_place[own] = place[own]
#endif
#endif
}

inline delete_ticket(own) {
  ticket[own] = NONE;
  place[own] = 0
}

inline delete_mark(one) {
  mark[one] = false;
  mark_place[one] = 0;
  mark_term[one] = 0;
  waits[1].left[one] = UNSEEN;
  waits[2].left[one] = UNSEEN;
  waits[3].left[one] = UNSEEN
}

/* Reads a mark alone, and counts its time from now. */
inline see(own, one) {
  if
  :: one != own && has_vanished(one) && waits[own].left[one] == UNSEEN -> waits[own].left[one] = WHOLE_TIME
  :: else
  fi
}

/* Before the read is sent. */
inline expect(own, one) {
  if
  :: one != own && mark[one] && waits[own].left[one] == UNSEEN -> waits[own].left[one] = WHOLE_TIME
  :: else
  fi
}

/* A read that shows the ticket does not count. */
inline unsee(own, one) {
  if
  :: !has_vanished(one) -> waits[own].left[one] = UNSEEN
  :: else
  fi
}

#define is_removable(own, one) \
  (one != own && has_vanished(one) && waits[own].left[one] != UNSEEN && (is_time_over(own, one) || is_counted(one)))
#define is_unseen(own, one) (one != own && has_vanished(one) && waits[own].left[one] == UNSEEN)

proctype Run(byte own) {
  bool queues;
  byte stated;

  if
  :: queues = true
  :: queues = false
  fi;
  atomic {
    session[own] = term; server_left[own] = TTL; horizon_left[own] = TTL - MARGIN;
    printf("> etcd grants run %d its session in term %d\n", own, term)
  }
  /* The answer states the term of the member that sends it, which an election may have changed. */
  atomic {
#ifdef WITHOUT_V7
    stated = term;
#else
    stated = (term == session[own] -> term : 0);
#endif
    if
    :: session[own] == 0 -> goto leave
    :: else
    fi
  }

claim:
  atomic {
    if
    :: session[own] == 0 -> goto leave
    :: session[own] > 0 && !is_queue_taken(own) ->
      places++; place[own] = places; ticket[own] = HELD;
      put_mark(own);
      printf("> etcd grants the lock to run %d\n", own);
      goto granted
    :: session[own] > 0 && is_queue_taken(own) && queues ->
      places++; place[own] = places; ticket[own] = WAITING;
      printf("> etcd puts run %d into the queue\n", own)
    :: session[own] > 0 && is_ticket_there(own) && !queues -> printf("> run %d leaves: the lock is taken\n", own); goto leave
    :: session[own] > 0 && is_queue_taken(own) && !is_ticket_there(own) && !queues ->
#ifdef WITHOUT_V9
      printf("> run %d leaves: the lock is taken\n", own);
      session[own] = 0;
      goto again
#else
      printf("> run %d finds only the marks of vanished tickets\n", own);
      skip
#endif
    fi
  }

  /* Waits: reads the queue until nothing is before the own ticket, and removes marks whose time is over. */
decide:
#ifdef WITHOUT_V5c
  atomic { expect(own, 1); expect(own, 2); expect(own, 3) }
  atomic { unsee(own, 1); unsee(own, 2); unsee(own, 3) }
#endif
  atomic {
    if
    :: queues && ticket[own] == NONE -> goto leave
    :: !queues && session[own] == 0 -> goto leave
    :: !queues && session[own] > 0 && (is_ticket_there(own) || !is_queue_taken(own)) -> goto claim
    :: is_unseen(own, 1) || is_unseen(own, 2) || is_unseen(own, 3) ->
      see(own, 1); see(own, 2); see(own, 3);
      printf("> run %d reads a mark without its ticket\n", own);
      goto decide
    :: is_removable(own, 1) -> delete_mark(1); printf("> run %d removes the mark of run 1\n", own); goto decide
    :: is_removable(own, 2) -> delete_mark(2); printf("> run %d removes the mark of run 2\n", own); goto decide
    :: is_removable(own, 3) -> delete_mark(3); printf("> run %d removes the mark of run 3\n", own); goto decide
    :: queues && ticket[own] == WAITING && !is_somebody_before(own)
    fi
  }
  atomic {
    if
    :: ticket[own] == NONE -> goto leave
    :: else ->
      ticket[own] = HELD;
      put_mark(own);
      printf("> etcd grants the lock to run %d\n", own)
    fi
  }

granted:
  atomic {
    if
    :: horizon_left[own] == 0 -> goto leave
    :: horizon_left[own] > 0 ->
      command[own] = true; printf("> run %d starts its command\n", own);
      if
      :: is_somebody_alive(own) -> broken("> two commands run\n")
      :: else
      fi
    :: crashes > 0 -> crashes--; is_dead[own] = true; printf("> the runner of run %d dies\n", own); goto dead
    fi
  }
  do
  :: atomic {
      command[own] && ticket[own] == HELD && horizon_left[own] > 0 && horizon_left[own] < TTL - MARGIN ->
      horizon_left[own] = TTL - MARGIN; server_left[own] = TTL;
      printf("> run %d renews its session\n", own)
    }
#ifdef LONGER
  :: atomic {
      may_be_longer && command[own] && ticket[own] == HELD && horizon_left[own] > 0 ->
      may_be_longer = false; horizon_left[own] = HORIZON_TTL - MARGIN; server_left[own] = LONGER_TTL;
      printf("> run %d renews its session, and its time to live is longer\n", own)
    }
#endif
  :: command[own] && ticket[own] == HELD -> break
  :: atomic { !command[own] || ticket[own] == NONE -> printf("> run %d notices that its claim is lost\n", own); break }
  :: atomic { crashes > 0 -> crashes--; is_dead[own] = true; printf("> the runner of run %d dies\n", own); goto dead }
  od;
#ifdef WITHOUT_V4
  atomic {
    if
    :: has_vanished(own) -> delete_mark(own); printf("> run %d deletes its mark\n", own)
    :: else
    fi
  }
#endif
  atomic { command[own] = false; printf("> the command of run %d is dead\n", own) }

  /* Frees the claim, or what is left of it. */
leave:
  atomic {
    if
    :: ticket[own] == HELD ->
      delete_ticket(own);
#ifndef WITHOUT_V2
      delete_mark(own);
#endif
      printf("> run %d frees its claim\n", own);
      if
      :: mark[own] -> broken("> a mark is left of a claim that was freed\n")
      :: else
      fi
    :: ticket[own] != HELD ->
      delete_ticket(own);
      if
      :: mark[own] -> delete_mark(own); printf("> run %d deletes its mark\n", own)
      :: else
      fi
    fi;
    session[own] = 0; server_left[own] = 0; horizon_left[own] = 0; is_granted[own] = false
  }
  goto over;

again:
  /* The next run of the crontab. As long as the queue looks the same, it leaves too. */
  atomic { !is_queue_taken(own) || is_ticket_there(own) }
  goto over;

dead:
  /* The guardian kills the command when it sees that the runner is dead. */
  atomic { command[own] = false }
over:
  atomic {
    waits[own].left[1] = UNSEEN; waits[own].left[2] = UNSEEN; waits[own].left[3] = UNSEEN
  }
}

/* The guardian kills at the horizon, before the next tick. */
#define must_kill(one) (command[one] && horizon_left[one] == 0)
#define is_guardian_due (must_kill(1) || must_kill(2) || must_kill(3))
/* A run that only waits renews its session in time. */
#define is_counting(one) (session[one] > 0 && is_granted[one] && server_left[one] > 0)
#define has_horizon(one) (is_granted[one] && horizon_left[one] > 0)
#define is_waiting_for(own, one) (waits[own].left[one] != UNSEEN && waits[own].left[one] > 0)
#define waits_for_marks(own) (is_waiting_for(own, 1) || is_waiting_for(own, 2) || is_waiting_for(own, 3))
#define moves(one) (is_counting(one) || has_horizon(one) || waits_for_marks(one))

inline count_down(one) {
  if
  :: is_counting(one) -> server_left[one]--
  :: else
  fi;
  if
  :: has_horizon(one) -> horizon_left[one]--
  :: else
  fi;
  for (other : 1 .. RUNS) {
    if
    :: is_waiting_for(one, other) -> waits[one].left[other]--
    :: else
    fi
  }
}

inline end_session(one) {
  session[one] = 0;
  server_left[one] = 0;
  delete_ticket(one)
}

proctype Time() {
  byte one, other;
end:
  do
  :: atomic {
      !is_guardian_due && (moves(1) || moves(2) || moves(3)) ->
      for (one : 1 .. RUNS) { count_down(one) }
      other = 0;
      printf("> a tick passes\n")
    }
  :: atomic {
      elections > 0 ->
      elections--; former = term; term++;
      for (one : 1 .. RUNS) {
        server_left[one] = (session[one] > 0 -> TTL : 0)
      }
      printf("> a leader is elected: term %d\n", term)
    }
  :: atomic { former > 0 -> former = 0; printf("> the former leader steps down\n") }
  :: atomic { elections + revokes + crashes > 0 -> elections = 0; revokes = 0; crashes = 0; former = 0 }
  od
}

proctype Etcd(byte one) {
end:
  do
  :: atomic { must_kill(one) -> command[one] = false; printf("> the guardian of run %d kills the command\n", one) }
  :: atomic {
      session[one] > 0 && server_left[one] == 0 && !is_guardian_due ->
      end_session(one);
      printf("> the session of run %d expires\n", one)
    }
  :: atomic {
      revokes > 0 && former > 0 && session[one] > 0 && session[one] <= former ->
      revokes--; end_session(one);
      printf("> the former leader revokes the session of run %d\n", one)
    }
  od
}

/* A run that holds the lock at first, so that others wait. It frees it, and does nothing else. */
proctype Before() {
  atomic { delete_ticket(3); printf("> run 3 frees its claim\n") }
}

init {
  atomic {
    byte one;
    for (one : 1 .. 3) {
      waits[one].left[1] = UNSEEN; waits[one].left[2] = UNSEEN; waits[one].left[3] = UNSEEN
    }
    for (one : 1 .. RUNS) {
      run Run(one);
      run Etcd(one)
    }
    one = 0;
#ifdef BEFORE
    places = 1; place[3] = 1; ticket[3] = HELD;
    run Before();
#endif
    run Time()
  }
}
