// The engines of this build, in the order they are listed.
#include "sim/engine.h"

#include <string.h>

#include "sim/ref/ref.h"

static const sim_engine_ops *const engines[] = {&sim_ref_engine};

const sim_engine_ops *sim_engine_at(size_t index) {
  return index < sizeof engines / sizeof engines[0] ? engines[index] : NULL;
}

const sim_engine_ops *sim_engine_find(const char *name) {
  for (size_t n = 0; n < sizeof engines / sizeof engines[0]; n++)
    if (strcmp(engines[n]->name, name) == 0) return engines[n];
  return NULL;
}
