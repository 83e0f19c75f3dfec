/*
 * Drains: nothing is granted in their scope, and `drain --wait` returns when nothing runs there.
 *
 * small: -DCHANGES=2
 * large: -DCHANGES=5
 *
 * Two runs ask for the only unit of a resource; run 1 is on a host. The operator drains the host, a group, or the resource, and may
 * put the host into the group. The tickets of a run may vanish with its session, and then their marks are left.
 *
 * Rules
 * D1: A claim and a grant compare that no drain is newer than what was read. [claim-drains, grant-config]
 * D2: If a drain of a group exists, they compare that no group is newer either. [groups-guard]
 * D3: A run keeps its place in the queues only under a drain that stops all of them. [drained-leaves]
 * D4: `drain --wait` counts the marks of vanished tickets as held. [test/safety/operate/drain]
 * D5: `drain --wait` counts a run that was granted and has not started yet. [test/safety/operate/drain-race]
 */
#include "common.pml"

#ifndef CHANGES
#define CHANGES 2
#endif

mtype:ticket ticket[ROOM] = NONE;
byte place[ROOM];
byte places;
bool mark[ROOM];
bool command[ROOM];
bool is_late[ROOM];
bool has_ended[ROOM];

/* The drains, and whether the host of run 1 is in the group; how often each was written. */
bool drains_host, drains_group, drains_resource;
bool is_member;
byte drain_version, group_version;
/* `drain --wait` of the present drain has returned. */
bool is_empty;

byte changes = CHANGES;
byte revokes = 1;

#define is_drained(own) (drains_resource || (own == 1 && (drains_host || (drains_group && is_member))))
#define other(own) (3 - own)
#define counts(one) (ticket[one] != NONE || mark[one])
#define is_first(own) (!counts(other(own)) || place[other(own)] > place[own])

#ifdef WITHOUT_D1
#define are_drains_as_read true
#else
#define are_drains_as_read (drain_version == seen_drains)
#endif
#ifdef WITHOUT_D2
#define are_groups_as_read true
#else
#define are_groups_as_read (!mattered || group_version == seen_groups)
#endif
#ifdef WITHOUT_D3
#define may_stay(own) true
#else
#define may_stay(own) (drains_resource && !(own == 1 && (drains_host || (drains_group && is_member))))
#endif
#ifdef WITHOUT_D4
#define counts_as_held(one) (ticket[one] == HELD)
#else
#ifdef WITHOUT_D5
#define counts_as_held(one) command[one]
#else
#define counts_as_held(one) (ticket[one] == HELD || mark[one])
#endif
#endif

inline read_settings() {
  seen_drains = drain_version;
  seen_groups = group_version;
  mattered = drains_group
}

inline leave_queue(own) {
  ticket[own] = NONE;
  mark[own] = false;
  place[own] = 0
}

proctype Run(byte own) {
  byte seen_drains, seen_groups;
  bool mattered;

  /* Reads whether it is drained. Outside the queues it waits for the end of the drain. */
end_read:
  atomic { !is_drained(own) -> read_settings() }
  atomic {
    if
    :: are_drains_as_read && are_groups_as_read ->
      places++; place[own] = places; ticket[own] = WAITING;
      printf("> run %d is put into the queue\n", own)
    :: else -> goto end_read
    fi
  }
end_decide:
  atomic {
    if
    :: ticket[own] == NONE -> goto over
    :: ticket[own] != NONE && is_drained(own) && !may_stay(own) ->
      leave_queue(own); printf("> run %d leaves the queue\n", own); goto end_read
    :: ticket[own] != NONE && !is_drained(own) && is_first(own) -> read_settings()
    fi
  }
  atomic {
    if
    :: ticket[own] == WAITING && are_drains_as_read && are_groups_as_read ->
      ticket[own] = HELD; mark[own] = true;
      printf("> etcd grants run %d its unit\n", own);
      if
      :: is_drained(own) -> broken("> a claim is granted in the scope of a drain\n")
      :: else
      fi
    :: else -> goto end_decide
    fi
  }
  atomic {
    if
    :: is_late[own] -> goto over
    :: else ->
      command[own] = true; printf("> run %d starts its command\n", own);
      if
      :: is_empty && is_drained(own) -> broken("> a command starts after drain --wait has returned\n")
      :: else
      fi
    fi
  }
  atomic { command[own] = false; printf("> the command of run %d has ended\n", own) }
over:
  atomic { leave_queue(own); has_ended[own] = true; printf("> run %d leaves\n", own) }
}

proctype Operator() {
end:
  do
  :: atomic {
      changes > 0 && !drains_host && !drains_group && !drains_resource ->
      changes--; drain_version++;
      if
      :: drains_host = true; printf("> the operator drains the host of run 1\n")
      :: drains_group = true; printf("> the operator drains the group\n")
      :: drains_resource = true; printf("> the operator drains the resource\n")
      fi
    }
  :: atomic {
      changes > 0 && !is_member -> changes--; is_member = true; group_version++; is_empty = false;
      printf("> the operator puts the host of run 1 into the group\n")
    }
  :: atomic {
      changes > 0 && (drains_host || drains_group || drains_resource) ->
      changes--; drains_host = false; drains_group = false; drains_resource = false; is_empty = false;
      printf("> the operator ends the drain\n")
    }
  :: atomic { changes + revokes > 0 -> changes = 0; revokes = 0 }
  :: atomic {
      (drains_host || drains_group || drains_resource) && !is_empty &&
        !(is_drained(1) && counts_as_held(1)) && !(is_drained(2) && counts_as_held(2)) ->
      is_empty = true; printf("> drain --wait returns\n");
      if
      :: (is_drained(1) && command[1]) || (is_drained(2) && command[2]) ->
        broken("> drain --wait has returned, and a command lives\n")
      :: else
      fi
    }
  od
}

/* A former leader revokes a session. At the horizon the guardian kills, and after that the mark is removed. */
proctype Chance(byte one) {
end:
  do
  :: atomic {
      revokes > 0 && ticket[one] != NONE ->
      revokes--; ticket[one] = NONE; printf("> the ticket of run %d vanishes\n", one)
    }
  :: atomic {
      ticket[one] == NONE && mark[one] && !is_late[one] -> is_late[one] = true; command[one] = false;
      printf("> the guardian of run %d kills the command at the horizon\n", one)
    }
  :: atomic { is_late[one] && mark[one] -> mark[one] = false; printf("> the mark of run %d is removed\n", one) }
  od
}

#define waits_in_vain(own) (!is_drained(own) && ticket[own] != HELD && ticket[other(own)] != HELD && !has_ended[own])

/* When nothing goes on any more, only runs in the scope of a drain still wait. */
proctype Judge() {
end:
  timeout ->
  if
  :: waits_in_vain(1) || waits_in_vain(2) -> broken("> a run waits behind one that is drained\n")
  :: else
  fi
}

init {
  atomic { run Run(1); run Run(2); run Operator(); run Chance(1); run Chance(2); run Judge() }
}
