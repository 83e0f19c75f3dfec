/* After both guardians have ended: the agent frees the lock and gives the exit code. */
#pragma once

/*
 * Tells the agent, and ends with the exit code that it gives. Without an agent, ends with that of the command.
 * status: wait status of the outer guardian. exit_code: of the command; -1 when it is unknown or it was terminated.
 */
_Noreturn void end_call(int sock, int status, int exit_code);
