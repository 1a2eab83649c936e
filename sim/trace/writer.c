// SPDX-License-Identifier: Apache-2.0
// Writes command traces: see trace.h. Memory is recorded when the accelerator reads it, so the trace holds exactly what
// a replay needs, however the host made it. With times it is read after its command came: what the hart did since the
// last fence is kept until the next one, and the data goes before it.
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/trace/footprint.h"
#include "sim/trace/trace.h"

enum { BYTES_PER_LINE = 64, COMMAND_TEXT = 1024 };

struct sim_trace_writer {
  FILE *out;
  arch_memory *memory;
  sim_footprint *print;    // what a replay's memory holds
  sim_footprint *written;  // what the accelerator wrote, whatever the host made of it
  uint64_t commands;
  uint64_t cycle;
  FILE *kept;  // since the last fence; NULL: without times
  char *text;  // of it
  size_t length;
};

static FILE *body(const sim_trace_writer *writer) { return writer->kept != NULL ? writer->kept : writer->out; }

static void begin_line(const sim_trace_writer *writer) {
  if (writer->kept != NULL) fprintf(writer->kept, "@%" PRIu64 " ", writer->cycle);
}

static void keep(sim_trace_writer *writer) { writer->kept = open_memstream(&writer->text, &writer->length); }

static void release(sim_trace_writer *writer) {
  if (writer->kept == NULL) return;
  fclose(writer->kept);
  fwrite(writer->text, 1, writer->length, writer->out);
  free(writer->text);
  writer->kept = NULL;
}

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
  sim_footprint_write(writer->written, address, bytes, length);
}

static sim_trace_writer *open_version(FILE *out, const hw_array *array, arch_memory *memory, unsigned version) {
  sim_trace_writer *writer = WF_NEW(sim_trace_writer);
  writer->out = out;
  writer->memory = memory;
  writer->print = sim_footprint_create();
  writer->written = sim_footprint_create();
  memory->observer = (arch_memory_observer){.context = writer, .on_read = on_read, .on_write = on_write};
  fprintf(out, "weft-trace %u\narray %s %016" PRIx64 "\nisa %u\n", version, array->name, hw_array_hash(array),
          array->isa.revision);
  return writer;
}

sim_trace_writer *sim_trace_writer_open(FILE *out, const hw_array *array, arch_memory *memory) {
  return open_version(out, array, memory, 1);
}

sim_trace_writer *sim_trace_writer_open_timed(FILE *out, const hw_array *array, arch_memory *memory) {
  sim_trace_writer *writer = open_version(out, array, memory, 2);
  keep(writer);
  return writer;
}

void sim_trace_writer_time(sim_trace_writer *writer, uint64_t cycle) { writer->cycle = cycle; }

void sim_trace_writer_command(sim_trace_writer *writer, const arch_command *command) {
  char text[COMMAND_TEXT];
  isa_print(command->insn, command->rs1, command->rs2, text, sizeof text);
  begin_line(writer);
  fprintf(body(writer), "%s\n", text);
  writer->commands++;
}

void sim_trace_writer_fence(sim_trace_writer *writer) {
  begin_line(writer);
  fputs("fence\n", body(writer));
  if (writer->kept == NULL) return;
  release(writer);
  keep(writer);
}

void sim_trace_writer_hart(sim_trace_writer *writer, sim_trace_hart what, uint64_t address) {
  begin_line(writer);
  if (what == SIM_TRACE_FULL)
    fputs("full\n", body(writer));
  else
    fprintf(body(writer), "line %s 0x%" PRIx64 "\n", what == SIM_TRACE_LINE_READ ? "read" : "write", address);
}

bool sim_trace_writer_close(sim_trace_writer *writer) {
  release(writer);
  fprintf(writer->out, "end commands=%" PRIu64 " written=%" PRIu64 " digest=%016" PRIx64 "\n", writer->commands,
          sim_footprint_written_bytes(writer->written), sim_footprint_digest(writer->written));
  bool good = fflush(writer->out) == 0 && !ferror(writer->out);
  writer->memory->observer = (arch_memory_observer){0};
  sim_footprint_destroy(writer->print);
  sim_footprint_destroy(writer->written);
  wf_free(writer);
  return good;
}
