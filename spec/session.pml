/*
 * The session and its horizon: a command ends before etcd can expire its session.
 *
 * small: -DTTL=4 -DELECTIONS=2
 * large: -DTTL=12 -DELECTIONS=4
 *
 * One run with its command. Time passes in ticks, without an end: each variable counts the ticks that are left, or have
 * passed. The leader of etcd counts the time of the session, and an election gives it all its time again. A leader that was
 * replaced may not know that yet: it still answers, with its own term, and what it answers has no effect.
 *
 * Taken for granted: the guardian is fast. It kills at the horizon before the next tick. It may freeze; then the runner, or
 * the agent, is as fast. Both can freeze only together with the machine.
 *
 * Rules
 * H1: The time of a session counts from when the call that granted it was sent. [grant-time]
 * H2: The time of a renewal counts from when it was sent. [renewal-time]
 * H3: A renewal counts only if it and a later read state the raft term of the read before. [renewal-term]
 * H4: The horizon has a margin, because clocks run at different speeds. [margin]
 * H5: The read that proves a renewal is sent after it. [renewal-term]
 * H6: The guardian knows the horizon. It kills the command also when the runner is frozen or dead. [test/core/process/deadlines,
 *     test/core/process/runner-death]
 * S6: At the horizon, the runner or the agent kills what a frozen guardian has not killed. [agent-frozen]
 * H7: A command starts only before the horizon, by the clock at that instant. [test/core/process/deadlines]
 */
#include "common.pml"

#ifndef TTL
#define TTL 4
#endif
#ifndef ELECTIONS
#define ELECTIONS 2
#endif
#ifdef WITHOUT_H4
#define MARGIN 0
#else
#define MARGIN 1
#endif

/* etcd: the term of its leader, whether the leader before it still answers, whether the session exists, and how long. */
byte term = 1;
bool has_former;
bool exists;
byte server_left;

/* The run: ticks until its horizon, whether its command lives, ticks since the call under way was sent. */
byte horizon_left;
bool command;
byte since_sent;

/* What chance may still do. The clock of the run loses one tick against that of etcd. */
byte elections = ELECTIONS;
bool may_lag = true;
bool may_freeze = true;
/* The guardian is frozen for ever. */
bool is_frozen;

#define later(a, b) (a > b -> a : b)
#define time_left(since) (TTL - MARGIN > (since) -> TTL - MARGIN - (since) : 0)
#define must_kill (command && horizon_left == 0)
#ifdef WITHOUT_H6
#define does_guardian_kill false
#else
#define does_guardian_kill (!is_frozen)
#endif
/* Nobody knows whether the runner is frozen, so only a frozen guardian is proof that it is not. */
#ifdef WITHOUT_S6
#define does_runner_kill false
#else
#define does_runner_kill is_frozen
#endif
/* Who kills is faster than a tick. */
#define may_pass (!must_kill || !(does_guardian_kill || does_runner_kill))

#ifdef WITHOUT_H3
#define is_same_term true
#else
#define is_same_term (renewed == proved && before == proved)
#endif

inline send() {
  since_sent = 0
}

inline start() {
  command = true;
  printf("> the command starts\n");
  if
  :: !exists -> broken("> a command starts although its session has expired\n")
  :: else
  fi
}

proctype Runner() {
  /* The terms that the renewal, the read after it and the read before it stated; 0: none. */
  byte renewed, proved, before, skipped;

  atomic { send(); printf("> the runner asks for a session\n") }
  atomic { exists = true; server_left = TTL; before = term; printf("> etcd grants the session in term %d\n", term) }
#ifdef WITHOUT_H1
  atomic { send() }
#endif
  atomic { horizon_left = time_left(since_sent); printf("> the answer arrives: %d ticks to the horizon\n", horizon_left) }

#ifdef WITHOUT_H7
  if
  :: horizon_left == 0 -> goto over
  :: else
  fi;
  atomic { start() }
#else
  atomic {
    if
    :: horizon_left == 0 -> goto over
    :: else -> start()
    fi
  }
#endif

renew:
#ifdef WITHOUT_H5
  atomic { proved = (exists -> term : 0); printf("> a read states term %d\n", proved) }
#endif
  atomic {
    if
    :: !command -> goto over
    :: horizon_left == 0 -> command = false; goto over
    :: command && horizon_left > 0 -> command = false; printf("> the command ends\n"); goto over
    :: command && horizon_left > 0 -> send(); printf("> the runner sends a renewal\n")
    fi
  }
  atomic {
    if
    :: exists -> server_left = TTL; renewed = term; printf("> the leader renews the session in term %d\n", term)
    :: has_former -> renewed = term - 1; printf("> the former leader of term %d says that it has renewed it\n", term - 1)
    :: renewed = 0; printf("> the renewal is lost\n")
    fi
  }
#ifdef WITHOUT_H2
  atomic { skipped = since_sent }
#endif
#ifndef WITHOUT_H5
  atomic { proved = (exists -> term : 0); printf("> a read states term %d\n", proved) }
#endif
  atomic {
    if
    :: horizon_left == 0 || !command -> goto over
    :: horizon_left > 0 && command && renewed > 0 && is_same_term ->
      horizon_left = later(horizon_left, time_left(since_sent - skipped));
      printf("> the renewal counts: %d ticks to the horizon\n", horizon_left)
    :: else
    fi;
    before = proved
  }
  goto renew;

over:
  atomic { command = false }
}

proctype Guardian() {
end:
  do
  :: atomic { must_kill && does_guardian_kill -> command = false; printf("> the guardian kills the command\n") }
  :: atomic { may_freeze && command -> may_freeze = false; is_frozen = true; printf("> the guardian freezes\n") }
  :: atomic { must_kill && does_runner_kill -> command = false; printf("> the runner kills the command\n") }
  od
}

inline tick(lag) {
  server_left = (server_left > 0 -> server_left - 1 : 0);
  if
  :: !lag ->
    horizon_left = (horizon_left > 0 -> horizon_left - 1 : 0);
    since_sent = (since_sent < TTL -> since_sent + 1 : TTL)
  :: else
  fi
}

proctype Time() {
end:
  do
  :: atomic { may_pass -> tick(false); printf("> a tick passes\n") }
  :: atomic { may_pass && may_lag -> may_lag = false; tick(true); printf("> a tick passes that the clock of the runner loses\n") }
  :: atomic {
      elections > 0 ->
      elections--; term++; has_former = true;
      server_left = (exists -> TTL : 0);
      printf("> a leader is elected: term %d\n", term)
    }
  :: atomic { has_former -> has_former = false; printf("> the former leader steps down\n") }
  :: atomic {
      exists && server_left == 0 && may_pass ->
      exists = false; printf("> the leader expires the session\n");
      if
      :: command -> broken("> the session has expired while the command lives\n")
      :: else
      fi
    }
  od
}

init {
  atomic { run Runner(); run Guardian(); run Time() }
}
