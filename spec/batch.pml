/*
 * Combined transactions: two runs of one process ask for one lock, and their calls go to etcd in batches.
 *
 * small: -DLOSSES=1
 * large: -DLOSSES=3
 *
 * etcd evaluates the guards of all calls of a batch before it writes for any of them, and all that it writes has one revision.
 *
 * Rules
 * S11: No two calls of one batch put tickets into the same queue. [combined-conflicts, agent-conflicts]
 * S11a: After a batch without an answer, each of its runs looks for its own ticket. [combined-lost]
 */
#include "common.pml"

#ifndef LOSSES
#define LOSSES 1
#endif

mtype:call = { NOTHING, CLAIM, GRANT, FREE };
mtype:answer = { PENDING, ANSWERED, LOST };

mtype:ticket ticket[ROOM] = NONE;
byte place[ROOM];
byte revision;
mtype:call call[ROOM] = NOTHING;
mtype:answer answer[ROOM] = PENDING;
bool command[ROOM];
byte losses = LOSSES;

#define other(own) (3 - own)
#define is_queue_empty (ticket[1] == NONE && ticket[2] == NONE)
/* By the revisions of the tickets: two of one batch have the same. */
#define is_other_before(own) (ticket[other(own)] != NONE && place[other(own)] < place[own])
#define holds_guard(own) ((call[own] == CLAIM && is_queue_empty) || (call[own] == GRANT && ticket[own] == WAITING))

#ifdef WITHOUT_S11
#define may_share_batch true
#else
#define may_share_batch (call[1] != CLAIM || call[2] != CLAIM)
#endif

/* What one call of a batch writes. A claim that finds others in the queue is put behind them. */
inline write(own, is_guard_true) {
  if
  :: call[own] == CLAIM && ticket[own] == NONE ->
    place[own] = revision; ticket[own] = (is_guard_true -> HELD : WAITING);
    if
    :: is_guard_true -> printf("> etcd grants the lock to run %d\n", own)
    :: else -> printf("> etcd puts run %d into the queue\n", own)
    fi
  :: call[own] == GRANT && is_guard_true -> ticket[own] = HELD; printf("> etcd grants the lock to run %d\n", own)
  :: call[own] == FREE -> ticket[own] = NONE; place[own] = 0; printf("> run %d frees the lock\n", own)
  :: else
  fi;
  if
  :: ticket[1] == HELD && ticket[2] == HELD -> broken("> two runs hold the lock\n")
  :: else
  fi
}

inline answer_call(own) {
  answer[own] = (is_lost -> LOST : ANSWERED); call[own] = NOTHING
}

/* Sends what waits, in batches of one or two calls. */
proctype Combiner() {
  bool has[3], is_guard_true[3], is_lost, is_applied;
end:
  do
  :: atomic {
      call[1] != NOTHING || call[2] != NOTHING ->
      has[1] = false; has[2] = false; is_lost = false; is_applied = true;
      if
      :: call[1] != NOTHING -> has[1] = true
      :: call[2] != NOTHING -> has[2] = true
      :: call[1] != NOTHING && call[2] != NOTHING && may_share_batch ->
        has[1] = true; has[2] = true; printf("> the calls of both runs are one batch\n")
      fi;
      if
      :: true
      :: losses > 0 -> losses--; is_lost = true; printf("> the answer to the batch is lost\n")
      :: losses > 0 -> losses--; is_lost = true; is_applied = false; printf("> the batch is lost\n")
      fi;
      revision++;
      is_guard_true[1] = is_applied && holds_guard(1);
      is_guard_true[2] = is_applied && holds_guard(2);
      if
      :: has[1] && is_applied -> write(1, is_guard_true[1])
      :: else
      fi;
      if
      :: has[2] && is_applied -> write(2, is_guard_true[2])
      :: else
      fi;
      if
      :: has[1] -> answer_call(1)
      :: else
      fi;
      if
      :: has[2] -> answer_call(2)
      :: else
      fi
    }
  od
}

/* An answer says what has become of the ticket. */
proctype Run(byte own) {
  bool has_ended;
ask:
  atomic {
    answer[own] = PENDING;
    call[own] = (has_ended -> FREE : (ticket[own] == NONE -> CLAIM : GRANT))
  }
  atomic {
    answer[own] != PENDING ->
#ifdef WITHOUT_S11a
    if
    :: answer[own] == LOST -> printf("> run %d takes its call for refused, and leaves\n", own); goto over
    :: else
    fi
#endif
  }
look:
  if
  :: ticket[own] == NONE && !has_ended -> goto ask
  :: ticket[own] == NONE && has_ended -> goto over
  :: ticket[own] == WAITING && !is_other_before(own) -> goto ask
  :: ticket[own] == HELD && has_ended -> goto ask
  :: ticket[own] == HELD && !has_ended
  fi;
  atomic {
    command[own] = true; printf("> run %d starts its command\n", own);
    if
    :: command[other(own)] -> broken("> two commands run\n")
    :: else
    fi
  }
  atomic { command[own] = false; has_ended = true }
  goto ask;
over:
  skip
}

init {
  atomic { run Combiner(); run Run(1); run Run(2) }
}
