#define _GNU_SOURCE
#include "call.h"

#include <endian.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../guardian/agent-wire.h"
#include "../guardian/deadline.h"
#include "../guardian/frames.h"
#include "../guardian/note.h"

enum { CALL_MAX = 1024 * 1024, CALL_HEAD = 2 * sizeof(uint32_t) + PATH_MAX };

/* Settings of signalbox, of its front ends and of etcdctl, and the trace of the caller. A name that ends in "_" is a prefix. */
static const char *const SETTINGS[] = {
    "SIGNALBOX_", "ETCDCTL_", "CRONLOCK_", "HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "LOGNAME", "USER", "TZ",
    "SHELL",      "TRACEPARENT", "TRACESTATE", NULL,
};
/* Variables that a launcher sets for Node; here they are from earlier calls. */
static const char *const NO_SETTINGS[] = {"SIGNALBOX_CALL", "SIGNALBOX_FALLBACK", "SIGNALBOX_INHERITED", "SIGNALBOX_HOOKS",
                                           NULL};

extern char **environ;

static struct {
  unsigned char *frames;
  size_t length; /* without note and end */
  int64_t connections;
} call;

/* Texts that become blocks of frames. */
struct pieces {
  uint32_t kind;
  unsigned char *frame; /* the header of the last frame; NULL: none yet */
  uint32_t used;        /* of its block */
  int64_t a;
};

static int has_name(const char *entry, const char *const *names, int are_prefixes) {
  for (; *names; names++) {
    size_t length = strlen(*names);
    if (strncmp(entry, *names, length) != 0) continue;
    if (entry[length] == '=' || (are_prefixes && (*names)[length - 1] == '_')) return 1;
  }
  return 0;
}

static int is_setting(const struct options *options, const char *entry) {
  static const char *const OF_SWITCHMAN[] = {"DEBUG", NULL};
  const char *first = options->called ? options->called : options->words[0];
  if (strcmp(first, "switchman") == 0 && has_name(entry, OF_SWITCHMAN, 0)) return 1;
  return has_name(entry, SETTINGS, 1) && !has_name(entry, NO_SETTINGS, 0);
}

static void put_header(unsigned char *at, struct frame f) {
  f = swap_frame(f);
  memcpy(at, &f, sizeof f);
}

static void put_frame(uint32_t kind, int64_t a, int64_t b, const void *block, uint32_t length) {
  put_header(call.frames + call.length, (struct frame){.kind = kind, .length = length, .a = a, .b = b});
  if (length > 0) memcpy(call.frames + call.length + sizeof(struct frame), block, length);
  call.length += sizeof(struct frame) + length;
}

/* Appends a text and its NUL, in as many frames as it takes. */
static void put_text(struct pieces *all, const char *text) {
  for (size_t left = strlen(text) + 1; left > 0;) {
    if (!all->frame || all->used == WIRE_BLOCK_MAX) {
      all->frame = call.frames + call.length;
      all->used = 0;
      call.length += sizeof(struct frame);
    }
    size_t part = left < WIRE_BLOCK_MAX - all->used ? left : WIRE_BLOCK_MAX - all->used;
    memcpy(call.frames + call.length, text, part);
    call.length += part;
    all->used += (uint32_t)part;
    put_header(all->frame, (struct frame){.kind = all->kind, .length = all->used, .a = all->a});
    text += part;
    left -= part;
  }
}

/*
 * Whether Node would read a configuration file of this user, or fail to (src/core/config/files.ts). An agent of another user
 * reads none, and must not look for one either.
 */
static int has_own_config(void) {
  static const char *const PLACES[][2] = {{"XDG_CONFIG_HOME", ""}, {"HOME", "/.config"}};
  for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
    char path[PATH_MAX];
    const char *folder = getenv(PLACES[i][0]);
    if (!folder || folder[0] != '/') continue;
    int length = snprintf(path, sizeof path, "%s%s/signalbox/config.json", folder, PLACES[i][1]);
    return length < (int)sizeof path && (access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR));
  }
  return 0;
}

static size_t measure_texts(const struct options *options) {
  size_t size = options->called ? strlen(options->called) + 1 : 0;
  for (char **word = options->words; *word; word++) size += strlen(*word) + 1;
  for (char **entry = environ; *entry; entry++) size += is_setting(options, *entry) ? strlen(*entry) + 1 : 0;
  return size;
}

static void put_head(const char *folder) {
  unsigned char block[CALL_HEAD];
  const uint32_t ids[] = {htole32((uint32_t)getpid()), htole32((uint32_t)getppid())};
  size_t length = strlen(folder) + 1;
  memcpy(block, ids, sizeof ids);
  memcpy(block + sizeof ids, folder, length);
  put_frame(CALL, 0, AGENT_WIRE_VERSION, block, (uint32_t)(sizeof ids + length));
}

const char *call_collect(const struct options *options) {
  char folder[PATH_MAX];
  size_t size = measure_texts(options);
  size_t frames = 2 * (size / WIRE_BLOCK_MAX + 1) + 3;
  if (size > CALL_MAX) return "the command line is longer than 1 MiB";
  if (!getcwd(folder, sizeof folder) || folder[0] != '/') return "the current folder has no path";
  call.frames = malloc(size + CALL_HEAD + NOTE_MAX + frames * sizeof(struct frame));
  if (!call.frames) return "out of memory";
  put_head(folder);
  struct pieces words = {.kind = CALL_WORDS, .a = has_own_config()}, settings = {.kind = CALL_SETTINGS};
  if (options->called) put_text(&words, options->called);
  for (char **word = options->words; *word; word++) put_text(&words, *word);
  for (char **entry = environ; *entry; entry++)
    if (is_setting(options, *entry)) put_text(&settings, *entry);
  return NULL;
}

const unsigned char *call_encode(int stage, size_t *length) {
  const size_t without_end = call.length;
  const char *note = stage == CALL_IS_NEW ? NULL : note_text();
  struct frame head;
  memcpy(&head, call.frames, sizeof head);
  head = swap_frame(head);
  head.a = now();
  put_header(call.frames, head);
  if (note) put_frame(CALL_NOTE, 0, 0, note, (uint32_t)strlen(note));
  put_frame(CALL_END, stage, call.connections++, NULL, 0);
  *length = call.length;
  call.length = without_end;
  return call.frames;
}
