// SPDX-License-Identifier: Apache-2.0
// See element.h. One case per type, from the table of types.
#include "compiler/graph/element.h"

#include <math.h>
#include <stdbool.h>

typedef float f32;
typedef double f64;
typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;

#define INTEGERS(X) \
  X(I8, i8) X(U8, u8) X(I16, i16) X(U16, u16) X(I32, i32) X(U32, u32) X(I64, i64) X(U64, u64) X(BOOL, u8)

static int64_t saturate(double value) {
  if (isnan(value)) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

int64_t graph_int_at(graph_type type, const void *data, size_t index) {
  switch (type) {
#define X(NAME, c_type) \
  case GRAPH_##NAME:    \
    return (int64_t)((const c_type *)data)[index];
    INTEGERS(X)
#undef X
    default:
      return saturate(graph_real_at(type, data, index));
  }
}

double graph_real_at(graph_type type, const void *data, size_t index) {
  switch (type) {
    case GRAPH_F32:
      return (double)((const f32 *)data)[index];
    case GRAPH_F64:
      return ((const f64 *)data)[index];
    case GRAPH_U64:
      return (double)((const u64 *)data)[index];
    default:
      return (double)graph_int_at(type, data, index);
  }
}

void graph_put_int(graph_type type, void *data, size_t index, int64_t value) {
  switch (type) {
    case GRAPH_BOOL:
      ((u8 *)data)[index] = value != 0;
      break;
#define X(NAME, c_type)                                \
  case GRAPH_##NAME:                                   \
    ((c_type *)data)[index] = (c_type)(uint64_t)value; \
    break;
      X(I8, i8)
      X(U8, u8)
      X(I16, i16)
      X(U16, u16)
      X(I32, i32)
      X(U32, u32)
      X(I64, i64)
      X(U64, u64)
#undef X
    default:
      graph_put_real(type, data, index, (double)value);
  }
}

void graph_put_real(graph_type type, void *data, size_t index, double value) {
  if (type == GRAPH_F32)
    ((f32 *)data)[index] = (f32)value;
  else if (type == GRAPH_F64)
    ((f64 *)data)[index] = value;
  else
    graph_put_int(type, data, index, saturate(value));
}

// ---- runs: the common types have a loop of their own

#define LOAD(NAME, c_type, as)                                                               \
  case GRAPH_##NAME:                                                                         \
    for (int64_t i = 0; i < count; i++) values[i] = (as)((const c_type *)data)[at + i * by]; \
    break;
#define STORE(NAME, c_type, from)                                                           \
  case GRAPH_##NAME:                                                                        \
    for (int64_t i = 0; i < count; i++) ((c_type *)data)[at + i] = (c_type)(from)values[i]; \
    break;

void graph_load_reals(graph_type type, const void *data, int64_t at, int64_t by, int64_t count, double *values) {
  switch (type) {
#define X(NAME, c_type) LOAD(NAME, c_type, double)
    X(F32, f32)
    X(F64, f64)
    INTEGERS(X)
#undef X
    default:
      break;
  }
}

void graph_load_ints(graph_type type, const void *data, int64_t at, int64_t by, int64_t count, int64_t *values) {
  switch (type) {
#define X(NAME, c_type) LOAD(NAME, c_type, i64)
    INTEGERS(X)
#undef X
    default:
      for (int64_t i = 0; i < count; i++) values[i] = graph_int_at(type, data, (size_t)(at + i * by));
  }
}

void graph_store_reals(graph_type type, void *data, int64_t at, int64_t count, const double *values) {
  switch (type) {
    STORE(F32, f32, double)
    STORE(F64, f64, double)
    default:
      for (int64_t i = 0; i < count; i++) graph_put_real(type, data, (size_t)(at + i), values[i]);
  }
}

void graph_store_ints(graph_type type, void *data, int64_t at, int64_t count, const int64_t *values) {
  switch (type) {
#define X(NAME, c_type) STORE(NAME, c_type, u64)
    X(I8, i8)
    X(U8, u8)
    X(I16, i16)
    X(U16, u16)
    X(I32, i32)
    X(U32, u32)
    X(I64, i64)
    X(U64, u64)
#undef X
    default:
      for (int64_t i = 0; i < count; i++) graph_put_int(type, data, (size_t)(at + i), values[i]);
  }
}
