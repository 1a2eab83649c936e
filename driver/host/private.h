// SPDX-License-Identifier: Apache-2.0
// What the files of driver/host share: walking the loops of a call, and the families of operators.
#ifndef DRIVER_HOST_PRIVATE_H
#define DRIVER_HOST_PRIVATE_H

#include <stdbool.h>

#include "weft/host_ops.h"

// Where the operands stand at one point of the loops.
struct host_place {
  char *at[WEFT_HOST_OPERANDS];
};

// Visits every point of the dimensions [from, to), the last one fastest; stops when a visit does not return
// WEFT_HOST_OK. Dimensions outside stay where `start` has them.
typedef enum weft_host_status host_visit(void *context, const struct weft_host_call *call,
                                         const struct host_place *place);
enum weft_host_status host_each(const struct weft_host_call *call, unsigned from, unsigned to,
                                const struct host_place *start, host_visit *visit, void *context);

// A row of an operator that goes element by element: `count` elements, each operand steps by its last dimension's step.
typedef enum weft_host_status host_row(const struct weft_host_call *call, size_t count, const struct host_place *place,
                                       const int64_t *step);
// The row of an operator for the types of the call; NULL: not of this family, or not for these types.
host_row *host_move_row(const struct weft_host_call *call);
host_row *host_unary_row(const struct weft_host_call *call);
host_row *host_binary_row(const struct weft_host_call *call);
host_row *host_quantise_row(const struct weft_host_call *call);
host_row *host_whole_row(const struct weft_host_call *call);
host_row *host_product_row(const struct weft_host_call *call);

// Operators over inner dimensions: visited once per point of the outer ones; NULL as above.
host_visit *host_reduce_visit(const struct weft_host_call *call);
host_visit *host_normalise_visit(const struct weft_host_call *call);
host_visit *host_top_visit(const struct weft_host_call *call);
host_visit *host_sample_visit(const struct weft_host_call *call);
host_visit *host_cells_visit(const struct weft_host_call *call);
// The same for rows of int8, many at a time; false: as NULL above.
host_visit *host_qnorm_visit(const struct weft_host_call *call);
bool host_qrows_run(const struct weft_host_call *call, const struct host_place *start, enum weft_host_status *status);

// QLEAVE; WEFT_HOST_NO_SUCH_OP where there is no array.
enum weft_host_status host_leave_run(const struct weft_host_call *call, const struct host_place *start);

// TURNS, and the calls behind it; WEFT_HOST_NO_SUCH_OP where there is no array.
enum weft_host_status host_turns_run(struct weft_host_call *calls);
// A call becomes the part of it that a turn says.
void host_take_part(struct weft_host_call *call, const struct weft_host_turn *part);

// Rows of int8 whose elements lie side by side, int8 again; both may stand in one place.
struct host_qrow {
  int8_t *to;
  const int8_t *from;
  int64_t count;
};

// Rows with steps in bytes from one to the next.
struct host_qrows {
  int8_t *to;
  const int8_t *from;
  int64_t count, rows, to_step, from_step;
};

// `table` has eight times 256 bytes; `number` is what all of a row shares.
void host_qsoftmax_rows(const struct host_qrows *rows, const char *table, float number);
// (127 - (largest | 1)) / 2 of each row, one behind the other with `to_step`.
void host_qheadroom_rows(const struct host_qrows *rows);
void host_qshare_row(int8_t *to, const int32_t *from, int64_t count, int32_t sum, float number);
void host_qsoftmax_masked_row(const struct host_qrow *row, const char *mask, const char *table, float number);

static inline float host_f32(const char *at) { return *(const float *)(const void *)at; }
static inline int8_t host_i8(const char *at) { return *(const int8_t *)(const void *)at; }
static inline int32_t host_i32(const char *at) { return *(const int32_t *)(const void *)at; }
static inline int64_t host_i64(const char *at) { return *(const int64_t *)(const void *)at; }
static inline void host_put_f32(char *at, float value) { *(float *)(void *)at = value; }
static inline void host_put_i8(char *at, int8_t value) { *(int8_t *)(void *)at = value; }
static inline void host_put_i32(char *at, int32_t value) { *(int32_t *)(void *)at = value; }
static inline void host_put_i64(char *at, int64_t value) { *(int64_t *)(void *)at = value; }

static inline bool host_is(const struct weft_host_call *call, unsigned operand, enum weft_host_type type) {
  return call->operand[operand].type == (uint32_t)type;
}

#endif
