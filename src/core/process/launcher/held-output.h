/* The command's output, held back until its exit code is known (--quiet-success). */
#pragma once

/*
 * Opens files without a name for the output of this process, once. If standard output and error are the same file, one file
 * keeps their order. Without files, the output passes as usual.
 */
void held_output_open(void);

/* Replaces standard output and error by the files, in the process that becomes the guardian. */
void held_output_use(void);

/* Writes what the files have to standard output and error. */
void held_output_print(void);
