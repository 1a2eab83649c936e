// SPDX-License-Identifier: Apache-2.0
// Programs that an engine must refuse: the fault's kind and command are those of the contract in sim/engine.h, the
// memory is what it was, and nothing is accepted afterwards. The seed is the number of the program.
#include <stdio.h>
#include <string.h>

#include "sim/tests/oracle/groups.h"
#include "sim/tests/oracle/numerics.h"

typedef struct refusal {
  const char *name;
  arch_fault_kind kind;
  void (*build)(bench *b, uint64_t inside, uint64_t outside);
} refusal;

static operand whole(const bench *b, uint32_t local) { return (operand){local, b->dim, b->dim}; }
static uint32_t last_row(const bench *b) { return b->size.sp_rows - 1; }

static void load_past_scratchpad(bench *b, uint64_t inside, uint64_t outside) {
  (void)outside;
  put_mvin(&b->program, 0, inside, (operand){last_row(b), 2, 1});
}

static void load_past_accumulator(bench *b, uint64_t inside, uint64_t outside) {
  (void)outside;
  put_mvin(&b->program, 0, inside, (operand){LOCAL_ACC | (b->size.acc_rows - 1), 2, 1});
}

static void store_past_accumulator(bench *b, uint64_t inside, uint64_t outside) {
  (void)outside;
  put_mvout(&b->program, inside, (operand){LOCAL_ACC | (b->size.acc_rows - 1), 2, 1});
}

static void load_outside(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  put_mvin(&b->program, 0, outside, whole(b, 0));
}

static void store_outside(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  put_mvout(&b->program, outside, whole(b, 0));
}

static void unknown_command(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  (void)outside;
  put(&b->program, 100, 0, 0);
}

static void unknown_load_state(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  (void)outside;
  put_config_ld(&b->program, (config_ld){3, 1, 1, FLOAT_ONE, 1, false, false});
}

static void both_transposed(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  (void)outside;
  put_config_ex(&b->program, (config_ex){.ws = true, .a_transpose = true, .b_transpose = true, .scale = FLOAT_ONE});
}

static void weights_transposed_os(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  (void)outside;
  put_config_ex(&b->program, (config_ex){.b_transpose = true, .scale = FLOAT_ONE});
}

static void weights_past_scratchpad(bench *b, uint64_t inside, uint64_t outside) {
  (void)inside;
  (void)outside;
  put_config_ex(&b->program, (config_ex){.ws = true, .a_stride = 1, .c_stride = 1, .scale = FLOAT_ONE});
  put_preload(&b->program, whole(b, last_row(b)), whole(b, LOCAL_ACC));
  put_compute(&b->program, true, whole(b, 0), garbage_operand(b->dim, b->dim));
}

static const refusal refusals[] = {
    {"a load past the scratchpad", ARCH_FAULT_LOCAL, load_past_scratchpad},
    {"a load past the accumulator", ARCH_FAULT_LOCAL, load_past_accumulator},
    {"a store past the accumulator", ARCH_FAULT_LOCAL, store_past_accumulator},
    {"a load outside memory", ARCH_FAULT_MEMORY, load_outside},
    {"a store outside memory", ARCH_FAULT_MEMORY, store_outside},
    {"an unknown command", ARCH_FAULT_ILLEGAL, unknown_command},
    {"an unknown load state", ARCH_FAULT_ILLEGAL, unknown_load_state},
    {"both operands transposed", ARCH_FAULT_ILLEGAL, both_transposed},
    {"an output-stationary B transposed alone", ARCH_FAULT_ILLEGAL, weights_transposed_os},
    {"weights past the scratchpad", ARCH_FAULT_LOCAL, weights_past_scratchpad},
};

uint64_t group_refuse_count(void) { return sizeof refusals / sizeof refusals[0]; }

// What follows the bad command would change memory if it were executed.
static void put_store(bench *b, uint64_t inside) {
  put_config_st(&b->program, (config_st){.stride = 1, .scale = FLOAT_ONE});
  put_mvout(&b->program, inside, whole(b, 0));
}

bool group_refuse(bench *b) {
  const refusal *r = &refusals[b->seed % group_refuse_count()];
  uint64_t inside = bench_alloc(b, "inside", 4 * b->dim * b->dim);
  uint64_t outside = ARCH_MEMORY_BASE + b->memory->size - 1;  // its last byte: the first row begins inside
  put_config_ld(&b->program, (config_ld){0, 1, (uint32_t)b->dim, FLOAT_ONE, 1, false, false});
  put_config_st(&b->program, (config_st){.stride = 1, .scale = FLOAT_ONE});
  r->build(b, inside, outside);
  uint64_t last_bad = b->program.count - 1;
  put_store(b, inside);
  bench_describe(b, "%s", r->name);
  return bench_finish_refused(b, r->kind, last_bad);
}
