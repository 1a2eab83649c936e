// SPDX-License-Identifier: Apache-2.0
// Helpers for making and rewriting block programs: affine arithmetic, views, what a statement touches.
#ifndef COMPILER_BLOCK_BUILD_H
#define COMPILER_BLOCK_BUILD_H

#include "compiler/block/block.h"

extern const char *const block_type_names[BLOCK_TYPES];
extern const char *const block_op_names[BLOCK_OP_COUNT];
extern const char *const block_norm_names[BLOCK_NORM_COUNT];
int block_op_arity(block_op op);

// ---- programs
block_program *block_copy(const block_program *from);
block_statement *block_copy_list(block_program *program, const block_statement *list);
// `stem` + `suffix`, with a number behind it if a tensor, loop or buffer has that name.
const char *block_fresh_name(const block_program *program, const char *stem, const char *suffix);

// Removes buffers that no statement names; the others move down.
void block_drop_unused_buffers(block_program *program);

// ---- affine indexes
block_affine block_constant(int64_t value);
block_affine block_term(int loop, int64_t factor);
block_affine block_affine_add(block_affine a, block_affine b);
block_affine block_affine_times(block_affine a, int64_t factor);
bool block_affine_equal(const block_affine *a, const block_affine *b);
bool block_affine_is_constant(const block_affine *affine);
uint32_t block_affine_loops(const block_affine *affine);  // a bit per loop
// With loop `from` replaced by outer * inner_trips + inner; any two of the three may be the same.
block_affine block_affine_split(block_affine affine, int from, int outer, int inner, int64_t inner_trips);

// ---- views
bool block_view_equal(const block_program *program, const block_view *a, const block_view *b);
bool block_is_whole(const block_program *program, const block_view *view);

// ---- what statements touch
enum { BLOCK_VIEWS_MAX = 3 };
// The views of a statement, the target first if it has one; their number.
int block_views(block_statement *statement, block_view *views[BLOCK_VIEWS_MAX]);
// Whether one matrix serves all blocks of columns of a product of blocks, which adds to the sums of another product.
bool block_is_shared(const block_program *program, const block_statement *dot);
bool block_has_target(const block_statement *statement);

// A statement of the list, or of a loop in it, has the buffer as its target.
bool block_is_written(block_statement *list, int buffer);
bool block_accumulates(const block_statement *statement);
uint32_t block_overwrite_first(const block_statement *statement);
// The access of a load or store, or NULL.
block_access *block_memory(block_statement *statement);
// Every statement in order, loops before their bodies.
void block_visit(block_statement *list, void (*visit)(void *context, block_statement *statement), void *context);
// Rows (d 1) or columns (d 2) of a pooled store's source that lie before the image.
int64_t block_before_image(const block_statement *store, int d, const int64_t *iteration);
// Columns that count of row `row` of `width`.
int64_t block_length_of(const block_lengths *lengths, int64_t row, int64_t width, const int64_t *iteration);
// A row of a store as it leaves. `statistics`: the row whose deviation counts.
bool block_norm_is_of_rows(block_norm_kind kind);  // it needs statistics of whole rows
void block_norm_row(const block_epilogue *epilogue, const int32_t *in, const int32_t *statistics, uint32_t count,
                    int8_t *out);
// Every index of the views and the access of a statement, once each.
void block_visit_affine(const block_program *program, block_statement *statement,
                        void (*visit)(void *context, block_affine *affine), void *context);

#endif
