#include "agent-requests.h"

#include "agent-wire.h"
#include "connection.h"
#include "launcher-control.h"
#include "note.h"

enum handled handle_agent_request(const struct frame *f, const unsigned char *block) {
  if (!connection_has_agent()) return UNKNOWN;
  switch (f->kind) {
    case NOTE:
      return note_keep(block, f->length, f->a) ? HANDLED : UNKNOWN;
    case WRITE:
      control_send(*f, block);
      return HANDLED;
    case DECLINED:
      return DISMISSED;
    case ACCEPTED:
      return HANDLED;
    default:
      return f->kind >= LATER_KINDS ? HANDLED : UNKNOWN;
  }
}
