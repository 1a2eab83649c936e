// SPDX-License-Identifier: Apache-2.0
// Fuzzes the trace reader and, behind it, the functional engine on a small array.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/trace/trace.h"

typedef struct target {
  arch_memory *memory;
  sim_engine *engine;
  hw_array array;
  wf_diag diag;
} target;

static bool on_header(void *c, const sim_trace_header *header, wf_location where) {
  (void)where;
  target *t = c;
  t->array.isa.revision = header->revision;
  t->engine = sim_engine_find("ref")->create(&t->array, t->memory, &t->diag);
  return t->engine != NULL;
}
static bool on_data(void *c, uint64_t address, const uint8_t *bytes, size_t length, wf_location where) {
  (void)where;
  uint8_t *to = arch_memory_at(((target *)c)->memory, address, length);
  if (to != NULL) memcpy(to, bytes, length);
  return to != NULL;
}
static bool on_command(void *c, const arch_command *command, wf_location where) {
  (void)where;
  uint64_t response;
  sim_engine *engine = ((target *)c)->engine;
  return engine->ops->push(engine, 0, command, &response) == SIM_PUSH_DONE;
}
static bool on_fence(void *c, wf_location where) {
  (void)c, (void)where;
  return true;
}
static bool on_end(void *c, const sim_trace_end *end, wf_location where) {
  (void)c, (void)end, (void)where;
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  if (length == 0) return 0;
  target t = {.memory = arch_memory_create(UINT64_C(256) << 20), .diag = wf_diag_to(NULL)};
  hw_array_load(&t.array, "dim2", &t.diag);
  const sim_trace_sink sink = {&t, on_header, on_data, on_command, on_fence, on_end, NULL, NULL};
  FILE *in = fmemopen((void *)(uintptr_t)bytes, length, "r");
  sim_trace_read(in, "fuzz", &sink, &t.diag);
  fclose(in);
  if (t.engine != NULL) t.engine->ops->destroy(t.engine);
  arch_memory_destroy(t.memory);
  return 0;
}
