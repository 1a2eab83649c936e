// SPDX-License-Identifier: Apache-2.0
// See machine.h.
#include "sim/host/tests/machine.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

machine *machine_create(void) {
  machine *m = WF_NEW(machine);
  m->memory = arch_memory_create(MACHINE_BYTES);
  m->console = open_memstream(&m->text, &m->text_length);
  m->console_error = open_memstream(&m->error_text, &m->error_length);
  m->config = (host_config){.memory = m->memory,
                            .entry = MACHINE_BASE,
                            .tohost = MACHINE_TOHOST,
                            .fromhost = MACHINE_FROMHOST,
                            .console = m->console,
                            .console_error = m->console_error,
                            .max_instructions = 1000000};
  return m;
}

void machine_destroy(machine *m) {
  host_destroy(m->h);
  fclose(m->console);
  fclose(m->console_error);
  free(m->text);
  free(m->error_text);
  arch_memory_destroy(m->memory);
  wf_free(m);
}

host *machine_host(machine *m) {
  if (m->h == NULL) m->h = host_create(&m->config);
  return m->h;
}

void machine_words(machine *m, uint64_t address, const uint32_t *words, size_t count) {
  uint8_t *at = arch_memory_at(m->memory, address, count * sizeof *words);
  assert(at != NULL);
  memcpy(at, words, count * sizeof *words);
}

void machine_set64(machine *m, uint64_t address, uint64_t value) {
  memcpy(arch_memory_at(m->memory, address, sizeof value), &value, sizeof value);
}

uint64_t machine_get64(const machine *m, uint64_t address) {
  uint64_t value;
  memcpy(&value, arch_memory_at(m->memory, address, sizeof value), sizeof value);
  return value;
}

host_result machine_run(machine *m) { return host_run(machine_host(m), NULL, NULL); }
