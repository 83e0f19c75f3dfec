/*
 * The release that grants: an agent frees the lock of run 1 and grants it to run 2 of the same agent in one transaction.
 *
 * small: -DDRAINS=1
 * large: -DDRAINS=3
 *
 * Run 1 holds the lock at first. Run 2, of the same agent, and run 3, elsewhere, come to the queue in any order.
 *
 * Rules
 * L1: Only the run whose ticket is directly behind the freed one is offered the lock, as it has read. [agent-ahead]
 * L2: The grant compares that the ticket of the successor is as it was read. [grant-reset]
 * L3: The grant compares that no drain is newer than what the successor has read. [grant-config]
 * L4: A successor without an answer reads its ticket. [granted-unseen]
 */
#include "common.pml"

#ifndef DRAINS
#define DRAINS 1
#endif

mtype:ticket ticket[ROOM] = NONE;
byte place[ROOM];
byte places = 1;
bool command[ROOM];
bool has_ended[ROOM];

bool is_drained;
byte drain_version;
byte drains = DRAINS;
byte removals = 1;

/* The offer: run 2 waits for it. The drains that it has read. Whether the release was answered, and has granted. */
bool is_offered;
byte seen_drains;
bool is_answered;
bool is_granted;

#define is_before(one, own) (one != own && ticket[one] != NONE && place[one] < place[own])
#define is_somebody_before(own) (is_before(1, own) || is_before(2, own) || is_before(3, own))
#define is_other_holding(one, own) (one != own && ticket[one] == HELD)
#define is_somebody_holding(own) (is_other_holding(1, own) || is_other_holding(2, own) || is_other_holding(3, own))
#ifdef WITHOUT_L1
#define is_directly_behind true
#else
#define is_directly_behind (!is_before(3, 2))
#endif
#ifdef WITHOUT_L2
#define is_ticket_as_read true
#else
#define is_ticket_as_read (ticket[2] == WAITING)
#endif
#ifdef WITHOUT_L3
#define are_drains_as_read true
#else
#define are_drains_as_read (drain_version == seen_drains)
#endif

inline grant(own) {
  if
  :: ticket[own] == NONE -> places++; place[own] = places
  :: else
  fi;
  ticket[own] = HELD;
  printf("> etcd grants the lock to run %d\n", own);
  if
  :: is_somebody_holding(own) -> broken("> two runs hold the lock\n")
  :: is_drained -> broken("> a claim is granted in the scope of a drain\n")
  :: has_ended[own] -> broken("> a run that has left holds the lock\n")
  :: else
  fi
}

inline free(own) {
  ticket[own] = NONE; place[own] = 0; has_ended[own] = true;
  printf("> run %d leaves\n", own)
}

/* Run 1 frees the lock, with a grant for run 2 if it has offered itself. The answer can be lost. */
proctype Holder() {
  bool offers;
  atomic { command[1] = false; offers = is_offered; printf("> the command of run 1 has ended\n") }
  atomic {
    free(1);
    if
    :: offers && is_ticket_as_read && are_drains_as_read -> grant(2); is_granted = true
    :: else
    fi
  }
  if
  :: is_answered = true
  :: true -> printf("> the answer to the release is lost\n")
  fi
}

proctype Successor() {
  atomic { places++; place[2] = places; ticket[2] = WAITING; printf("> run 2 is put into the queue\n") }
decide:
  atomic {
    is_offered = false;
    if
    :: ticket[2] == NONE -> goto leave
    :: ticket[2] == HELD -> goto granted
    :: ticket[2] == WAITING && !is_drained && !is_somebody_before(2) -> seen_drains = drain_version; goto ask
    :: ticket[2] == WAITING && !is_drained && ticket[1] == HELD && is_directly_behind ->
      seen_drains = drain_version; is_offered = true; printf("> run 2 waits to be granted with the release of run 1\n")
    :: ticket[2] == WAITING && ticket[1] == HELD && (is_drained || !is_directly_behind) -> goto wait
    :: ticket[2] == WAITING && ticket[1] != HELD && is_somebody_before(2) -> goto wait
    :: ticket[2] == WAITING && ticket[1] != HELD && !is_somebody_before(2) && is_drained -> goto wait
    fi
  }
  /* It waits for the answer, or for a change of what it has read. */
  if
  :: is_answered && is_granted -> goto granted
#ifndef WITHOUT_L4
  :: ticket[1] == NONE || ticket[2] != WAITING || is_drained -> goto decide
#else
  :: ticket[2] == NONE -> goto decide
#endif
  fi;
wait:
  if
  :: ticket[2] != WAITING -> goto decide
  :: ticket[2] == WAITING && !is_drained && !is_somebody_before(2) -> goto decide
  fi;
ask:
  atomic {
    if
    :: ticket[2] == WAITING && drain_version == seen_drains -> grant(2)
    :: else -> goto decide
    fi
  }
granted:
  atomic {
    command[2] = true; printf("> run 2 starts its command\n");
    if
    :: command[1] || command[3] -> broken("> two commands run\n")
    :: else
    fi
  }
  atomic { command[2] = false }
leave:
  atomic { is_offered = false; free(2) }
}

/* A run of another host. */
proctype Elsewhere() {
  atomic { places++; place[3] = places; ticket[3] = WAITING; printf("> run 3 is put into the queue\n") }
  atomic { !is_somebody_before(3) && !is_drained -> grant(3) }
  atomic {
    command[3] = true;
    if
    :: command[1] || command[2] -> broken("> two commands run\n")
    :: else
    fi
  }
  atomic { command[3] = false }
  atomic { free(3) }
}

proctype Operator() {
end:
  do
  :: atomic { drains > 0 && !is_drained -> drains--; is_drained = true; drain_version++; printf("> an operator drains the lock\n") }
  :: atomic { is_drained -> is_drained = false; drain_version++; printf("> an operator ends the drain\n") }
  :: atomic { removals > 0 && ticket[2] == WAITING -> removals--; ticket[2] = NONE; place[2] = 0; printf("> an operator removes run 2 from the queue\n") }
  :: atomic { removals > 0 -> removals = 0 }
  od
}

init {
  atomic {
    ticket[1] = HELD; place[1] = 1; command[1] = true;
    run Holder(); run Successor(); run Elsewhere(); run Operator()
  }
}
