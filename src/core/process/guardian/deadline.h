/* When and how the command is ended. Termination and killing cannot be undone. */
#pragma once

#include <stdint.h>

/* The current time in nanoseconds of CLOCK_BOOTTIME. */
int64_t now(void);

/* Sets the instants of SIGTERM and SIGKILL; kill_at must not be 0. */
void deadline_arm(int64_t term_at, int64_t kill_at);
int deadline_is_armed(void);

/* Whether a command started now would have to be ended at once. */
int deadline_has_passed(void);

/* Marks the command as started. Before this, a deadline that passes only refuses the start. */
void deadline_start(void);

void begin_killing(void);
void begin_termination(int64_t kill_at);
int is_killing(void);
int is_terminating(void);

/* Marks the start as failed: there is no process to end, and only GONE remains to be sent. */
void deadline_cancel(void);

/* Schedules another check for a living process that is not a child: its end sends no signal. */
void deadline_schedule_check(void);

/* When SIGKILL is due; INT64_MAX for never. */
int64_t deadline_kill_at(void);

/* When all processes of a command that exists must have been killed; INT64_MAX for never. */
int64_t deadline_due(void);

/* Performs the actions that are due. */
void enforce_deadlines(void);

/* When enforce_deadlines has to run next; INT64_MAX for never. */
int64_t next_timer(void);
