// SPDX-License-Identifier: Apache-2.0
// Keeping a failing program: a command trace and its array.
#include <string.h>

#include "sim/ref/ref.h"
#include "sim/tests/cosim/cosim.h"
#include "sim/trace/trace.h"

static void record(sim_engine *engine, const sim_gen_program *program, sim_trace_writer *writer) {
  for (size_t i = 0; i < program->count; i++) {
    const sim_gen_item *item = &program->items[i];
    uint64_t response;
    if (item->fence) {
      sim_trace_writer_fence(writer);
      continue;
    }
    engine->ops->push(engine, 0, &item->command, &response);
    sim_trace_writer_command(writer, &item->command);
  }
}

static bool write_trace(const sim_gen_program *program, FILE *out) {
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(program->image_bytes);
  if (memory == NULL) return false;
  memcpy(memory->bytes, program->image, program->image_bytes);
  sim_engine *engine = sim_ref_engine.create(program->array, memory, &diag);
  bool good = engine != NULL;
  if (good) {
    sim_trace_writer *writer = sim_trace_writer_open(out, program->array, memory);
    record(engine, program, writer);
    good = sim_trace_writer_close(writer);
    sim_ref_engine.destroy(engine);
  }
  arch_memory_destroy(memory);
  return good;
}

bool cosim_write(const sim_gen_program *program, const char *trace_path, const char *array_path) {
  FILE *trace = fopen(trace_path, "w"), *array = fopen(array_path, "w");
  bool good = trace != NULL && array != NULL && write_trace(program, trace);
  if (good) hw_array_print(program->array, array);
  if (array != NULL) good = fclose(array) == 0 && good;
  if (trace != NULL) good = fclose(trace) == 0 && good;
  return good;
}
