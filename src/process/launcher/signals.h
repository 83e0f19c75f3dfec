/* Signals that the launcher receives: those that a run forwards to its command, and SIGCHLD. */
#pragma once

/* Receives signals from now on. Returns 0, or -1 with errno. */
int signals_open(void);

/* A descriptor to poll; -1 before signals_open. */
int signals_descriptor(void);

/* Returns the next signal that was received, 0 for none. */
int signals_next(void);

/* Restores how the caller of this program wants signals to be handled, for the program that replaces it. */
void signals_restore(void);
