/* The first process of a container, whose duties nobody else has there. */
#pragma once

/*
 * If this is the first process of its PID namespace: returns in a child, and stays itself to pass on signals and to reap what
 * other processes leave behind. It exits as the child does, and the kernel then ends everything in the namespace.
 */
void split_first_process(void);
