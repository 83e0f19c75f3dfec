/*
 * Admission with units: two resources, of which each run asks for 0 to 2 units, and a total that operators change.
 *
 * small: -DRUNS=2
 * large: -DRUNS=3
 *
 * The total is configured and the same for both resources, or each run states one. Sessions do not expire here (claim.pml
 * has that).
 *
 * Rules
 * A1: All tickets before the own one count, also those that wait. [test/core/protocol/admission]
 * A2: Tickets behind the own one count if they hold. [held-behind, head-admits]
 * A3: A grant compares that the configuration is as it was read. [grant-config]
 * A4: Without a configured total, the smallest total up to the own ticket applies. [own-total]
 * A5: One transaction puts the tickets of a claim into all queues, so that they have the same order everywhere. [test/safety/queues/races]
 * A6: A claim compares that its own tickets are absent. [claim-absent]
 * A7: A run that asks for more units than the configured total leaves the queue. [lowered-total]
 */
#include "common.pml"

/* The claim of each run: its units of the two resources, the total that it states, its places, its state. */
typedef Claim {
  mtype:ticket state;
  byte units[2];
  byte places[2];
  byte stated;
  byte version
};
Claim claim[ROOM];
/* Whether the run uses its units: it was granted them, and has not left. */
bool uses[ROOM];
byte places[2];

#ifdef WITHOUT_A3
#define is_total_as_read(seen) true
#else
#define is_total_as_read(seen) (total_version == seen)
#endif

/* The configured total, 0 if there is none, and how often it was changed. */
byte total;
byte total_version;

byte changes = 1;
byte copies = 1;
bool copy[ROOM];

/* A claim counts in a queue if it has a place there. */
#define is_placed(one, queue) (claim[one].places[queue] > 0)
#define is_before(one, own, queue) \
  (one != own && is_placed(one, queue) && claim[one].places[queue] < claim[own].places[queue])
#define is_behind(one, own, queue) \
  (one != own && is_placed(one, queue) && claim[one].places[queue] > claim[own].places[queue])

#ifdef WITHOUT_A1
#define counts_before(one) (claim[one].state == HELD)
#else
#define counts_before(one) true
#endif
#ifdef WITHOUT_A2
#define counts_behind(one) false
#else
#define counts_behind(one) (claim[one].state == HELD)
#endif
#define counts(one, own, queue) \
  ((is_before(one, own, queue) && counts_before(one)) || (is_behind(one, own, queue) && counts_behind(one)))
#define units_of(one, own, queue) (counts(one, own, queue) -> claim[one].units[queue] : 0)
#define sum_of_others(own, queue) (units_of(1, own, queue) + units_of(2, own, queue) + units_of(3, own, queue))

#define smaller(a, b) (a < b -> a : b)
#define stated_up_to(one, own, queue) (is_before(one, own, queue) -> claim[one].stated : 9)
#ifdef WITHOUT_A4
#define stated_total(own, queue) claim[own].stated
#else
#define stated_total(own, queue) \
  smaller(claim[own].stated, smaller(stated_up_to(1, own, queue), \
    smaller(stated_up_to(2, own, queue), stated_up_to(3, own, queue))))
#endif
#define total_for(own, queue) (total > 0 -> total : (stated_total(own, queue)))
#define fits(own, queue) \
  (claim[own].units[queue] == 0 || \
    sum_of_others(own, queue) + claim[own].units[queue] <= total_for(own, queue))
#define is_admitted(own) \
  ((claim[own].units[0] == 0 || is_placed(own, 0)) && (claim[own].units[1] == 0 || is_placed(own, 1)) && \
    fits(own, 0) && fits(own, 1))
#define is_impossible(own) (total > 0 && (claim[own].units[0] > total || claim[own].units[1] > total))

#define held_by(one, queue) (uses[one] -> claim[one].units[queue] : 0)
#define held(queue) (held_by(1, queue) + held_by(2, queue) + held_by(3, queue))
#define limit_of(one, queue) (uses[one] && claim[one].units[queue] > 0 -> claim[one].stated : 9)
#define limit(queue) \
  (total > 0 -> total : (smaller(limit_of(1, queue), smaller(limit_of(2, queue), limit_of(3, queue)))))

/* A claim that came earlier and fitted before the grant does not fit any more. */
#define is_overtaken(one, own, queue) \
  (is_before(one, own, queue) && claim[one].state == WAITING && !uses[one] && !is_impossible(one) && total > 0 && \
    held(queue) - claim[own].units[queue] + claim[one].units[queue] <= total && \
    held(queue) + claim[one].units[queue] > total)

inline check_grant(own, queue) {
  if
  :: claim[own].units[queue] > 0 && held(queue) > limit(queue) -> broken("> more units are in use than there are\n")
  :: claim[own].units[queue] > 0 &&
      (is_overtaken(1, own, queue) || is_overtaken(2, own, queue) || is_overtaken(3, own, queue)) ->
    broken("> a run overtakes one that came before it\n")
  :: else
  fi
}

inline place_in(own, queue) {
  if
  :: claim[own].units[queue] > 0 && !is_placed(own, queue) ->
    places[queue]++; claim[own].places[queue] = places[queue]
  :: else
  fi
}

/* The claim is one transaction. A copy of it may be applied later, also to a claim that is held. */
inline put_claim(own) {
  if
#ifndef WITHOUT_A6
  :: claim[own].state != NONE
#endif
  :: else ->
    place_in(own, 0);
    place_in(own, 1);
    claim[own].state = WAITING;
    claim[own].version++;
    printf("> run %d is put into the queues\n", own)
  fi
}

inline delete(own) {
  claim[own].state = NONE;
  claim[own].units[0] = 0; claim[own].units[1] = 0;
  claim[own].places[0] = 0; claim[own].places[1] = 0
}

proctype Run(byte own) {
  byte seen, seen_total;

  atomic {
    if
    :: claim[own].units[0] = 1
    :: claim[own].units[0] = 2
    :: claim[own].units[1] = 1
    :: claim[own].units[0] = 1; claim[own].units[1] = 1
    :: claim[own].units[0] = 2; claim[own].units[1] = 1
    fi;
    /* A run that states less than it asks for waits until it leaves. None does so here. */
    if
    :: claim[own].stated = 2
    :: claim[own].units[0] < 2 -> claim[own].stated = 1
    fi;
    printf("> run %d asks for %d and %d units and states a total of %d\n", own, claim[own].units[0],
      claim[own].units[1], claim[own].stated)
  }
  atomic {
    if
    :: is_impossible(own) -> goto leave
    :: else
    fi
  }
#ifdef WITHOUT_A5
  if
  :: atomic { true -> place_in(own, 0); printf("> run %d is put into the first queue\n", own) }
  :: atomic { true -> place_in(own, 1); printf("> run %d is put into the second queue\n", own) }
  fi;
#endif
  atomic {
    if
    :: copies > 0 -> copies--; copy[own] = true
    :: true
    fi;
    put_claim(own)
  }
  /* Reads the queues and decides. It waits here while nothing in them changes. */
decide:
  atomic {
    if
#ifndef WITHOUT_A7
    :: is_impossible(own) -> goto leave
#endif
    :: is_admitted(own) -> seen = claim[own].version; seen_total = total_version
    fi
  }
  atomic {
    if
    :: claim[own].version == seen && is_total_as_read(seen_total) ->
      claim[own].state = HELD;
      uses[own] = true;
      claim[own].version++;
      printf("> etcd grants run %d its units\n", own);
      check_grant(own, 0);
      check_grant(own, 1)
    :: else -> goto decide
    fi
  }
  /* The command runs. */
leave:
  atomic { copy[own] = false; uses[own] = false; delete(own); printf("> run %d leaves\n", own) }
}

proctype Chance(byte own) {
end:
  do
  :: atomic {
      copy[own] && claim[own].state != NONE ->
      copy[own] = false; printf("> a copy of the claim of run %d arrives late\n", own);
      put_claim(own)
    }
  od
}

proctype Operator() {
  byte new;
end:
  do
  :: atomic {
      changes > 0 && total > 0 ->
      changes--; select (new : 1 .. 3);
      total = new; total_version++;
      printf("> the total becomes %d\n", total)
    }
  :: atomic { changes > 0 -> changes = 0 }
  od
}

init {
  atomic {
    byte own;
    if
    :: total = 0; printf("> no total is configured\n")
    :: total = 2; printf("> the total is 2\n")
    :: total = 3; printf("> the total is 3\n")
    fi;
    for (own : 1 .. RUNS) {
      claim[own].state = NONE;
      run Run(own);
      run Chance(own)
    }
    run Operator()
  }
}
