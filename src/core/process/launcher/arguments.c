#include "arguments.h"

#include <string.h>

#include "../guardian/wire.h"

static char *area;
static size_t size;

void arguments_keep(int argc, char **argv) {
  area = argv[0];
  size = (size_t)(argv[argc - 1] + strlen(argv[argc - 1]) + 1 - area);
}

void arguments_overwrite(void) {
  memset(area, 0, size);
  strncpy(area, GUARDIAN_NAME, size - 1);
}
