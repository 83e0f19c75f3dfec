/* Signals that the launcher receives: those that a run forwards to its command, and SIGCHLD. */
#pragma once

/* Starts to receive signals. A signal that the caller ignores stays ignored. Returns 0, or -1 with errno. */
int signals_open(void);

/* Starts or stops receiving SIGTSTP, SIGCONT and SIGWINCH too, which are passed on to a running command. */
void signals_receive_of_terminal(int is_running);

/* Stops this process, as an unblocked SIGTSTP would. Returns when the process is continued. */
void signals_stop_self(void);

/* A descriptor to poll; -1 before signals_open. */
int signals_descriptor(void);

/* Returns the next signal that was received, 0 for none. */
int signals_next(void);

/* Restores the caller's handling of signals, for the program that is executed next. */
void signals_restore(void);
