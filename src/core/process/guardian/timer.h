/* A descriptor that becomes readable at an instant of the boot-time clock. */
#pragma once

#include <stdint.h>

/* Returns the descriptor, or -1 with errno. */
int timer_open(void);

/* at: INT64_MAX for never. */
void timer_set(int timer, int64_t at);
