// SPDX-License-Identifier: Apache-2.0
// See machine.h.
#include "sim/ref/tests/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/ref/ref.h"

enum { MEMORY_BYTES = 1 << 22 };

hw_array machine_default_array(void) {
  hw_array array;
  hw_array_default(&array);
  return array;
}

machine *machine_create(const hw_array *array) {
  machine *m = WF_NEW(machine);
  wf_diag diag = wf_diag_to(stderr);
  m->array = *array;
  m->memory = arch_memory_create(MEMORY_BYTES);
  m->engine = sim_ref_engine.create(&m->array, m->memory, &diag);
  assert_non_null(m->engine);
  return m;
}

void machine_destroy(machine *m) {
  m->engine->ops->destroy(m->engine);
  arch_memory_destroy(m->memory);
  wf_free(m);
}

static sim_push_result push(machine *m, const char *format, va_list args, uint64_t *response) {
  char text[512];
  vsnprintf(text, sizeof text, format, args);
  arch_command command = {.pc = 0x80000100, .index = m->commands++};
  isa_text_error error;
  command.insn = isa_parse(m->array.isa.revision, text, &command.rs1, &command.rs2, &error);
  if (command.insn == NULL) fail_msg("%s: column %zu: %s", text, error.column, error.text);
  command.funct = (uint8_t)command.insn->funct;
  command.returns = command.insn->returns;
  return m->engine->ops->push(m->engine, 0, &command, response);
}

uint64_t give(machine *m, const char *format, ...) {
  uint64_t response = 0;
  va_list args;
  va_start(args, format);
  sim_push_result result = push(m, format, args, &response);
  va_end(args);
  if (result != SIM_PUSH_DONE) fail_msg("%s: %s", format, m->engine->ops->fault(m->engine)->text);
  return response;
}

void refuse(machine *m, arch_fault_kind kind, const char *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  sim_push_result result = push(m, format, args, NULL);
  va_end(args);
  const arch_fault *fault = m->engine->ops->fault(m->engine);
  if (result != SIM_PUSH_FAULT) fail_msg("%s: passed, expected: %s", format, text);
  assert_string_equal(fault->text, text);
  assert_int_equal(fault->kind, kind);
  assert_int_equal(fault->command.index, m->commands - 1);
}

int8_t *bytes_at(machine *m, uint64_t address) {
  int8_t *bytes = (int8_t *)arch_memory_at(m->memory, address, 1);
  assert_non_null(bytes);
  return bytes;
}

int32_t *words_at(machine *m, uint64_t address) { return (int32_t *)(void *)bytes_at(m, address); }

void fill_bytes(machine *m, uint64_t address, size_t count, int value) { memset(bytes_at(m, address), value, count); }

static void expect(const char *elements, const char *got) {
  size_t length = strlen(got);
  assert_true(length > 0);
  char *trimmed = wf_strdup(got);
  trimmed[length - 1] = '\0';
  assert_string_equal(trimmed, elements);
  wf_free(trimmed);
}

static size_t count_elements(const char *elements) {
  size_t count = 1;
  for (const char *c = elements; *c != '\0'; c++) count += *c == ' ';
  return count;
}

void expect_bytes(machine *m, uint64_t address, const char *elements) {
  char text[4096];
  size_t used = 0, count = count_elements(elements);
  for (size_t n = 0; n < count; n++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%d ", bytes_at(m, address)[n]);
  expect(elements, text);
}

void expect_words(machine *m, uint64_t address, const char *elements) {
  char text[4096];
  size_t used = 0, count = count_elements(elements);
  for (size_t n = 0; n < count; n++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%d ", words_at(m, address)[n]);
  expect(elements, text);
}
