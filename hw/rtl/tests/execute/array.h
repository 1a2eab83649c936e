// SPDX-License-Identifier: Apache-2.0
// The array that a testbench was built for; the build passes the same numbers to the Verilated module.
#ifndef HW_RTL_TESTS_EXECUTE_ARRAY_H
#define HW_RTL_TESTS_EXECUTE_ARRAY_H

#include <cstdint>

#ifndef MESH_ROWS
#define MESH_ROWS 4
#endif
#ifndef TILE_ROWS
#define TILE_ROWS 1
#endif
#ifndef DATAFLOW
#define DATAFLOW 2  // 0 weight-stationary, 1 output-stationary, 2 both
#endif
#ifndef TILE_LATENCY
#define TILE_LATENCY 0
#endif
#ifndef OUTPUT_DELAY
#define OUTPUT_DELAY 1
#endif
#ifndef OUTPUT_BITS
#define OUTPUT_BITS 20
#endif
#ifndef MAX_MATMULS
#define MAX_MATMULS 5
#endif
#ifndef READ_DELAY
#define READ_DELAY 4
#endif
#ifndef READS_ACC
#define READS_ACC 1
#endif
#ifndef WRITES_SP
#define WRITES_SP 1
#endif
#ifndef BIAS_GARBAGE
#define BIAS_GARBAGE 0
#endif
#ifndef SP_BANKS
#define SP_BANKS 4
#endif
#ifndef SP_BANK_BITS
#define SP_BANK_BITS 7
#endif
#ifndef ACC_BANKS
#define ACC_BANKS 2
#endif
#ifndef ACC_BANK_BITS
#define ACC_BANK_BITS 6
#endif
#ifndef ROW_BITS
#define ROW_BITS 9
#endif

enum : int {
  DIM = MESH_ROWS * TILE_ROWS,
  STEP = TILE_LATENCY + 1,
  MESH_LATENCY = (2 * MESH_ROWS - 1) * STEP + OUTPUT_DELAY,  // a row enters the mesh -> it leaves, aligned
  MIN_ROWS = DIM < 4 ? DIM : 4,
  SP_ROWS = SP_BANKS << SP_BANK_BITS,
  ACC_ROWS = ACC_BANKS << ACC_BANK_BITS,
  ID_BITS = 5,
  ENTRIES = 16,  // commands the reservation station holds for the execute unit
};

constexpr uint32_t GARBAGE = 0xffffffffu, ACC = 1u << 31, ACCUMULATE = 1u << 30;
enum Funct : uint8_t { CONFIG = 0, COMPUTE_PRELOADED = 4, COMPUTE_ACCUMULATED = 5, PRELOAD = 6 };

struct Command {
  uint8_t funct;
  uint64_t rs1, rs2;
  uint64_t available;  // first cycle in which it may be issued
};

inline uint64_t field(uint32_t address, int rows, int cols) {
  return (uint64_t)rows << 48 | (uint64_t)cols << 32 | address;
}

struct Config {
  bool ws = true, a_transpose = false, b_transpose = false, strides_only = false;
  int activation = 0, shift = 0, a_stride = 1, c_stride = 1;
  uint32_t scale = 0x3f800000u;
};

inline Command config_ex(const Config &c, uint64_t available = 0) {
  uint64_t rs1 = (uint64_t)c.scale << 32 | (uint64_t)c.a_stride << 16 | (uint64_t)c.b_transpose << 9 |
                 (uint64_t)c.a_transpose << 8 | (uint64_t)c.strides_only << 7 | (uint64_t)c.activation << 3 |
                 (uint64_t)c.ws << 2;
  return {CONFIG, rs1, (uint64_t)c.c_stride << 48 | (uint64_t)c.shift, available};
}

#endif
