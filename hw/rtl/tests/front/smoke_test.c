// SPDX-License-Identifier: Apache-2.0
// First programs through the whole accelerator: move in, preload, compute, move out; a matrix loop; counters.
// Usage: smoke_test ARRAY
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hw/rtl/tests/front/accel_programs.h"
#include "isa/isa_fields.h"

static bool one_tile(machine *m) {
  program_tile(m);
  uint64_t window = machine_run(m);
  printf("one tile: %" PRIu64 " cycles\n", window);
  return !m->failed && program_check(m, m->derived.dim);
}

static bool matrix_loop(machine *m) {
  program_loop(m);
  uint64_t window = machine_run(m);
  printf("loop of %d tiles per side: %" PRIu64 " cycles\n", PROGRAM_TILES, window);
  return !m->failed && program_check(m, PROGRAM_TILES * m->derived.dim);
}

// Reads return the snapshot while it lasts, then what was counted meanwhile; clearing leaves nothing.
static bool snapshot(machine *m, uint64_t bytes) {
  uint64_t dim = m->derived.dim;
  machine_put_returning(m, ISA_FUNCT_COUNTER, 4);  // take it
  machine_run(m);
  machine_put(m, ISA_FUNCT_MVIN, program_address(A_AT), program_operand(0, dim, dim));
  machine_run(m);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 0);  // frozen
  machine_put_returning(m, ISA_FUNCT_COUNTER, 2);  // leave it: still the frozen value
  machine_put_returning(m, ISA_FUNCT_COUNTER, 1);  // live; clears
  machine_put_returning(m, ISA_FUNCT_COUNTER, 0);
  machine_run(m);
  const uint64_t expected[4] = {bytes, bytes, 2 * bytes, 0};
  if (!m->failed && m->response_count == 4 && memcmp(m->responses, expected, sizeof expected) == 0) return true;
  fprintf(stderr, "snapshot: %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", m->responses[0], m->responses[1],
          m->responses[2], m->responses[3]);
  return false;
}

// A counter of bytes read and one of the cycles in which only the load unit is busy.
static bool counters(machine *m) {
  uint64_t dim = m->derived.dim;
  if (m->array.units.counters < 2) return true;
  program_configure(m, dim);
  machine_run(m);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 1);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 8 | 4 << 12 | UINT64_C(1) << 31);  // counter 0: bytes read
  machine_put_returning(m, ISA_FUNCT_COUNTER, 8 | 1 << 4 | 1 << 12);             // counter 1: load alone
  machine_run(m);
  machine_put(m, ISA_FUNCT_MVIN, program_address(A_AT), program_operand(0, dim, dim));
  machine_run(m);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 0);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 1 << 4);
  machine_run(m);
  bool good = !m->failed && m->response_count == 2 && m->responses[0] >= dim * dim && m->responses[1] > dim;
  printf("counters: %" PRIu64 " bytes read, %" PRIu64 " cycles\n", m->responses[0], m->responses[1]);
  return good && snapshot(m, m->responses[0]);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  machine *m = machine_create(argv[1]);
  if (m == NULL) return 2;
  bool good = one_tile(m) && matrix_loop(m) && counters(m);
  machine_destroy(m);
  return good ? 0 : 1;
}
