// SPDX-License-Identifier: Apache-2.0
// Operators that run on the hart: what a network needs between the accelerator's products. One C source builds for
// RISC-V and natively, and both give the same bits (floating point: host_math.h, -ffp-contract=off).
//
// A call is a loop nest over `rank` dimensions with an operand behind each name: a place and a step in bytes per
// dimension (0: the operand does not change along it). The first `outer` dimensions are those of the result; what a
// call sums up, normalises or searches runs over the rest. host_ops.def lists the operators.
#ifndef WEFT_HOST_OPS_H
#define WEFT_HOST_OPS_H

#include <stddef.h>
#include <stdint.h>

enum { WEFT_HOST_RANK = 8, WEFT_HOST_OPERANDS = 4, WEFT_HOST_INTEGERS = 2, WEFT_HOST_NUMBERS = 2 };

enum weft_host_type {
  WEFT_F32,
  WEFT_I8,
  WEFT_U8,
  WEFT_I32,
  WEFT_I64,
  WEFT_BOOL,
  WEFT_F64,  // from here on: casts, copies, and whole.c's operators
  WEFT_I16,
  WEFT_U16,
  WEFT_U32,
  WEFT_U64,
  WEFT_HOST_TYPES
};

enum weft_host_op {
#define WEFT_HOST_OP(NAME, text, inputs) WEFT_HOST_##NAME,
#include "weft/host_ops.def"
  WEFT_HOST_OPS
};

// How SAMPLE reads: nearest without LINEAR and CUBIC, zeros outside without BORDER and REFLECTION; CORNERS: -1 and 1
// are the middle of the outer pixels, not their edge.
enum weft_sample {
  WEFT_SAMPLE_LINEAR = 1,
  WEFT_SAMPLE_CUBIC = 2,
  WEFT_SAMPLE_BORDER = 4,
  WEFT_SAMPLE_REFLECTION = 8,
  WEFT_SAMPLE_CORNERS = 16,
};

struct weft_host_operand {
  void *data;
  int64_t step[WEFT_HOST_RANK];  // bytes
  uint32_t type, element_bytes;
};

struct weft_host_call {
  uint32_t op, rank, outer;
  uint16_t chain, lead;                                  // of weft_host_run_all; 0: the call stands alone
  int64_t dim[WEFT_HOST_RANK];                           // 1 or more
  struct weft_host_operand operand[WEFT_HOST_OPERANDS];  // the result, then the inputs
  int64_t integer[WEFT_HOST_INTEGERS];                   // what the operator says
  float number[WEFT_HOST_NUMBERS];
};

// What TURNS has in turn: commands for the array; calls of the hart, whole or a part of them; waiting until the array
// is idle. A part has one point of each dimension before `dim`, and `count` points from `at[dim]` on of that.
enum { WEFT_HOST_TURN_DIMS = 3 };
enum weft_host_turn_kind { WEFT_HOST_TURN_COMMANDS, WEFT_HOST_TURN_CALLS, WEFT_HOST_TURN_FENCE };
struct weft_host_turn {
  uint16_t kind, dim;
  uint32_t first;  // command, or call behind that of TURNS
  uint32_t count;  // commands; points, 0: the whole call
  uint32_t at[WEFT_HOST_TURN_DIMS];
};
struct weft_host_command {
  uint64_t funct, rs1, rs2;
};

enum weft_host_status {
  WEFT_HOST_OK,
  WEFT_HOST_NO_SUCH_OP,    // or not for these types
  WEFT_HOST_OUT_OF_RANGE,  // an index of a gather
};

enum weft_host_status weft_host_run(const struct weft_host_call *call);

// Calls one after the other. Those that go element by element may be chained: the first one says how many calls there
// are in its `chain`. Each of them has `lead` first dimensions with as many points as the others' ones; at each point
// all of them are carried out for the dimensions behind, so that what one writes is in the cache when the next reads.
// Calls behind one of TURNS, as many as its `chain` says with itself, are carried out when it is their turn; these
// calls must not be constants, for they are changed and changed back.
enum { WEFT_HOST_CHAIN = 8 };
enum weft_host_status weft_host_run_all(const struct weft_host_call *calls, size_t count);

#endif
