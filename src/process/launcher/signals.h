/* Signals that the launcher receives: those that a run forwards to its command, and SIGCHLD. */
#pragma once

/* Begins to receive signals. A signal that the caller ignores stays ignored. Returns 0, or -1 with errno. */
int signals_open(void);

/* Begins or ends to receive SIGTSTP, SIGCONT and SIGWINCH too, which are for a command that runs. */
void signals_receive_of_terminal(int is_running);

/* Stops this process, as a SIGTSTP that it does not receive would do. Returns when it is continued. */
void signals_stop_self(void);

/* A descriptor to poll; -1 before signals_open. */
int signals_descriptor(void);

/* Returns the next signal that was received, 0 for none. */
int signals_next(void);

/* Restores how the caller of this program wants signals to be handled, for what is executed next. */
void signals_restore(void);
