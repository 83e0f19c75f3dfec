/*
 * Occurrences of a schedule: two workers claim, run and end them, and each end adds a run to the schedule that follows.
 *
 * small: -DFAILURES=0
 * small: -DWRITES=0
 * small: -DOLDER
 * large: -DOCCURRENCES=2
 *
 * Occurrences do not overlap. A worker that loses its session, or dies, does not come back here; only one does.
 *
 * OLDER: the workers are of a version from before marks, so the state names no start, and no leader is replaced.
 *
 * Taken for granted: a task is dead before its session expires (session.pml). The time to live passes after a start has
 * vanished only when its task is dead, because nothing renews it any more (vanished.pml).
 *
 * Rules
 * W1: A claim compares the state of the schedule. [worker-claim-due]
 * W2 (-DOLDER): A claim compares that nothing runs. [test/worker/claims/claim-occurrence]
 * W3: A claim that was refused because an earlier copy of it was applied is a claim. [worker-claim-own]
 * W4: A claim moves the occurrence to the open ones. A start that is lost with its worker is made again. [worker-claim-opens, test/schedule/state/start-occurrence]
 * W5 (-DFAILURES=0 -DWRITES=0): An end compares that the running key is that of its start. [worker-end-own, test/worker/engine/interruptions]
 * W6: An end compares the states of the schedules that follow. [worker-chain-state]
 * W7: An end and the runs that follow are written in one transaction. [test/safety/schedules/chains]
 * V11: An open occurrence whose running key has vanished is not started again before the time to live has passed. [vanished-occurrence]
 * V11a: The time counts from a read of etcd that shows that the running key is missing. [test/worker/claims/claim-occurrence]
 */
#include "common.pml"

#ifndef OCCURRENCES
#define OCCURRENCES 1
#endif
#ifndef WRITES
#define WRITES 1
#endif
#ifndef FAILURES
#define FAILURES 1
#endif

/* The state of the schedule: the next occurrence, the open one and its last start, and how often it was written. */
byte next = 1;
byte open;
byte open_start;
byte version;
/* The running key: the start that it belongs to, 0 if there is none. */
byte running;
byte starts;
/* The state of the schedule that follows: runs that wait. How often it was written, and how many it has started. */
byte follower = 1;
byte follower_version;
byte follower_started;

/* What is true: which occurrences have ended, which worker is lost, and whose task lives. */
bool has_ended[4];
byte ends;
bool task[3];
byte start_of[3];
bool is_lost[3];
bool is_dead[3];

/* The start whose running key a worker has found missing, whether it was, and whether the time to live has passed since. */
byte found_missing[3];
bool was_missing[3];
bool is_time_over[3];

byte losses = 1;
byte writes = WRITES;
byte failures = FAILURES;
bool had_election;

#define other(own) (3 - own)
#define is_done (next > OCCURRENCES && open == 0)

#ifdef WITHOUT_W1
#define is_state_as_read true
#else
#define is_state_as_read (version == seen_version)
#endif
#ifdef WITHOUT_W2
#define is_nothing_running true
#else
#define is_nothing_running (running == 0)
#endif
#ifdef WITHOUT_W3
#define is_own_claim false
#else
#define is_own_claim (running == start_of[own])
#endif
#ifdef WITHOUT_W5
#define is_own_end true
#else
#define is_own_end (running == start_of[own])
#endif
#ifdef WITHOUT_W6
#define is_follower_as_read true
#else
#define is_follower_as_read (follower_version == seen_follower_version)
#endif
#ifdef WITHOUT_V11a
#define is_found_running false
#else
#define is_found_running (running == seen_start)
#endif

inline add_follower() {
  follower = seen_follower + 1;
  follower_version++
}

proctype Worker(byte own) {
  byte seen_version, seen_next, seen_open, seen_start, seen_follower, seen_follower_version, taken;
  bool has_succeeded;

  /* Its cache follows the running keys and the states. The one can be older than the other. */
look:
  if
  :: is_done || is_lost[own] -> goto over
  :: running == 0 && !is_done && !is_lost[own]
  fi;
  atomic {
    seen_version = version; seen_next = next; seen_open = open; seen_start = open_start;
    if
    :: seen_open == 0 && seen_next > OCCURRENCES -> goto look
    :: else
    fi
  }
#ifndef WITHOUT_V11
  /* A start whose running key is missing. Without an election, its leader has counted the time of its session. */
  atomic {
    if
    :: seen_open == 0 || seen_start == 0
    :: seen_open > 0 && seen_start > 0 && is_found_running -> goto look
    :: seen_open > 0 && seen_start > 0 && !is_found_running && !had_election
    :: seen_open > 0 && seen_start > 0 && !is_found_running && had_election && found_missing[own] != seen_start ->
      found_missing[own] = seen_start; was_missing[own] = (running != seen_start); is_time_over[own] = false;
      printf("> worker %d finds start %d missing\n", own, seen_start);
      goto wait
    :: seen_open > 0 && seen_start > 0 && !is_found_running && had_election && found_missing[own] == seen_start ->
      if
      :: is_time_over[own]
      :: else -> goto wait
      fi
    fi
  }
#endif

  /* The claim. It writes what it has computed from what it has seen. */
  atomic {
    starts++; start_of[own] = starts;
    if
    :: is_state_as_read && is_nothing_running ->
      taken = (seen_open > 0 -> seen_open : seen_next);
      next = (seen_open > 0 -> seen_next : seen_next + 1);
#ifdef WITHOUT_W4
      open = 0;
#else
      open = taken;
#endif
#ifndef OLDER
      open_start = start_of[own];
#endif
      running = start_of[own]; version++; seen_version = version;
      printf("> worker %d claims occurrence %d, start %d\n", own, taken, start_of[own])
    :: else -> start_of[own] = 0; goto look
    fi
  }
  /* The answer, or, if it was lost, that to a repeated call: it is refused. */
  if
  :: true
  :: true -> atomic {
      printf("> the answer to worker %d is lost\n", own);
      if
      :: is_own_claim || is_lost[own]
      :: else -> goto look
      fi
    }
  fi;

  atomic {
    if
    :: is_lost[own] -> goto over
    :: else ->
      task[own] = true; printf("> worker %d starts occurrence %d\n", own, taken);
      if
      :: task[other(own)] -> broken("> two tasks of a schedule run\n")
      :: has_ended[taken] -> broken("> an occurrence is started again after its end\n")
      :: else
      fi
    fi
  }
  atomic {
    if
    :: is_lost[own] -> goto over
    :: !is_lost[own] -> task[own] = false; has_succeeded = true; printf("> the task of worker %d succeeds\n", own)
    :: !is_lost[own] && failures > 0 ->
      failures--; task[own] = false; has_succeeded = false; printf("> the task of worker %d fails\n", own)
    fi
  }

  /* The end. If the states have changed since they were read, they are read again. */
complete:
  atomic { seen_follower = follower; seen_follower_version = follower_version }
  atomic {
    if
    :: is_dead[own] -> goto over
    :: !is_dead[own] && is_own_end && version == seen_version && (is_follower_as_read || !has_succeeded) ->
      running = 0; open_start = 0; version++; start_of[own] = 0;
      open = (has_succeeded -> 0 : taken);
      if
      :: has_succeeded ->
        printf("> worker %d ends occurrence %d\n", own, taken);
        if
        :: has_ended[taken] -> broken("> an occurrence ends twice\n")
        :: else
        fi;
        has_ended[taken] = true; ends++;
#ifndef WITHOUT_W7
        add_follower()
#endif
      :: !has_succeeded -> printf("> worker %d writes that occurrence %d has failed\n", own, taken)
      fi
    :: !is_dead[own] && is_own_end && !(version == seen_version && (is_follower_as_read || !has_succeeded)) ->
      seen_version = version; goto complete
    :: !is_dead[own] && !is_own_end ->
      /* Its running key has vanished: it lets others start the occurrence again. */
      if
      :: running == 0 && open_start == start_of[own] -> open_start = 0; version++
      :: else
      fi;
      start_of[own] = 0; has_succeeded = false
    fi
  }
#ifdef WITHOUT_W7
  atomic {
    if
    :: is_dead[own] || !has_succeeded
    :: !is_dead[own] && has_succeeded -> seen_follower = follower; add_follower()
    fi
  }
#endif
  goto look;

wait:
  atomic {
    if
    :: is_lost[own] || is_time_over[own] || version != seen_version || running != 0
    fi
  }
  goto look;

over:
  skip
}

/* The schedule that follows starts its runs. */
proctype Follower() {
end:
  do
  :: atomic { follower > 0 -> follower--; follower_version++; follower_started++; printf("> the schedule that follows starts a run\n") }
  od
}

proctype Chance(byte own) {
end:
  do
  :: atomic {
      losses > 0 && !is_lost[own] ->
      losses--; is_lost[own] = true; is_dead[own] = true; task[own] = false; printf("> worker %d dies\n", own)
    }
  :: atomic {
      losses > 0 && had_election && running > 0 && running == start_of[own] ->
      losses--; running = 0; printf("> a former leader revokes the session of worker %d\n", own)
    }
  :: atomic {
      start_of[own] > 0 && running != start_of[own] && !is_lost[own] ->
      is_lost[own] = true; task[own] = false; printf("> the horizon of worker %d passes, and its task is killed\n", own)
    }
  :: atomic {
      is_lost[own] && running > 0 && running == start_of[own] ->
      running = 0; printf("> the session of worker %d expires\n", own)
    }
  :: atomic {
      found_missing[own] > 0 && !is_time_over[own] &&
        !(was_missing[own] && !is_lost[other(own)] && start_of[other(own)] == found_missing[own]) ->
      is_time_over[own] = true; printf("> the time to live has passed for worker %d\n", own)
    }
  od
}

proctype Etcd() {
end:
  do
#ifndef OLDER
  :: atomic { !had_election -> had_election = true; printf("> a leader is elected\n") }
#endif
  :: atomic { writes > 0 -> writes--; version++; printf("> an operator writes the state of the schedule\n") }
  :: atomic { losses + writes + failures > 0 -> losses = 0; writes = 0; failures = 0 }
  od
}

proctype Judge() {
end:
  timeout ->
  if
  :: ends < OCCURRENCES -> broken("> an occurrence is lost\n")
  :: ends == OCCURRENCES && follower_started != ends + 1 -> broken("> a run in the chain is lost, or added twice\n")
  :: else
  fi
}

init {
  atomic {
    run Worker(1); run Worker(2); run Chance(1); run Chance(2); run Etcd(); run Follower(); run Judge()
  }
}
