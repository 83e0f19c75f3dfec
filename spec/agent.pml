/*
 * The shared session of an agent: two agents one after the other, and the run of a launcher.
 *
 * small: -DCOPIES=1
 * small: -DCOPIES=1 -DVANISHES
 * large: -DCOPIES=2 -DVANISHES
 *
 * Agent 1 may freeze at any step and go on later. The launcher then brings its run to agent 2, which takes the session over.
 *
 * Rules
 * S1: Every write of an agent compares that the session is still its own. [agent-fence]
 * S2: A launcher knows its run before the claim is sent. [agent-note]
 * S3: For one time to live after a takeover, no ticket is removed. [agent-sweep-time]
 * S4: A run whose ticket is about to be removed is not resumed. [agent-condemned]
 * S5: Before the ticket of an unknown run is removed, its processes are killed. [agent-kill]
 * S7: A run that leaves removes its own ticket. It does not end the session. [agent-revoke, agent-leave]
 * S9: Only the newest connection of a launcher counts. [test/core/process/launcher-agent-away.long]
 * S9a: A command starts only before the deadline that came with the message to start. [test/core/process/deadlines]
 * S10: A deadline moves only after a later read of the own ticket. [agent-proof]
 * S12: An agent removes tickets that belong to no run. [agent-sweep]
 * S13: An agent that has lost the session writes nothing into the history, and no run twice. [agent-history-moved, agent-history]
 * V10 (-DVANISHES): An agent that has not started the command leaves the mark of a vanished ticket. [vanished-continued]
 */
#include "common.pml"

#ifndef COPIES
#define COPIES 1
#endif

/* etcd: the agent that the fence of the session names, the ticket of the run, and that of another run of the host. */
byte fence = 1;
bool ticket;
bool mark;
bool other_ticket = true;
/* How often the run is in the history of its lock. */
byte past;

/* The launcher: the agent that it is connected to, whether it knows its run, and the agent whose message to start has not arrived. */
byte connected = 1;
bool has_note;
byte start_from;
/* Its command, whether that was started and has ended, and whether the guardians are frozen: then no deadline kills. */
bool command;
bool was_started;
bool has_ended;
bool is_frozen;

/* Agent 1 has left the run. Agent 2 serves the run, or it does not resume it any more. */
bool has_left;
bool serves;
bool is_condemned;
/* A time to live has passed since agent 2 took the session over. */
bool has_waited;
/* An operator has removed the ticket by force. */
bool is_forced;

byte claim_copies;
bool may_force = true;
#ifdef VANISHES
bool may_vanish = true;
#endif

#ifdef WITHOUT_S1
#define owns(agent) true
#else
#define owns(agent) (fence == agent)
#endif
#ifdef WITHOUT_S3
#define may_sweep true
#else
#define may_sweep has_waited
#endif
#ifdef WITHOUT_S4
#define may_resume true
#else
#define may_resume (!is_condemned)
#endif
#ifdef WITHOUT_S9
#define is_newest true
#else
#define is_newest (connected == start_from)
#endif

/* The deadlines that agent 1 gave have passed a time to live after it was replaced. */
#ifdef WITHOUT_S9a
#define is_before_deadline true
#else
#define is_before_deadline (start_from == 2 || !has_waited)
#endif

inline check() {
  if
  :: command && !ticket && !mark && !is_forced -> broken("> a run elsewhere can get the lock, and the command lives\n")
  :: else
  fi
}

/* A claim compares that the ticket is absent. So a copy has no effect while the ticket is there. */
inline put_ticket() {
  if
  :: owns(1) && !ticket -> ticket = true; mark = true; printf("> the claim of agent 1 is applied\n")
  :: else
  fi
}

inline remove_ticket(agent) {
  if
  :: owns(agent) && ticket ->
    ticket = false;
    mark = false;
    printf("> agent %d removes the ticket\n", agent);
#ifdef WITHOUT_S7
    other_ticket = false;
    printf("> it ends the session\n");
#endif
    if
    :: !other_ticket -> broken("> another run of the host has lost its claim\n")
    :: else
    fi;
    check()
  :: else
  fi
}

/* Writes that the run has ended into the history of its lock. */
inline append(agent) {
  if
#ifdef WITHOUT_S13
  :: was_started ->
#else
  :: was_started && owns(agent) && past == 0 ->
#endif
    past++; printf("> agent %d writes the run into the history\n", agent);
    if
    :: past > 1 -> broken("> a run is in the history twice\n")
    :: else
    fi
  :: else
  fi
}

/* The claim is lost, and the command is dead. */
inline delete_mark(agent) {
  if
  :: !ticket && mark -> mark = false; printf("> agent %d deletes the mark\n", agent); check()
  :: else
  fi
}

proctype First() {
  bool knows_end;
#ifndef WITHOUT_S2
  atomic {
    if
    :: connected == 1 -> has_note = true
    :: connected != 1 -> goto gone
    fi
  }
#endif
  atomic { claim_copies = COPIES; put_ticket() }
#ifdef WITHOUT_S2
  atomic {
    if
    :: connected == 1 -> has_note = true
    :: connected != 1 -> goto leave
    fi
  }
#endif
  if
  :: atomic { connected == 1 && ticket -> start_from = 1; printf("> agent 1 sends the start\n") }
  :: connected != 1 -> goto leave
  :: connected == 1 && !ticket -> goto leave
  fi;
  /* The command ends, or the launcher goes before it has said that the command was started. */
  if
  :: atomic { has_ended && connected == 1 -> knows_end = true }
  :: connected != 1 && !was_started
  :: connected != 1 && was_started -> goto over
  fi;
leave:
  atomic {
#ifdef WITHOUT_V10
    delete_mark(1);
#else
    if
    :: knows_end -> delete_mark(1)
    :: else
    fi;
#endif
    remove_ticket(1);
    append(1);
    has_left = true
  }
gone:
over:
#ifdef WITHOUT_S12
  skip
#else
end:
  do
  :: atomic { has_left && ticket && fence == 1 -> printf("> agent 1 finds a ticket without a run\n"); remove_ticket(1) }
  od
#endif
}

/* The launcher with its guardians. */
proctype Launcher() {
end:
  do
  :: atomic { connected == 1 && !has_ended -> connected = 0; printf("> the launcher loses its connection to agent 1\n") }
  :: atomic { connected == 0 && fence == 2 -> connected = 2; printf("> the launcher reports to agent 2\n") }
  :: atomic {
      start_from > 0 ->
      if
      :: is_newest && is_before_deadline && !was_started ->
        command = true; was_started = true; printf("> the command starts, as agent %d has said\n", start_from);
        check()
      :: else -> printf("> the launcher ignores the start\n")
      fi;
      start_from = 0
    }
  :: atomic { command -> command = false; has_ended = true; printf("> the command ends\n") }
  :: atomic { command && !is_frozen -> is_frozen = true; printf("> the guardians freeze\n") }
  od
}

inline kill() {
  if
  :: command -> command = false; has_ended = true; printf("> agent 2 kills the command\n")
  :: else
  fi
}

/* Agent 2 takes the session over when a launcher of the host reports, and resumes the run when its own does. */
proctype Second() {
  atomic { fence = 2; printf("> agent 2 takes the session over\n") }
end:
  do
  :: atomic {
      connected == 2 && !serves ->
      serves = true;
      if
      :: !has_note ->
        if
        :: ticket -> broken("> a run that reported in time has lost its claim\n")
        :: else -> printf("> agent 2 makes a new attempt\n")
        fi
      :: has_note && !may_resume ->
        if
        :: !has_waited -> broken("> a run that reported in time has lost its claim\n")
        :: else
        fi;
        kill()
      :: has_note && may_resume && !ticket -> kill()
      :: has_note && may_resume && ticket && !was_started -> start_from = 2; printf("> agent 2 resumes the run, and sends the start\n")
      :: has_note && may_resume && ticket && was_started -> printf("> agent 2 resumes the run\n")
      fi
    }
  :: atomic { serves && has_ended && ticket -> remove_ticket(2); append(2) }
  /* A renewal. It gives the command more time. */
  :: atomic {
      serves && command && !ticket ->
#ifdef WITHOUT_S10
      broken("> the deadline moves of a command whose claim is gone\n")
#else
      printf("> agent 2 reads that the ticket is gone\n"); kill(); delete_mark(2)
#endif
    }
  od
}

/* Agent 2 looks for tickets of runs that nobody has reported. The check and the refusal to resume them are one step. */
proctype Sweep() {
#ifdef WITHOUT_S12
  skip
#else
end:
  atomic { fence == 2 && ticket && !serves && may_sweep -> is_condemned = true; printf("> agent 2 finds a ticket without a run\n") }
#ifndef WITHOUT_S5
  atomic { kill() }
#endif
  atomic { remove_ticket(2) }
#endif
}

proctype Chance() {
end:
  do
  :: atomic { claim_copies > 0 -> claim_copies--; printf("> a copy of the claim arrives late\n"); put_ticket() }
  /* Until then a command may run by a deadline of agent 1. */
  :: atomic {
      fence == 2 && !has_waited -> has_waited = true; printf("> a time to live has passed\n");
      if
      :: command && !serves && !is_frozen -> command = false; has_ended = true; printf("> the guardians kill the command at its deadline\n")
      :: else
      fi
    }
#ifdef VANISHES
  :: atomic { may_vanish && ticket && fence == 2 -> may_vanish = false; ticket = false; other_ticket = false; fence = 0; printf("> a former leader revokes the session\n") }
#endif
  :: atomic { may_force && ticket && serves -> may_force = false; is_forced = true; ticket = false; mark = false; printf("> an operator removes the ticket by force\n") }
  :: atomic { may_force -> may_force = false }
  od
}

proctype Judge() {
end:
  timeout ->
  if
  :: ticket && !command && (has_left || fence == 2) -> broken("> a ticket is left that belongs to no run\n")
  :: else
  fi
}

init {
  atomic { run First(); run Launcher(); run Second(); run Sweep(); run Chance(); run Judge() }
}
