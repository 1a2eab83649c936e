// SPDX-License-Identifier: Apache-2.0
// Writes command traces: see trace.h. Memory is recorded when the accelerator reads it, so the trace holds exactly what
// a replay needs, however the host made it.
#include <inttypes.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/trace/footprint.h"
#include "sim/trace/trace.h"

enum { BYTES_PER_LINE = 64, COMMAND_TEXT = 1024 };

struct sim_trace_writer {
  FILE *out;
  arch_memory *memory;
  sim_footprint *print;
  uint64_t commands;
};

static void write_data(void *context, uint64_t address, const uint8_t *bytes, size_t length) {
  sim_trace_writer *writer = context;
  while (length != 0) {
    size_t part = length < BYTES_PER_LINE ? length : BYTES_PER_LINE;
    fprintf(writer->out, "data 0x%" PRIx64 " ", address);
    for (size_t i = 0; i < part; i++) fprintf(writer->out, "%02x", bytes[i]);
    fputc('\n', writer->out);
    address += part;
    bytes += part;
    length -= part;
  }
}

static void on_read(void *context, uint64_t address, size_t length) {
  sim_trace_writer *writer = context;
  const uint8_t *bytes = arch_memory_at(writer->memory, address, length);
  sim_footprint_read(writer->print, address, bytes, length, write_data, writer);
}

static void on_write(void *context, uint64_t address, const void *bytes, size_t length) {
  sim_trace_writer *writer = context;
  sim_footprint_write(writer->print, address, bytes, length);
}

sim_trace_writer *sim_trace_writer_open(FILE *out, const hw_array *array, arch_memory *memory) {
  sim_trace_writer *writer = WF_NEW(sim_trace_writer);
  writer->out = out;
  writer->memory = memory;
  writer->print = sim_footprint_create();
  memory->observer = (arch_memory_observer){.context = writer, .on_read = on_read, .on_write = on_write};
  fprintf(out, "weft-trace 1\narray %s %016" PRIx64 "\nisa %u\n", array->name, hw_array_hash(array),
          array->isa.revision);
  return writer;
}

void sim_trace_writer_command(sim_trace_writer *writer, const arch_command *command) {
  char text[COMMAND_TEXT];
  isa_print(command->insn, command->rs1, command->rs2, text, sizeof text);
  fprintf(writer->out, "%s\n", text);
  writer->commands++;
}

void sim_trace_writer_fence(sim_trace_writer *writer) { fputs("fence\n", writer->out); }

bool sim_trace_writer_close(sim_trace_writer *writer) {
  fprintf(writer->out, "end commands=%" PRIu64 " written=%" PRIu64 " digest=%016" PRIx64 "\n", writer->commands,
          sim_footprint_written_bytes(writer->print), sim_footprint_digest(writer->print));
  bool good = fflush(writer->out) == 0 && !ferror(writer->out);
  writer->memory->observer = (arch_memory_observer){0};
  sim_footprint_destroy(writer->print);
  wf_free(writer);
  return good;
}
