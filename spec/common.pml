/*
 * What all models share.
 *
 * A transaction of etcd is one atomic step: it compares, then writes. Each other step of a process is a step of its own, so
 * any process can be slower than any other, freeze between two steps, and go on as if no time had passed. A process that dies
 * takes no further step; for the others, that is a process that is frozen for ever.
 *
 * A line that is printed with "> " is an event. The counter-examples in README.md are made of these lines.
 */

/* Runs 1 to RUNS. The arrays have room for three. */
#ifndef RUNS
#define RUNS 2
#endif
#define ROOM 4

/* A promise of docs/safety.md is broken. */
#define broken(text) printf(text); assert(false)

mtype:ticket = { NONE, WAITING, HELD, GRACE };

#define is_holding(state) (state == HELD || state == GRACE)
