/*
 * What the outer guardian knows of the inner one's work, in memory that both share. If the inner one is held by a debugger
 * when no process of the command may be left, the outer one does its work.
 */
#pragma once

#include <stdint.h>

/* Allocates the memory. Returns 0, or -1 with errno. */
int progress_open(void);

/*
 * Reports that the inner guardian works, each time before it waits for events.
 * due: instant at which all processes must be killed; INT64_MAX while there is none.
 */
void progress_report(int64_t due);

/* The instant of the last report. */
int64_t progress_due(void);

/* The number of reports. */
uint64_t progress_count(void);

/* Stores the exit code of the inner guardian: a debugger can keep its parent from getting it. Returns the code. */
int progress_end(int exit_code);

/* The stored exit code, or -1. */
int progress_exit_code(void);
