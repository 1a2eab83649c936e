// SPDX-License-Identifier: Apache-2.0
// A program as a command trace: data lines with what the tensors hold, then the commands. It says that it was not
// run (`unrecorded`), so a replay compares nothing. The format is sim/trace/trace.h's; this file writes it itself,
// because the writer there listens to a memory that an engine works on.
#include <inttypes.h>
#include <string.h>

#include "compiler/command/private.h"

enum { BYTES_PER_LINE = 256, BUFFER = 1 << 15 };

typedef struct tracer {
  const command_program *program;
  const command_layout *layout;
  FILE *out;
  uint64_t commands;
  size_t used;
  char buffer[BUFFER];
} tracer;

static void flush(tracer *t) {
  fwrite(t->buffer, 1, t->used, t->out);
  t->used = 0;
}

// Room for a line.
static char *line_of(tracer *t) {
  if (BUFFER - t->used <= ISA_TEXT_MAX) flush(t);
  return t->buffer + t->used;
}

static bool all_zero(const uint8_t *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (bytes[i] != 0) return false;
  return true;
}

static void write_line(FILE *out, uint64_t address, const uint8_t *bytes, size_t length) {
  char hex[2 * BYTES_PER_LINE + 1];
  for (size_t i = 0; i < length; i++) {
    hex[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  hex[2 * length] = '\n';
  fprintf(out, "data 0x%" PRIx64 " ", address);
  fwrite(hex, 1, 2 * length + 1, out);
}

// Memory starts as zeros, so lines of zeros are left out.
static void write_data(tracer *t, uint64_t address, const uint8_t *bytes, uint64_t length) {
  for (uint64_t at = 0; at < length; at += BYTES_PER_LINE) {
    size_t part = length - at < BYTES_PER_LINE ? (size_t)(length - at) : BYTES_PER_LINE;
    if (!all_zero(bytes + at, part)) write_line(t->out, address + at, bytes + at, part);
  }
}

static bool write_command(void *context, const command_insn *insn) {
  tracer *t = context;
  char *line = line_of(t);
  size_t length = 5;
  if (insn == NULL) {
    memcpy(line, "fence", length);
  } else {
    const arch_command command = command_placed(t->program, insn, t->layout, t->commands++);
    length = isa_print(command.insn, command.rs1, command.rs2, line, ISA_TEXT_MAX);
  }
  line[length] = '\n';
  t->used += length + 1;
  return true;
}

bool command_write_trace(const command_program *program, const command_layout *layout, const uint8_t *const *bytes,
                         FILE *out, wf_diag *diag) {
  if (!command_layout_ok(program, layout, diag)) return false;
  tracer t = {.program = program, .layout = layout, .out = out};
  fprintf(out, "weft-trace 1\narray %s %016" PRIx64 "\nisa %u\n", program->array->name, hw_array_hash(program->array),
          program->array->isa.revision);
  for (int n = 0; n < program->tensor_count; n++) {
    const uint8_t *held = program->tensors[n].contents != NULL ? (const uint8_t *)program->tensors[n].contents
                          : bytes != NULL                      ? bytes[n]
                                                               : NULL;
    if (held != NULL) write_data(&t, layout->tensor_address[n], held, command_tensor_bytes(&program->tensors[n]));
  }
  command_walk(program, write_command, &t);
  flush(&t);
  fprintf(out, "end commands=%" PRIu64 " unrecorded\n", t.commands);
  if (fflush(out) == 0 && !ferror(out)) return true;
  wf_error(diag, wf_in_file(program->name), "cannot write the trace");
  return false;
}
