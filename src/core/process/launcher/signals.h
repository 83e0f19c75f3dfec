/* Signals that the launcher receives: those that a run forwards to its command, and SIGCHLD. */
#pragma once

/* Lets USR1 wait from now on. Call it first: until then, the signal ends this process. */
void signals_hold_usr1(void);

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

/*
 * The same, but USR1 waits on. Node then keeps it waiting until signalbox listens to it (src/core/process/native/signals.ts);
 * the other signals end Node until then.
 */
void signals_restore_for_node(void);
