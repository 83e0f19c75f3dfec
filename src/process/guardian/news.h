/* What the inner guardian tells its runner, and again when another connection has replaced an ended one. */
#pragma once

#include <stdint.h>

/* Sends HELLO and PLACE. PLACE goes to the launcher too. */
void send_hello(void);

/* Sends an event of the command, and keeps it for another connection. EXITED goes to the launcher too. */
void send_news(uint32_t kind, int64_t a, int64_t b);

/* Sends the remembered processes if they have changed, for the case that both guardians are killed. */
void send_seen_processes(void);

/* Sends everything that was sent before, over another connection. */
void repeat_news(void);
