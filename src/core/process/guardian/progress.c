#include "progress.h"

#include <stdatomic.h>

#include "shared-memory.h"

static struct progress {
  _Atomic int64_t due;
  _Atomic uint64_t count;
  _Atomic int exit_code;
} *progress;

int progress_open(void) {
  progress = shared_memory_allocate(sizeof *progress);
  if (!progress) return -1;
  progress->due = INT64_MAX;
  progress->exit_code = -1;
  return 0;
}

void progress_report(int64_t due) {
  progress->due = due;
  progress->count++;
}

int64_t progress_due(void) { return progress->due; }

uint64_t progress_count(void) { return progress->count; }

int progress_end(int exit_code) { return progress->exit_code = exit_code; }

int progress_exit_code(void) { return progress->exit_code; }
