// SPDX-License-Identifier: Apache-2.0
// LOOP_WS: C[i][j] = D[i][j] + sum over k of A[i][k] * B[k][j] in tiles of dim x dim, or C = A + B (resadd).
//
// Local memory, in tiles of dim rows: A (I*K tiles, or K*I if transposed) from a_row up, B (K*J or J*K) up to b_end,
// C and D (I*J) from the accumulator half of the loop. Slot s has A from s*sp_rows/2 and B up to (s+1)*sp_rows/2.
// Loads fetch up to max_block_len tiles side by side with one command.
#include <string.h>

#include "arch/config.h"
#include "arch/loops/emit.h"

void arch_loop_ws_reset(arch_loop_ws *loop, const hw_derived *derived) {
  memset(loop, 0, sizeof *loop);
  for (uint32_t s = 0; s < ARCH_LOOP_SLOTS; s++) {
    loop->slots[s].a_row = s * (derived->sp_rows / ARCH_LOOP_SLOTS);
    loop->slots[s].b_end = (s + 1) * (derived->sp_rows / ARCH_LOOP_SLOTS);
  }
}

static void configure_bounds(arch_loop_ws_slot *slot, uint64_t rs1, uint64_t rs2) {
  slot->i = (uint32_t)isa_get_loop_ws_bounds_i(rs1, rs2);
  slot->j = (uint32_t)isa_get_loop_ws_bounds_j(rs1, rs2);
  slot->k = (uint32_t)isa_get_loop_ws_bounds_k(rs1, rs2);
  slot->pad_i = (uint32_t)isa_get_loop_ws_bounds_pad_i(rs1, rs2);
  slot->pad_j = (uint32_t)isa_get_loop_ws_bounds_pad_j(rs1, rs2);
  slot->pad_k = (uint32_t)isa_get_loop_ws_bounds_pad_k(rs1, rs2);
}

void arch_loop_ws_configure(arch_loop_ws *loop, isa_id id, uint64_t rs1, uint64_t rs2) {
  arch_loop_ws_slot *slot = &loop->slots[loop->current];
  switch (id) {
    case ISA_LOOP_WS_BOUNDS:
      configure_bounds(slot, rs1, rs2);
      break;
    case ISA_LOOP_WS_ADDRS_AB:
      slot->a = rs1;
      slot->b = rs2;
      break;
    case ISA_LOOP_WS_ADDRS_DC:
      slot->d = rs1;
      slot->c = rs2;
      break;
    case ISA_LOOP_WS_STRIDES_AB:
      slot->a_stride = rs1;
      slot->b_stride = rs2;
      break;
    case ISA_LOOP_WS_STRIDES_DC:
      slot->d_stride = rs1;
      slot->c_stride = rs2;
      break;
    case ISA_LOOP_WS_SPAD_AB_R2:
      slot->a_row = (uint32_t)isa_get_loop_ws_spad_ab_r2_a(rs1, rs2);
      slot->b_end = (uint32_t)isa_get_loop_ws_spad_ab_r2_b_end(rs1, rs2);
      break;
    default:  // LOOP_WS_SPAD_C: the run command carries the address that counts
      break;
  }
}

// Both revisions share these operand bits.
static void plan_flags(arch_loop_ws_plan *plan, uint64_t rs1, uint64_t rs2) {
  plan->ex_accumulate = isa_get_loop_ws_r1_ex_accumulate(rs1, rs2);
  plan->full_c = isa_get_loop_ws_r1_full_c(rs1, rs2);
  plan->low_d = isa_get_loop_ws_r1_low_d(rs1, rs2);
  plan->activation = (uint32_t)isa_get_loop_ws_r1_activation(rs1, rs2);
  plan->a_transpose = isa_get_loop_ws_r1_a_transpose(rs1, rs2);
  plan->b_transpose = isa_get_loop_ws_r1_b_transpose(rs1, rs2);
}

static void plan_parts_revision_2(arch_loop_ws_plan *plan, uint64_t rs1, uint64_t rs2) {
  const arch_loop_ws_slot *slot = &plan->slot;
  plan->resadd = isa_get_loop_ws_r2_resadd(rs1, rs2);
  plan->spad_only = isa_get_loop_ws_r2_spad_only(rs1, rs2) && !plan->resadd;
  plan->c_spad = (uint32_t)isa_get_loop_ws_r2_c_spad(rs1, rs2);
  plan->runs[ARCH_LOOP_WS_LOAD_A] = slot->a != 0 && !isa_get_loop_ws_r2_skip_lda(rs1, rs2);
  plan->runs[ARCH_LOOP_WS_LOAD_B] = slot->b != 0 && !isa_get_loop_ws_r2_skip_ldb(rs1, rs2);
  plan->runs[ARCH_LOOP_WS_LOAD_D] = slot->d != 0 && !isa_get_loop_ws_r2_skip_ldd(rs1, rs2);
  plan->runs[ARCH_LOOP_WS_EXECUTE] = !plan->resadd && !isa_get_loop_ws_r2_skip_ex(rs1, rs2);
  plan->runs[ARCH_LOOP_WS_STORE] = (slot->c != 0 || plan->spad_only) && !isa_get_loop_ws_r2_skip_stc(rs1, rs2);
}

static void plan_parts_revision_1(arch_loop_ws_plan *plan) {
  plan->runs[ARCH_LOOP_WS_LOAD_A] = plan->runs[ARCH_LOOP_WS_LOAD_B] = plan->runs[ARCH_LOOP_WS_EXECUTE] = true;
  plan->runs[ARCH_LOOP_WS_LOAD_D] = plan->slot.d != 0;
  plan->runs[ARCH_LOOP_WS_STORE] = plan->slot.c != 0;
}

// A spad id n > 0 pins an operand to half n-1. The execute part of a loop that stays in the scratchpad ignores the ids.
static void plan_operand_rows(arch_loop_ws_plan *plan, uint32_t a_id, uint32_t b_id) {
  const arch_loop_ws_slot *slot = &plan->slot;
  int64_t half = plan->derived->sp_rows / ARCH_LOOP_SLOTS;
  int64_t b_rows = (int64_t)slot->k * slot->j * plan->derived->dim;
  plan->a_row = a_id == 0 ? slot->a_row : (a_id - 1) * half;
  plan->b_row = (b_id == 0 ? slot->b_end : b_id * half) - b_rows;
  plan->ex_a_row = plan->spad_only ? slot->a_row : plan->a_row;
  plan->ex_b_row = plan->spad_only ? slot->b_end - b_rows : plan->b_row;
}

// The halves of D, execute and C move on after a loop that stores; a part that is skipped keeps its half.
static void plan_result_rows(arch_loop_ws *loop, arch_loop_ws_plan *plan, bool d_skipped, bool ex_skipped,
                             bool c_skipped) {
  int64_t half = plan->derived->acc_rows / ARCH_LOOP_SLOTS;
  plan->d_row = loop->d_half ? half : 0;
  plan->ex_c_row = loop->ex_half ? half : 0;
  plan->c_row = loop->c_half ? half : 0;
  if (plan->resadd) plan->a_row = plan->b_row = plan->c_row = loop->current * half;
  if (plan->slot.c == 0) return;
  loop->d_half ^= !d_skipped;
  loop->ex_half ^= !ex_skipped;
  loop->c_half ^= !c_skipped;
}

void arch_loop_ws_run(arch_loop_ws *loop, const hw_derived *derived, isa_id id, const arch_command *run,
                      arch_loop_ws_plan *plan) {
  uint64_t rs1 = run->rs1, rs2 = run->rs2;
  *plan = (arch_loop_ws_plan){.derived = derived, .run = *run, .slot = loop->slots[loop->current]};
  plan_flags(plan, rs1, rs2);
  if (id == ISA_LOOP_WS_R2) {
    plan_parts_revision_2(plan, rs1, rs2);
    plan_operand_rows(plan, (uint32_t)isa_get_loop_ws_r2_a_spad_id(rs1, rs2),
                      (uint32_t)isa_get_loop_ws_r2_b_spad_id(rs1, rs2));
    plan_result_rows(loop, plan, isa_get_loop_ws_r2_skip_ldd(rs1, rs2), isa_get_loop_ws_r2_skip_ex(rs1, rs2),
                     isa_get_loop_ws_r2_skip_stc(rs1, rs2));
  } else {
    plan_parts_revision_1(plan);
    plan_operand_rows(plan, 0, 0);
    plan_result_rows(loop, plan, false, false, false);
  }
  loop->current ^= 1;
}

const char *arch_loop_ws_fault(const arch_loop_ws_plan *plan) {
  const arch_loop_ws_slot *slot = &plan->slot;
  uint32_t dim = plan->derived->dim;
  bool any = false, needs_k = false;
  for (int part = 0; part < ARCH_LOOP_WS_PARTS; part++) any |= plan->runs[part];
  if (!plan->resadd)
    needs_k = plan->runs[ARCH_LOOP_WS_LOAD_A] || plan->runs[ARCH_LOOP_WS_LOAD_B] || plan->runs[ARCH_LOOP_WS_EXECUTE];
  if (any && slot->i == 0) return "no tile rows: I is 0";
  if (any && slot->j == 0) return "no tile columns: J is 0";
  if (needs_k && slot->k == 0) return "no tiles to sum over: K is 0";
  if (slot->pad_i >= dim || slot->pad_j >= dim || (needs_k && slot->pad_k >= dim))
    return "the padding of a tile is as large as the tile";
  return NULL;
}

// A rectangle of tiles, as a load or store walks it: `rows` x `cols` tiles, row-major in local memory.
typedef struct tiles {
  int32_t rows, cols, pad_rows, pad_cols, max_blocks;
} tiles;

static int64_t tile_index(const tiles *t, int32_t row, int32_t col) { return (int64_t)row * t->cols + col; }
static int32_t tile_blocks(const tiles *t, int32_t col) { return (int32_t)wf_min(t->max_blocks, t->cols - col); }
static int64_t tile_width(const tiles *t, int64_t dim, int32_t col) {
  int32_t blocks = tile_blocks(t, col);
  return blocks * dim - (col + blocks >= t->cols ? t->pad_cols : 0);
}
static int64_t tile_height(const tiles *t, int64_t dim, int32_t row) {
  return dim - (row == t->rows - 1 ? t->pad_rows : 0);
}
static uint64_t tile_offset(uint64_t stride, int32_t row, int32_t col, uint64_t dim, uint64_t bytes) {
  return ((uint64_t)row * stride + (uint64_t)col) * dim * bytes;
}

// One load: tile (row, col) and its right neighbours. Transposition has been applied to `t` by the caller.
typedef struct load {
  tiles tiles;
  isa_id id;
  uint64_t base, stride, bytes;
  uint32_t flags;
  int64_t first_row;
  bool full_height;
} load;

static bool emit_load(const arch_loop_ws_plan *plan, const load *l, int32_t row, int32_t col, arch_loop_cursor *cursor,
                      arch_command *out) {
  int64_t dim = plan->derived->dim;
  uint32_t local;
  if (!loop_local(cursor, plan->derived, l->flags, l->first_row + tile_index(&l->tiles, row, col) * dim, &local))
    return false;
  int64_t height = l->full_height ? dim : tile_height(&l->tiles, dim, row);
  *out = loop_command(&plan->run, l->id);
  out->rs1 = loop_dram(l->base, tile_offset(l->stride, row, col, (uint64_t)dim, l->bytes));
  out->rs2 = loop_operand(local, height, tile_width(&l->tiles, dim, col));
  return true;
}

// Counters: {outer, inner} = (k, i) for A, (k, j) for B, (j, i) for D; the tile row is the one or the other.
static arch_loop_result next_load(const arch_loop_ws_plan *plan, const load *l, bool row_is_outer,
                                  arch_loop_cursor *cursor, arch_command *out) {
  if (cursor->done) return ARCH_LOOP_END;
  int32_t row = cursor->index[row_is_outer ? 0 : 1], col = cursor->index[row_is_outer ? 1 : 0];
  if (!emit_load(plan, l, row, col, cursor, out)) return ARCH_LOOP_NO_ROW;
  static const int32_t start[2] = {0, 0};
  int32_t end[2] = {l->tiles.rows, l->tiles.cols}, step[2] = {1, l->tiles.max_blocks};
  if (!row_is_outer) {
    int32_t e = end[0], s = step[0];
    end[0] = end[1], end[1] = e;
    step[0] = step[1], step[1] = s;
  }
  cursor->done = !loop_step(cursor->index, 2, start, end, step);
  return ARCH_LOOP_COMMAND;
}

static tiles make_tiles(uint32_t rows, uint32_t cols, uint32_t pad_rows, uint32_t pad_cols, uint32_t max_blocks) {
  return (tiles){.rows = (int32_t)rows,
                 .cols = (int32_t)cols,
                 .pad_rows = (int32_t)pad_rows,
                 .pad_cols = (int32_t)pad_cols,
                 .max_blocks = (int32_t)(cols < max_blocks ? cols : max_blocks)};
}

// A residual addition reads I x J tiles in both loads: A overwrites the accumulator, B adds to it.
static arch_loop_result next_load_a(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_ws_slot *s = &plan->slot;
  uint32_t k = plan->resadd ? s->j : s->k, pad_k = plan->resadd ? s->pad_j : s->pad_k;
  uint32_t blocks = plan->derived->max_block_len;
  load l = {.id = ISA_MVIN,
            .base = s->a,
            .stride = s->a_stride,
            .bytes = plan->derived->input_bytes,
            .flags = plan->resadd ? LOOP_ACC : LOOP_SPAD,
            .first_row = plan->a_row};
  l.tiles =
      plan->a_transpose ? make_tiles(k, s->i, pad_k, s->pad_i, blocks) : make_tiles(s->i, k, s->pad_i, pad_k, blocks);
  return next_load(plan, &l, plan->a_transpose, cursor, out);
}

// Hardware compares the row count with itself minus one, so the rows of the last tile are never cut.
static arch_loop_result next_load_b(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_ws_slot *s = &plan->slot;
  uint32_t k = plan->resadd ? s->i : s->k, pad_k = plan->resadd ? s->pad_i : s->pad_k;
  uint32_t blocks = plan->derived->max_block_len;
  load l = {.id = ISA_MVIN2,
            .base = s->b,
            .stride = s->b_stride,
            .bytes = plan->derived->input_bytes,
            .flags = plan->resadd ? LOOP_ACC_ADD : LOOP_SPAD,
            .first_row = plan->b_row,
            .full_height = true};
  l.tiles =
      plan->b_transpose ? make_tiles(s->j, k, s->pad_j, pad_k, blocks) : make_tiles(k, s->j, pad_k, s->pad_j, blocks);
  return next_load(plan, &l, !plan->b_transpose, cursor, out);
}

static arch_loop_result next_load_d(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_ws_slot *s = &plan->slot;
  const hw_derived *d = plan->derived;
  load l = {.tiles = make_tiles(s->i, s->j, s->pad_i, s->pad_j, plan->low_d ? d->max_block_len : d->max_block_len_acc),
            .id = ISA_MVIN3,
            .base = s->d,
            .stride = s->d_stride,
            .bytes = plan->low_d ? d->input_bytes : d->acc_bytes,
            .flags = LOOP_ACC,
            .first_row = plan->d_row};
  return next_load(plan, &l, false, cursor, out);
}

static int64_t last_pad(uint32_t index, uint32_t count, uint32_t pad) { return index == count - 1 ? pad : 0; }

// Counters {k, j, i}; phase 0 is the preload, phase 1 the compute. The weights of (k, j) are loaded for the first i.
static bool emit_execute(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  const arch_loop_ws_slot *s = &plan->slot;
  int64_t dim = plan->derived->dim;
  uint32_t k = (uint32_t)cursor->index[0], j = (uint32_t)cursor->index[1], i = (uint32_t)cursor->index[2];
  int64_t rows = dim - last_pad(i, s->i, s->pad_i), cols = dim - last_pad(j, s->j, s->pad_j);
  int64_t depth = dim - last_pad(k, s->k, s->pad_k);
  uint32_t local;
  if (cursor->phase == 1) {
    int64_t tile = plan->a_transpose ? (int64_t)k * s->i + i : (int64_t)i * s->k + k;
    if (!loop_local(cursor, plan->derived, LOOP_SPAD, plan->ex_a_row + tile * dim, &local)) return false;
    *out = loop_command(&plan->run, i == 0 ? ISA_COMPUTE_PRELOADED : ISA_COMPUTE_ACCUMULATED);
    out->rs1 = loop_operand(local, rows, depth);
    out->rs2 = loop_operand(ARCH_LOCAL_GARBAGE, dim, dim);
    return true;
  }
  *out = loop_command(&plan->run, ISA_PRELOAD);
  int64_t tile = plan->b_transpose ? (int64_t)j * s->k + k : (int64_t)k * s->j + j;
  local = ARCH_LOCAL_GARBAGE;
  if (i == 0 && !loop_local(cursor, plan->derived, LOOP_SPAD, plan->ex_b_row + tile * dim, &local)) return false;
  out->rs1 = loop_operand(local, depth, cols);
  uint32_t flags = plan->ex_accumulate || k != 0 ? LOOP_ACC_ADD : LOOP_ACC;
  if (!loop_local(cursor, plan->derived, flags, plan->ex_c_row + ((int64_t)i * s->j + j) * dim, &local)) return false;
  out->rs2 = loop_operand(local, rows, cols);
  return true;
}

static arch_loop_result next_execute(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  if (cursor->done) return ARCH_LOOP_END;
  if (!emit_execute(plan, cursor, out)) return ARCH_LOOP_NO_ROW;
  cursor->phase ^= 1;
  if (cursor->phase != 0) return ARCH_LOOP_COMMAND;
  static const int32_t start[3] = {0, 0, 0}, step[3] = {1, 1, 1};
  int32_t end[3] = {(int32_t)plan->slot.k, (int32_t)plan->slot.j, (int32_t)plan->slot.i};
  cursor->done = !loop_step(cursor->index, 3, start, end, step);
  return ARCH_LOOP_COMMAND;
}

static tiles store_tiles(const arch_loop_ws_plan *plan) {
  const arch_loop_ws_slot *s = &plan->slot;
  uint32_t blocks = plan->full_c || plan->spad_only ? 1 : plan->derived->max_block_len;
  return make_tiles(s->i, s->j, s->pad_i, s->pad_j, blocks);
}

static uint64_t store_bytes(const arch_loop_ws_plan *plan) {
  return plan->full_c ? plan->derived->acc_bytes : plan->derived->input_bytes;
}

// Counters {j, i}.
static bool emit_store(const arch_loop_ws_plan *plan, const tiles *t, arch_loop_cursor *cursor, arch_command *out) {
  int64_t dim = plan->derived->dim;
  int32_t j = cursor->index[0], i = cursor->index[1];
  int64_t offset = tile_index(t, i, j) * dim;
  uint32_t local, dest;
  if (!loop_local(cursor, plan->derived, plan->full_c ? LOOP_ACC | LOOP_FULL : LOOP_ACC, plan->c_row + offset, &local))
    return false;
  *out = loop_command(&plan->run, plan->spad_only ? ISA_MVOUT_SPAD_R2 : ISA_MVOUT);
  out->rs1 = loop_dram(plan->slot.c, tile_offset(plan->slot.c_stride, i, j, (uint64_t)dim, store_bytes(plan)));
  out->rs2 = loop_operand(local, tile_height(t, dim, i), tile_width(t, dim, j));
  if (!plan->spad_only) return true;
  if (!loop_local(cursor, plan->derived, LOOP_SPAD, plan->c_spad + offset, &dest)) return false;
  out->rs1 = 0;
  isa_set_mvout_spad_r2_dest(&out->rs1, &out->rs2, dest);
  isa_set_mvout_spad_r2_stride(&out->rs1, &out->rs2, 1);
  return true;
}

static arch_loop_result next_store(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  if (cursor->done) return ARCH_LOOP_END;
  tiles t = store_tiles(plan);
  if (!emit_store(plan, &t, cursor, out)) return ARCH_LOOP_NO_ROW;
  static const int32_t start[2] = {0, 0};
  int32_t end[2] = {t.cols, t.rows}, step[2] = {t.max_blocks, 1};
  cursor->done = !loop_step(cursor->index, 2, start, end, step);
  return ARCH_LOOP_COMMAND;
}

// Statistics commands of the three passes over a row: for the last columns, and for those before.
typedef struct norm_pass {
  arch_norm last, before;
} norm_pass;
enum { NORM_PASSES = 3 };
static const norm_pass layernorm_passes[NORM_PASSES] = {
    {ARCH_NORM_MEAN, ARCH_NORM_SUM}, {ARCH_NORM_INV_STDDEV, ARCH_NORM_VARIANCE}, {ARCH_NORM_NONE, ARCH_NORM_NONE}};
static const norm_pass softmax_passes[NORM_PASSES] = {
    {ARCH_NORM_MAX, ARCH_NORM_MAX}, {ARCH_NORM_INV_SUM_EXP, ARCH_NORM_SUM_EXP}, {ARCH_NORM_NONE, ARCH_NORM_NONE}};

// Counters {i, group of rows, pass, statistics set, j}: row by row, a set of statistics per row of the group.
static bool emit_norm_store(const arch_loop_ws_plan *plan, const tiles *t, arch_loop_cursor *cursor,
                            arch_command *out) {
  uint64_t dim = plan->derived->dim;
  int32_t i = cursor->index[0], set = cursor->index[3], j = cursor->index[4], row = cursor->index[1] + set;
  if (cursor->phase == 0) {
    *out = loop_command(&plan->run, ISA_CONFIG_NORM);
    isa_init_config_norm(&out->rs1, &out->rs2);
    isa_set_config_norm_stats_id(&out->rs1, &out->rs2, (uint64_t)set);
    isa_set_config_norm_stats_id_only(&out->rs1, &out->rs2, 1);
    return true;
  }
  const norm_pass *passes = plan->activation == ARCH_ACTIVATION_LAYERNORM ? layernorm_passes : softmax_passes;
  const norm_pass *pass = &passes[cursor->index[2]];
  uint32_t norm = j + t->max_blocks >= t->cols ? pass->last : pass->before;
  uint32_t flags = isa_local_with_norm(LOOP_ACC | (plan->full_c ? LOOP_FULL : 0), norm), local;
  if (!loop_local(cursor, plan->derived, flags, plan->c_row + tile_index(t, i, j) * (int64_t)dim + row, &local))
    return false;
  uint64_t offset = tile_offset(plan->slot.c_stride, i, j, dim, 1) + (uint64_t)row * plan->slot.c_stride;
  *out = loop_command(&plan->run, ISA_MVOUT);
  out->rs1 = loop_dram(plan->slot.c, offset * plan->derived->input_bytes);
  out->rs2 = loop_operand(local, 1, tile_width(t, (int64_t)dim, j));
  return true;
}

static void step_norm_store(const arch_loop_ws_plan *plan, const tiles *t, arch_loop_cursor *cursor) {
  int32_t *x = cursor->index, sets = (int32_t)plan->derived->norm_stats;
  int32_t height = (int32_t)tile_height(t, plan->derived->dim, x[0]);
  static const int32_t start[5] = {0, 0, 0, 0, 0};
  int32_t end[5] = {t->rows, height, NORM_PASSES, (int32_t)wf_min(sets, height - x[1]), t->cols};
  int32_t step[5] = {1, sets, 1, 1, t->max_blocks};
  cursor->done = !loop_step(x, 5, start, end, step);
  cursor->phase = x[4] == 0 ? 0 : 1;
}

static arch_loop_result next_norm_store(const arch_loop_ws_plan *plan, arch_loop_cursor *cursor, arch_command *out) {
  if (cursor->done) return ARCH_LOOP_END;
  tiles t = store_tiles(plan);
  if (!emit_norm_store(plan, &t, cursor, out)) return ARCH_LOOP_NO_ROW;
  if (cursor->phase == 0)
    cursor->phase = 1;
  else
    step_norm_store(plan, &t, cursor);
  return ARCH_LOOP_COMMAND;
}

arch_loop_result arch_loop_ws_next(const arch_loop_ws_plan *plan, arch_loop_ws_part part, arch_loop_cursor *cursor,
                                   arch_command *out) {
  if (!plan->runs[part]) return ARCH_LOOP_END;
  switch (part) {
    case ARCH_LOOP_WS_LOAD_A:
      return next_load_a(plan, cursor, out);
    case ARCH_LOOP_WS_LOAD_B:
      return next_load_b(plan, cursor, out);
    case ARCH_LOOP_WS_LOAD_D:
      return next_load_d(plan, cursor, out);
    case ARCH_LOOP_WS_EXECUTE:
      return next_execute(plan, cursor, out);
    default:
      break;
  }
  bool norm = plan->activation == ARCH_ACTIVATION_LAYERNORM || plan->activation == ARCH_ACTIVATION_SOFTMAX;
  return norm && !plan->spad_only ? next_norm_store(plan, cursor, out) : next_store(plan, cursor, out);
}
