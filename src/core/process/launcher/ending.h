/* The end of a call, after both guardians have ended: the agent frees the lock and sends the exit code. */
#pragma once

/*
 * Reports the end to the agent, and exits with the code that it sends. Without an agent, exits with that of the command.
 * Returns if the agent will start the command again.
 * status: wait status of the outer guardian. exit_code: of the command; -1 when it is unknown or it was terminated.
 */
void end_call(int sock, int status, int exit_code);

/* Exits. Prints the output that was held back, if the code is not 0, and calls the hooks of the run. */
_Noreturn void leave(int code);
