#define _GNU_SOURCE
#include "seen-processes.h"

#include <endian.h>

#include "shared-memory.h"

static struct shared {
  uint32_t count;
  struct seen at[SEEN_MAX];
} *memory;
static int changed;

int seen_open(void) {
  if (!memory) memory = shared_memory_allocate(sizeof *memory);
  return memory ? 0 : -1;
}

void seen_mark(const struct list *all) {
  for (uint32_t i = 0; i < memory->count; i++) {
    struct proc *p = proc_find(all, (pid_t)memory->at[i].pid);
    if (p && p->born == memory->at[i].born && !p->dead) p->is_member = 1;
  }
}

/*
 * Writes the entries before the count: a guardian that is killed in between leaves pairs that match no process, never
 * pairs that match an unrelated one.
 */
void seen_replace(const struct list *members) {
  uint32_t count = 0;
  for (size_t i = 0; i < members->count && count < SEEN_MAX; i++) {
    const struct proc *p = &members->at[i];
    if (!p->dead) memory->at[count++] = (struct seen){.pid = (uint32_t)p->pid, .born = p->born};
  }
  memory->count = count;
  changed = 1;
}

int seen_has_living(void) {
  for (uint32_t i = 0; i < memory->count; i++) {
    struct proc p;
    if (proc_read((pid_t)memory->at[i].pid, &p) == 0 && p.born == memory->at[i].born && !p.dead) return 1;
  }
  return 0;
}

int seen_has_changed(void) {
  int was = changed;
  changed = 0;
  return was;
}

uint32_t seen_list(struct seen *out) {
  for (uint32_t i = 0; i < memory->count; i++)
    out[i] = (struct seen){.pid = htole32(memory->at[i].pid), .born = htole64(memory->at[i].born)};
  return memory->count;
}
