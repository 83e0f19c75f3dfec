/*
 * The attempts of one call: an agent makes the first one, another process the second; a run elsewhere wants the same lock.
 *
 * small: -DLOSSES=1
 *
 * The second attempt begins when the connection of the first has ended, on a session of its own. The agent may be frozen then, and go on
 * much later: it still owns its session.
 *
 * Rules
 * S8: An attempt removes the ticket of an earlier one of its call. [agent-earlier]
 * S8a: An attempt never removes the ticket of a later one. [agent-later]
 * S8b: Each attempt has a new run id, and so a ticket of its own. [agent-same-run]
 */
#include "common.pml"

#ifndef LOSSES
#define LOSSES 1
#endif

#define ELSEWHERE 3

/* The tickets of attempts 1 and 2, and of the run elsewhere; which attempt the launcher is connected to; the commands. */
mtype:ticket ticket[ROOM] = NONE;
byte connected = 1;
bool command;
bool command_elsewhere;
bool is_second_over;
byte losses = LOSSES;

#define other(own) (3 - own)
#ifdef WITHOUT_S8b
#define key(own) 1
#else
#define key(own) own
#endif
#ifdef WITHOUT_S8
#define may_remove(own) false
#else
#ifdef WITHOUT_S8a
#define may_remove(own) true
#else
#define may_remove(own) (own == 2)
#endif
#endif

inline check() {
  if
  :: command && command_elsewhere -> broken("> two commands run\n")
  :: else
  fi
}

proctype Attempt(byte own) {
  bool is_own, is_other;
  (connected >= own);
look:
  /* An agent notices the end of a connection at once, late, or never. */
  if
  :: connected != own -> goto leave
  :: true
  fi;
  atomic {
    is_own = (ticket[key(own)] != NONE);
    is_other = (ticket[other(own)] != NONE && key(own) != key(other(own)));
    if
    :: is_own -> goto granted
    :: !is_own && is_other && may_remove(own)
    :: !is_own && is_other && !may_remove(own) -> goto wait
    :: !is_own && !is_other && ticket[ELSEWHERE] != NONE -> goto wait
    :: !is_own && !is_other && ticket[ELSEWHERE] == NONE -> goto claim
    fi
  }
  atomic {
    if
    :: ticket[other(own)] != NONE -> ticket[other(own)] = NONE; printf("> attempt %d removes the ticket of attempt %d\n", own, other(own))
    :: else
    fi;
    goto look
  }
claim:
  atomic {
    if
    :: ticket[1] == NONE && ticket[2] == NONE && ticket[ELSEWHERE] == NONE ->
      ticket[key(own)] = HELD; printf("> etcd grants attempt %d the lock\n", own)
    :: else -> goto look
    fi
  }
granted:
  if
  :: own == 1 && connected == 2 && !is_second_over -> printf("> attempt 1 takes no further step\n"); goto over
  :: true
  fi;
  /* The launcher obeys only its newest connection. */
  atomic {
    if
    :: connected == own -> command = true; printf("> the command starts, as attempt %d has said\n", own); check()
    :: else -> goto leave
    fi
  }
  atomic { command = false; printf("> the command ends\n") }
leave:
  atomic {
    is_second_over = is_second_over || own == 2;
    if
    :: ticket[key(own)] != NONE -> ticket[key(own)] = NONE; printf("> attempt %d removes its ticket\n", own)
    :: else
    fi
  }
  goto over;
wait:
  if
  :: ticket[ELSEWHERE] == NONE && (ticket[other(own)] == NONE || may_remove(own)) -> goto look
  :: connected != own -> goto leave
  fi;
over:
  skip
}

proctype Elsewhere() {
  atomic { ticket[1] == NONE && ticket[2] == NONE -> ticket[ELSEWHERE] = HELD; printf("> etcd grants a run elsewhere the lock\n") }
  atomic { command_elsewhere = true; check() }
  atomic { command_elsewhere = false }
  atomic { ticket[ELSEWHERE] = NONE; printf("> the run elsewhere frees the lock\n") }
}

/* A command that runs keeps its attempt: only a call that has none is made again. */
proctype Launcher() {
end:
  do
  :: atomic { losses > 0 && connected == 1 && !command -> losses--; connected = 2; printf("> the launcher loses its connection, and another process makes attempt 2\n") }
  od
}

init {
  atomic { run Attempt(1); run Attempt(2); run Elsewhere(); run Launcher() }
}
