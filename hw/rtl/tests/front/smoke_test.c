// First programs through the whole accelerator: move in, preload, compute, move out; a matrix loop; counters.
// Usage: smoke_test ARRAY
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/rtl/tests/front/accel_machine.h"
#include "isa/isa_fields.h"

#define ACCUMULATOR UINT64_C(0x80000000)
#define GARBAGE UINT64_C(0xffffffff)
#define ONE UINT64_C(0x3f800000)

enum { A_AT = 0x1000, B_AT = 0x9000, C_AT = 0x11000, D_AT = 0x21000 };

static uint64_t address(uint64_t offset) { return MACHINE_BASE + offset; }
static uint64_t operand(uint64_t local, uint64_t rows, uint64_t cols) { return rows << 48 | cols << 32 | local; }

static void configure(machine *m, uint64_t stride_bytes) {
  machine_put(m, ISA_FUNCT_CONFIG_EX, UINT64_C(1) << 16 | 4 | ONE << 32, UINT64_C(1) << 48);
  for (uint64_t state = 0; state < 3; state++)
    machine_put(m, ISA_FUNCT_CONFIG_LD, 1 | state << 3 | 1 << 8 | (uint64_t)m->derived.dim << 16 | ONE << 32,
                stride_bytes);
  machine_put(m, ISA_FUNCT_CONFIG_ST, 2, stride_bytes | ONE << 32);
}

static void fill(machine *m, unsigned seed) {
  srand(seed);
  for (size_t n = 0; n < MACHINE_BYTES; n++) m->memory[n] = (uint8_t)(rand() % 7 - 3);
}

static int8_t clip(int32_t x) { return x > 127 ? 127 : x < -128 ? -128 : (int8_t)x; }

// C = A * B, all square with `side` elements and rows of `side` bytes.
static bool check_product(const machine *m, uint32_t side) {
  for (uint32_t i = 0; i < side; i++) {
    for (uint32_t j = 0; j < side; j++) {
      int32_t sum = 0;
      for (uint32_t k = 0; k < side; k++)
        sum += (int8_t)m->memory[A_AT + i * side + k] * (int8_t)m->memory[B_AT + k * side + j];
      if ((int8_t)m->memory[C_AT + i * side + j] == clip(sum)) continue;
      fprintf(stderr, "C[%u][%u] is %d, not %d\n", i, j, (int8_t)m->memory[C_AT + i * side + j], clip(sum));
      return false;
    }
  }
  return true;
}

static bool one_tile(machine *m) {
  uint64_t dim = m->derived.dim;
  fill(m, 1);
  configure(m, dim);
  machine_put(m, ISA_FUNCT_MVIN, address(A_AT), operand(0, dim, dim));
  machine_put(m, ISA_FUNCT_MVIN2, address(B_AT), operand(dim, dim, dim));
  machine_put(m, ISA_FUNCT_PRELOAD, operand(dim, dim, dim), operand(ACCUMULATOR, dim, dim));
  machine_put(m, ISA_FUNCT_COMPUTE_PRELOADED, operand(0, dim, dim), operand(GARBAGE, dim, dim));
  machine_put(m, ISA_FUNCT_MVOUT, address(C_AT), operand(ACCUMULATOR, dim, dim));
  uint64_t window = machine_run(m);
  printf("one tile: %" PRIu64 " cycles\n", window);
  return !m->failed && check_product(m, (uint32_t)dim);
}

static bool matrix_loop(machine *m) {
  enum { TILES = 3 };
  uint64_t dim = m->derived.dim, side = TILES * dim;
  fill(m, 2);
  configure(m, side);
  machine_put(m, ISA_FUNCT_LOOP_WS_BOUNDS, 0, (uint64_t)TILES << 32 | TILES << 16 | TILES);
  machine_put(m, ISA_FUNCT_LOOP_WS_ADDRS_AB, address(A_AT), address(B_AT));
  machine_put(m, ISA_FUNCT_LOOP_WS_ADDRS_DC, 0, address(C_AT));
  machine_put(m, ISA_FUNCT_LOOP_WS_STRIDES_AB, side, side);
  machine_put(m, ISA_FUNCT_LOOP_WS_STRIDES_DC, side, side);
  machine_put(m, ISA_FUNCT_LOOP_WS, 0, 0);
  uint64_t window = machine_run(m);
  printf("loop of %d tiles per side: %" PRIu64 " cycles\n", TILES, window);
  return !m->failed && check_product(m, (uint32_t)side);
}

// Reads return the snapshot while it lasts, then what was counted meanwhile; clearing leaves nothing.
static bool snapshot(machine *m, uint64_t bytes) {
  uint64_t dim = m->derived.dim;
  machine_put_returning(m, ISA_FUNCT_COUNTER, 4);  // take it
  machine_run(m);
  machine_put(m, ISA_FUNCT_MVIN, address(A_AT), operand(0, dim, dim));
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
  configure(m, dim);
  machine_run(m);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 1);
  machine_put_returning(m, ISA_FUNCT_COUNTER, 8 | 4 << 12 | UINT64_C(1) << 31);  // counter 0: bytes read
  machine_put_returning(m, ISA_FUNCT_COUNTER, 8 | 1 << 4 | 1 << 12);             // counter 1: load alone
  machine_run(m);
  machine_put(m, ISA_FUNCT_MVIN, address(A_AT), operand(0, dim, dim));
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
