#ifndef COMMAND_STREAMS_H
#define COMMAND_STREAMS_H

/* Requests pipes as standard streams of the command. */
void streams_request(void);

/*
 * Makes the requested pipes: the runner opens its ends in /proc, before it sends START. Unlike the sockets that Node makes,
 * pipes can be opened again by a name, such as /dev/stderr. Returns -1 with errno on failure.
 */
int streams_open(void);

#endif
