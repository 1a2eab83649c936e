// SPDX-License-Identifier: Apache-2.0
// The engine that a run names: see engine_args.h.
#include "cli/engine_args.h"

#include <string.h>

bool engine_find(const char *name, weft_engine *engine) {
  engine->size = sizeof *engine;
  for (size_t i = 0; weft_engine_describe(i, engine) == WEFT_OK; i++)
    if (strcmp(engine->name, name) == 0) return true;
  return false;
}

bool engine_named(const char *name, weft_engine *engine) {
  enum { ENGINES_MAX = 16 };
  const char *names[ENGINES_MAX];
  size_t count = 0;
  if (engine_find(name, engine)) return true;
  for (; count < ENGINES_MAX && weft_engine_at(count, NULL) != NULL; count++)
    names[count] = weft_engine_at(count, NULL);
  fprintf(stderr, "weft: error: this build has no engine %s\n", name);
  cli_hint_nearest(name, names, count);
  fputs("  hint: engines:", stderr);
  for (size_t i = 0; i < count; i++) fprintf(stderr, " %s", names[i]);
  fputc('\n', stderr);
  return false;
}

bool engine_knows(const weft_engine *engine, bool sensitivity) {
  if (!sensitivity || strcmp(engine->name, "flow") == 0) return true;
  cli_error(NULL, "engine %s does not know what its cycles depend on", engine->name);
  cli_hint("--sensitivity takes --engine flow");
  return false;
}
