#include "timer.h"

#include <sys/timerfd.h>

#define SECOND 1000000000LL

int timer_open(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

void timer_set(int timer, int64_t at) {
  struct itimerspec spec = {0};
  if (at != INT64_MAX) {
    if (at < 1) at = 1; /* zero would disarm it */
    spec.it_value.tv_sec = at / SECOND;
    spec.it_value.tv_nsec = at % SECOND;
  }
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &spec, NULL);
}
