/* Memory that a process shares with those that it forks later, so that a survivor knows what the others knew. */
#pragma once

#include <stddef.h>

/* Returns zeroed memory, or NULL with errno. */
void *shared_memory_allocate(size_t size);
