#include "note.h"

#include <string.h>

#include "agent-wire.h"
#include "shared-memory.h"

static struct note {
  int is_kept;
  int64_t retry_ms;
  char text[NOTE_MAX + 1];
} *note;

int note_open(void) {
  note = shared_memory_allocate(sizeof *note);
  return note ? 0 : -1;
}

static int64_t limit_retry(int64_t ms) { return ms < 0 ? 0 : ms > NOTE_RETRY_MAX ? NOTE_RETRY_MAX : ms; }

int note_keep(const unsigned char *text, uint32_t length, int64_t retry_ms) {
  if (length > NOTE_MAX || memchr(text, '\0', length)) return 0;
  memcpy(note->text, text, length);
  note->text[length] = '\0';
  note->retry_ms = limit_retry(retry_ms);
  note->is_kept = 1;
  return 1;
}

const char *note_text(void) { return note && note->is_kept ? note->text : NULL; }

int64_t note_retry_ms(void) { return note->retry_ms; }
