/* Processes in /proc. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct proc {
  pid_t pid, parent, group, session;
  unsigned long long born; /* clock ticks since boot: with the pid it identifies a process permanently */
  int dead;                /* a zombie without a running thread */
  int is_stopped;          /* by a signal or a debugger */
  int is_member;           /* belongs to the command, regardless of its parent */
  int is_among_others;     /* belongs to the command, in a group that is not the command's */
  int depth;               /* 1 for children; 0 for a process outside the command */
};

struct list {
  struct proc *at; /* sorted by pid */
  size_t count, room;
};

/*
 * Opens /proc. Returns 0, or -1 with errno when it is not mounted or belongs to another pid namespace.
 * Guardians share a descriptor that was opened before their fork, including its position: only one may list at a time.
 */
int proc_open(void);

/* Reads parent, birth and state of a process. Returns 0, or -1 when it has just ended. */
int proc_read(pid_t pid, struct proc *out);

/* Lists all processes. */
void proc_list(struct list *all);

/* Finds a process in a list, or NULL. */
struct proc *proc_find(const struct list *in, pid_t pid);
