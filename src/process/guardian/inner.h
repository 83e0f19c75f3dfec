/* The inner guardian: the command's parent, and the one that talks to the runner. */
#ifndef INNER_H
#define INNER_H

/*
 * Guards until nothing of the command is left or the runner says farewell.
 * sock: the runner's socket. lifeline: a pipe that ends when the outer guardian dies. Returns an exit code of wire.h.
 */
int guard(int sock, int lifeline, char **argv);

#endif
