/* The events that the inner guardian sends to its runner, and repeats after a reconnection. */
#pragma once

#include <stdint.h>

/* Sends HELLO and PLACE. PLACE goes to the launcher too. */
void send_hello(void);

/* Sends an event of the command, and stores it for a reconnection. EXITED goes to the launcher too. */
void send_news(uint32_t kind, int64_t a, int64_t b);

/* Sends the remembered processes if they have changed: the runner needs them if both guardians are killed. */
void send_seen_processes(void);

/* Sends a sentence for the runner's log: to the launcher, which prints it, or to a runner of Node. */
void send_report(const char *text, uint32_t length);

/* Sends everything again, over another connection. */
void repeat_news(void);
