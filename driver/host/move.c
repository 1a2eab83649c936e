// SPDX-License-Identifier: Apache-2.0
// Operators that move elements: copies, casts, choices, gathers.
#include "private.h"

// ---- copies

#define COPY_ROW(bits)                                                                        \
  static enum weft_host_status copy_##bits(const struct weft_host_call *call, size_t count,   \
                                           const struct host_place *p, const int64_t *step) { \
    (void)call;                                                                               \
    char *to = p->at[0];                                                                      \
    const char *from = p->at[1];                                                              \
    const int64_t in = step[1], out = step[0];                                                \
    for (size_t i = 0; i < count; i++, to += out, from += in)                                 \
      *(uint##bits##_t *)(void *)to = *(const uint##bits##_t *)(const void *)from;            \
    return WEFT_HOST_OK;                                                                      \
  }
COPY_ROW(8)
COPY_ROW(16)
COPY_ROW(32)
COPY_ROW(64)

static bool is_aligned(const struct weft_host_call *call, unsigned operand, uintptr_t bytes) {
  const struct weft_host_operand *o = &call->operand[operand];
  uintptr_t all = (uintptr_t)o->data;
  for (unsigned d = 0; d < call->rank; d++) all |= (uintptr_t)o->step[d];
  return all % bytes == 0;
}

// ---- rows whose elements lie side by side

#ifdef __riscv

typedef uint64_t __attribute__((may_alias)) word;
enum { WORD = sizeof(word) };

// Four words at a time, so that loads need not wait for each other.
static size_t copy_words(char *to, const char *from, size_t bytes) {
  size_t done = 0;
  for (; done + 4 * WORD <= bytes; done += 4 * WORD) {
    const word *x = (const word *)(const void *)(from + done);
    word *y = (word *)(void *)(to + done);
    const word a = x[0], b = x[1], c = x[2], d = x[3];
    y[0] = a, y[1] = b, y[2] = c, y[3] = d;
  }
  for (; done + WORD <= bytes; done += WORD) *(word *)(void *)(to + done) = *(const word *)(const void *)(from + done);
  return done;
}

// The source is not aligned as the target is: each word is made of two, of which all that is read holds bytes to copy.
static size_t copy_shifted(char *to, const char *from, size_t bytes) {
  const unsigned shift = (unsigned)((uintptr_t)from % WORD) * 8;
  const word *x = (const word *)(const void *)(from - (uintptr_t)from % WORD);
  size_t done = 0;
  if (bytes < 2 * WORD) return 0;
  for (word low = *x++; done + 2 * WORD <= bytes; done += WORD) {
    const word high = *x++;
    *(word *)(void *)(to + done) = low >> shift | high << (8 * WORD - shift);
    low = high;
  }
  return done;
}

static void copy(char *to, const char *from, size_t bytes) {
  for (; bytes > 0 && (uintptr_t)to % WORD != 0; bytes--) *to++ = *from++;
  const size_t done = (uintptr_t)from % WORD == 0 ? copy_words(to, from, bytes) : copy_shifted(to, from, bytes);
  for (size_t i = done; i < bytes; i++) to[i] = from[i];
}

#else

static void copy(char *to, const char *from, size_t bytes) { __builtin_memcpy(to, from, bytes); }

#endif

static enum weft_host_status copy_bytes(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                        const int64_t *step) {
  (void)step;
  copy(p->at[0], p->at[1], count * call->operand[0].element_bytes);
  return WEFT_HOST_OK;
}

static enum weft_host_status set_bytes(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                       const int64_t *step) {
  (void)call, (void)step;
  __builtin_memset(p->at[0], *p->at[1], count);
  return WEFT_HOST_OK;
}

// Whether an operand's elements lie side by side in the last dimension.
static bool is_dense(const struct weft_host_call *call, unsigned operand) {
  return call->rank > 0 && call->operand[operand].step[call->rank - 1] == (int64_t)call->operand[0].element_bytes;
}

static host_row *copy_row(const struct weft_host_call *call) {
  static host_row *const rows[] = {copy_8, copy_16, copy_32, copy_64};
  if (is_dense(call, 0) && is_dense(call, 1)) return copy_bytes;
  if (is_dense(call, 0) && call->operand[0].element_bytes == 1 && call->operand[1].step[call->rank - 1] == 0)
    return set_bytes;
  for (unsigned shift = 0; shift < 4; shift++)
    if (call->operand[0].element_bytes == 1u << shift)
      return is_aligned(call, 0, (uintptr_t)1 << shift) && is_aligned(call, 1, (uintptr_t)1 << shift) ? rows[shift]
                                                                                                      : NULL;
  return NULL;
}

// ---- casts

// Numbers of floating point are cut off towards zero and saturate.
static int64_t whole(float x, float limit) {
  if (x != x) return 0;
  return (int64_t)(x >= limit ? limit : x <= -limit ? -limit : x);
}

static enum weft_host_status cast_any(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                      const int64_t *step) {
  const uint32_t from = call->operand[1].type, to = call->operand[0].type;
  for (size_t i = 0; i < count; i++) {
    const char *x = p->at[1] + (int64_t)i * step[1];
    char *y = p->at[0] + (int64_t)i * step[0];
    const float number = from == WEFT_F32 ? host_f32(x) : 0;
    const int64_t value = from == WEFT_F32   ? whole(number, to == WEFT_I64 ? 9.2233715e18f : 2147483520.0f)
                          : from == WEFT_I8  ? host_i8(x)
                          : from == WEFT_I32 ? host_i32(x)
                          : from == WEFT_I64 ? host_i64(x)
                                             : (int64_t)(uint8_t)*x;
    if (to == WEFT_F32)
      host_put_f32(y, from == WEFT_F32 ? number : (float)value);
    else if (to == WEFT_I32)
      host_put_i32(y, (int32_t)value);
    else if (to == WEFT_I64)
      host_put_i64(y, value);
    else if (to == WEFT_BOOL)
      host_put_i8(y, from == WEFT_F32 ? number != 0 : value != 0);
    else
      host_put_i8(y, (int8_t)value);
  }
  return WEFT_HOST_OK;
}

// ---- choices and gathers

static enum weft_host_status where(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                   const int64_t *step) {
  const size_t bytes = call->operand[0].element_bytes;
  for (size_t i = 0; i < count; i++) {
    const int64_t at = (int64_t)i;
    const unsigned chosen = p->at[1][at * step[1]] != 0 ? 2 : 3;
    __builtin_memcpy(p->at[0] + at * step[0], p->at[chosen] + at * step[chosen], bytes);
  }
  return WEFT_HOST_OK;
}

// Indices below 0 count from the end.
static enum weft_host_status gather(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                    const int64_t *step) {
  const size_t bytes = call->operand[0].element_bytes;
  const int64_t size = call->integer[0];
  for (size_t i = 0; i < count; i++) {
    const int64_t at = (int64_t)i;
    const char *y = p->at[2] + at * step[2];
    int64_t index = host_is(call, 2, WEFT_I64) ? host_i64(y) : host_i32(y);
    if (index < 0) index += size;
    if (index < 0 || index >= size) return WEFT_HOST_OUT_OF_RANGE;
    __builtin_memcpy(p->at[0] + at * step[0], p->at[1] + at * step[1] + index * call->integer[1], bytes);
  }
  return WEFT_HOST_OK;
}

// The place that index y names, of the result.
static char *named_place(const struct weft_host_call *call, char *to, const char *y) {
  const int64_t size = call->integer[0];
  int64_t index = host_is(call, 2, WEFT_I64) ? host_i64(y) : host_i32(y);
  if (index < 0) index += size;
  return index < 0 || index >= size ? NULL : to + index * call->integer[1];
}

static void put(const struct weft_host_call *call, char *to, const char *x) {
  if (call->op == WEFT_HOST_SCATTER)
    __builtin_memcpy(to, x, call->operand[0].element_bytes);
  else
    host_put_f32(to, call->op == WEFT_HOST_SCATTER_ADD ? host_f32(to) + host_f32(x) : host_f32(to) * host_f32(x));
}

static enum weft_host_status scatter(const struct weft_host_call *call, size_t count, const struct host_place *p,
                                     const int64_t *step) {
  for (int64_t i = 0; i < (int64_t)count; i++) {
    char *to = named_place(call, p->at[0] + i * step[0], p->at[2] + i * step[2]);
    if (to == NULL) return WEFT_HOST_OUT_OF_RANGE;
    put(call, to, p->at[1] + i * step[1]);
  }
  return WEFT_HOST_OK;
}

host_row *host_move_row(const struct weft_host_call *call) {
  switch (call->op) {
    case WEFT_HOST_COPY:
    case WEFT_HOST_FILL:
      return copy_row(call);
    case WEFT_HOST_CAST:  // others: whole.c
      return call->operand[0].type <= WEFT_BOOL && call->operand[1].type <= WEFT_BOOL ? cast_any : NULL;
    case WEFT_HOST_WHERE:
      return where;
    case WEFT_HOST_GATHER:
      return host_is(call, 2, WEFT_I64) || host_is(call, 2, WEFT_I32) ? gather : NULL;
    case WEFT_HOST_SCATTER:
      return host_is(call, 2, WEFT_I64) || host_is(call, 2, WEFT_I32) ? scatter : NULL;
    case WEFT_HOST_SCATTER_ADD:
    case WEFT_HOST_SCATTER_MUL:
      return host_is(call, 1, WEFT_F32) && (host_is(call, 2, WEFT_I64) || host_is(call, 2, WEFT_I32)) ? scatter : NULL;
    default:
      return NULL;
  }
}
