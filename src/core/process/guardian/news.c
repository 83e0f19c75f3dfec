#include "news.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent-wire.h"
#include "cgroup.h"
#include "connection.h"
#include "deadline.h"
#include "frames.h"
#include "launcher-control.h"
#include "seen-processes.h"

enum { KEPT_MAX = 4 }; /* STARTED or FAILED, EXITED, GONE */

static struct frame kept[KEPT_MAX];
static int count;

void send_hello(void) {
  const char *path = cgroup_path();
  struct frame place = {.kind = PLACE, .length = (uint32_t)strlen(path), .a = getpid()};
  if (connection_has_agent()) place.b = getppid();
  send_event(connection_socket(), HELLO, now(), WIRE_VERSION); /* first, so that a runner of any version understands it */
  send_event_block(connection_socket(), place, path);
  control_send(place, path);
}

void send_news(uint32_t kind, int64_t a, int64_t b) {
  if (count < KEPT_MAX) kept[count++] = (struct frame){.kind = kind, .a = a, .b = b};
  send_event(connection_socket(), kind, a, b);
  if (kind != GONE) control_send((struct frame){.kind = kind, .a = a, .b = b}, NULL);
}

static void send_all_seen(void) {
  static struct seen list[SEEN_MAX];
  const struct frame seen = {.kind = SEEN, .length = (uint32_t)(seen_list(list) * sizeof *list)};
  send_event_block(connection_socket(), seen, list);
}

/* Each list is complete, so a runner that was frozen misses nothing. */
void send_seen_processes(void) {
  if (!seen_has_changed() || connection_socket() < 0 || has_unread(connection_socket())) return;
  send_all_seen();
}

void send_report(const char *text, uint32_t length) {
  char line[512];
  if (!connection_has_agent()) {
    send_event_block(connection_socket(), (struct frame){.kind = REPORT, .length = length}, text);
    return;
  }
  int printed = snprintf(line, sizeof line, "signalbox: %.*s\n", (int)length, text);
  if (printed > 0 && printed < (int)sizeof line)
    control_send((struct frame){.kind = WRITE, .length = (uint32_t)printed, .a = 2}, line);
}

void repeat_news(void) {
  send_hello();
  send_all_seen();
  for (int i = 0; i < count; i++) send_event(connection_socket(), kept[i].kind, kept[i].a, kept[i].b);
}
