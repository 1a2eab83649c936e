// SPDX-License-Identifier: Apache-2.0
// Convenience on the generated instruction wrappers (isa/weft_isa.h): local addresses, and the configuration
// instructions as structs with named members, because a call with ten numbers cannot be read.
//
// In the structs a zero means the usual value: scale 0 is 1.0, strides of rows 0 are 1, block stride 0 is WEFT_DIM.
// The accelerator runs behind the program: weft_fence() before the program reads what an mvout wrote, and before an
// mvin reads what the program wrote after earlier commands that read the same bytes.
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/weft_isa.h"
#include "weft/port.h"
#include "weft_array.h"

// ---- local addresses

#define WEFT_GARBAGE WEFT_LOCAL_GARBAGE     // reads as nothing, writes nothing
#define WEFT_ACC_ADD WEFT_LOCAL_ACCUMULATE  // add to the accumulator instead of overwriting it
#define WEFT_ACC_FULL WEFT_LOCAL_FULL       // store int32 instead of scaled int8

static inline uint32_t weft_local_sp(size_t row) { return (uint32_t)row; }
static inline uint32_t weft_local_acc(size_t row, uint32_t flags) {
  return WEFT_LOCAL_ACCUMULATOR | flags | (uint32_t)row;
}

// ---- numbers

enum weft_activation { WEFT_NO_ACTIVATION, WEFT_RELU };
enum weft_dataflow { WEFT_OS, WEFT_WS };

#define WEFT_KEEP_SCALE UINT32_C(0xffffffff)

static inline uint32_t weft_scale_bits(float scale) { return weft_f32(scale == 0.0f ? 1.0f : scale); }

static inline size_t weft_min(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t weft_max(size_t a, size_t b) { return a > b ? a : b; }
static inline size_t weft_blocks(size_t elements) { return (elements + WEFT_DIM - 1) / WEFT_DIM; }

// ---- configuration

struct weft_execute {
  enum weft_dataflow dataflow;
  enum weft_activation activation;  // of results written to the scratchpad
  bool a_transpose, b_transpose;
  size_t a_stride, c_stride;  // rows
  unsigned shift;             // of output-stationary results
  float scale;                // of operands read from the accumulator
};

static inline void weft_set_execute(struct weft_execute e) {
  weft_config_ex(e.dataflow, e.activation, false, e.a_transpose, e.b_transpose, e.a_stride == 0 ? 1 : e.a_stride,
                 weft_scale_bits(e.scale), e.shift, e.c_stride == 0 ? 1 : e.c_stride);
}

struct weft_load {
  unsigned state;       // 0 mvin, 1 mvin2, 2 mvin3
  size_t stride_bytes;  // between rows in memory; 0 repeats one row
  size_t block_stride;  // rows between column blocks
  float scale;          // of int8 elements
  bool shrink;          // int8 elements into the accumulator
  unsigned pixel_repeats;
  bool packed;  // rows of two int4 elements a byte, into the scratchpad (WEFT_LOAD_PACKED_INT4)
};

static inline void weft_set_load(struct weft_load l) {
  weft_config_ld(l.shrink, l.state, l.packed, l.pixel_repeats, l.block_stride == 0 ? WEFT_DIM : l.block_stride,
                 weft_scale_bits(l.scale), l.stride_bytes);
}

struct weft_pool {
  unsigned size, stride;  // stride 0: no pooling
  unsigned upper_padding, left_padding;
  size_t rows, cols;                // of this store, before pooling
  size_t pooled_rows, pooled_cols;  // of this store
  size_t image_cols;                // of the pooled image in memory
};

struct weft_store {
  size_t stride_bytes;  // between rows in memory
  enum weft_activation activation;
  float scale;
  bool keep_scale;  // leave the scale as it is
  struct weft_pool pool;
};

static inline void weft_set_store(struct weft_store s) {
  weft_config_st(s.activation, s.pool.stride, s.pool.size, s.pool.upper_padding, s.pool.left_padding, s.pool.image_cols,
                 s.pool.pooled_rows, s.pool.pooled_cols, s.pool.rows, s.pool.cols, s.stride_bytes,
                 s.keep_scale ? WEFT_KEEP_SCALE : weft_scale_bits(s.scale));
}

// ---- performance counters

static inline void weft_counters_reset(void) { (void)weft_counter(true, false, false, false, 0, 0, false); }

// Counter `index` counts the cycles of `event` from now on.
static inline void weft_counter_select(unsigned index, enum weft_event event) {
  (void)weft_counter(false, false, false, true, index, event, false);
}

// Counter `index` reads `external` from now on.
static inline void weft_counter_select_external(unsigned index, enum weft_external external) {
  (void)weft_counter(false, false, false, true, index, external, true);
}

static inline uint32_t weft_counter_read(unsigned index) {
  return (uint32_t)weft_counter(false, false, false, false, index, 0, false);
}

// Between these two, reads return the values of the moment of the first.
static inline void weft_counters_freeze(void) { (void)weft_counter(false, false, true, false, 0, 0, false); }
static inline void weft_counters_thaw(void) { (void)weft_counter(false, true, false, false, 0, 0, false); }

#endif
