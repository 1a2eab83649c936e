// SPDX-License-Identifier: Apache-2.0
// A command stream and its encoder. Fields are placed with plain shifts, straight from the instruction-set description:
// the generated accessors are one of the things that this suite checks.
#ifndef SIM_TESTS_ORACLE_COMMANDS_H
#define SIM_TESTS_ORACLE_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCAL_ACC UINT32_C(0x80000000)
#define LOCAL_ACCUMULATE UINT32_C(0x40000000)
#define LOCAL_FULL UINT32_C(0x20000000)
#define LOCAL_GARBAGE UINT32_C(0xffffffff)
#define SCALE_KEEP UINT32_C(0xffffffff)

enum {
  F_CONFIG = 0,
  F_MVIN2 = 1,
  F_MVIN = 2,
  F_MVOUT = 3,
  F_COMPUTE_PRELOADED = 4,
  F_COMPUTE_ACCUMULATED = 5,
  F_PRELOAD = 6,
  F_FLUSH = 7,
  F_LOOP_WS = 8,
  F_LOOP_WS_BOUNDS = 9,
  F_LOOP_WS_ADDRS_AB = 10,
  F_LOOP_WS_ADDRS_DC = 11,
  F_LOOP_WS_STRIDES_AB = 12,
  F_LOOP_WS_STRIDES_DC = 13,
  F_MVIN3 = 14,
  F_LOOP_CONV = 15,
  F_LOOP_CONV_CONFIG = 16,  // six of them
  F_CLOCK_GATE = 22,
  F_CONFIG_GATE = 26,
  F_COUNTER = 126,
  F_FENCE = 255,  // not a command: the driver waits until the engine is idle
};

typedef struct command {
  uint64_t rs1;
  uint64_t rs2;
  uint8_t funct;
} command;

typedef struct command_list {
  command *items;
  size_t count;
  size_t capacity;
} command_list;

// A local operand with its logical size.
typedef struct operand {
  uint32_t local;
  int64_t rows;
  int64_t cols;
} operand;

typedef struct config_ex {
  bool ws;
  uint32_t activation;
  uint32_t shift;
  bool a_transpose;
  bool b_transpose;
  uint32_t a_stride;
  uint32_t c_stride;
  uint32_t scale;
  bool strides_only;
} config_ex;

typedef struct config_ld {
  uint32_t state;
  uint64_t stride;
  uint32_t block_stride;
  uint32_t scale;
  uint32_t repeats;
  bool shrink;
  bool packed;
} config_ld;

typedef struct config_st {
  uint32_t stride;
  uint32_t activation;
  uint32_t scale;
  uint32_t pool_stride;
  uint32_t pool_size;
  uint32_t upad;
  uint32_t lpad;
  uint32_t out_dim;
  uint32_t porows;
  uint32_t pocols;
  uint32_t orows;
  uint32_t ocols;
} config_st;

typedef struct config_gate {
  bool on;
  int32_t offset;  // scratchpad row less accumulator row
  uint32_t scale;
} config_gate;

void put(command_list *list, uint8_t funct, uint64_t rs1, uint64_t rs2);
void put_config_ex(command_list *list, config_ex c);
void put_config_ld(command_list *list, config_ld c);
void put_config_st(command_list *list, config_st c);
void put_config_gate(command_list *list, config_gate c);
void put_mvin(command_list *list, uint32_t state, uint64_t dram, operand to);
void put_mvout(command_list *list, uint64_t dram, operand from);
void put_preload(command_list *list, operand stationary, operand c);
void put_compute(command_list *list, bool preloaded, operand a, operand bd);
void put_fence(command_list *list);
void command_list_clear(command_list *list);  // keeps the storage
void command_list_free(command_list *list);

static inline operand garbage_operand(int64_t rows, int64_t cols) { return (operand){LOCAL_GARBAGE, rows, cols}; }

#endif
