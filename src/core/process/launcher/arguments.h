/* The argument area of this process. */
#pragma once

void arguments_keep(int argc, char **argv);

/* Overwrites it in a process that was forked: `pkill -f` with a word of the job must not find a guardian. */
void arguments_overwrite(void);
