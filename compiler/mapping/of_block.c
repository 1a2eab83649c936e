// SPDX-License-Identifier: Apache-2.0
// The layer and the blocking of a lowered program; see mapping.h.
//
// The product's views say the tile, by rank: [P, K], [N, P, K] or [N, P, Q, K] for the results, the last dimension of
// the inputs is C. Loops say the trips of their dimension, in the order in which they stand around the product. Where
// the last trip ends, the accesses know: the store for N, P, Q, K, the load of the inputs for C, its steps and first
// element for stride, dilation and padding.
#include <string.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/mapping/mapping.h"

enum { NEST_MAX = BLOCK_LOOPS_MAX };

typedef struct finder {
  const block_program *program;
  const block_statement *dot;
  unsigned dots;
  int nest[NEST_MAX], depth;          // loops around the statement that is visited
  int dot_nest[NEST_MAX], dot_depth;  // around the product
} finder;

static void find_dot(finder *f, const block_statement *list) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_FOR && f->depth < NEST_MAX) {
      f->nest[f->depth++] = s->loop.loop;
      find_dot(f, s->loop.body);
      f->depth--;
    } else if (s->kind == BLOCK_DOT && !block_is_shared(f->program, s)) {
      f->dots++;
      f->dot = s;
      memcpy(f->dot_nest, f->nest, sizeof f->nest);
      f->dot_depth = f->depth;
    }
  }
}

// The only load into a buffer, or NULL.
static const block_statement *load_of(const block_statement *list, int buffer) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_LOAD && s->load.target.buffer == buffer) return s;
    const block_statement *inside = s->kind == BLOCK_FOR ? load_of(s->loop.body, buffer) : NULL;
    if (inside != NULL) return inside;
  }
  return NULL;
}

static const block_statement *first_store(const block_statement *list) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_STORE) return s;
    const block_statement *inside = s->kind == BLOCK_FOR ? first_store(s->loop.body) : NULL;
    if (inside != NULL) return inside;
  }
  return NULL;
}

// Whether anything of this type is loaded that is no operand of the product.
static bool loads_beside(const finder *f, const block_statement *list, block_type type) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    if (s->kind == BLOCK_FOR && loads_beside(f, s->loop.body, type)) return true;
    if (s->kind != BLOCK_LOAD || f->program->tensors[s->load.access.tensor].type != type) continue;
    if (f->program->tensors[s->load.access.tensor].contents != NULL) continue;
    if (s->load.target.buffer != f->dot->dot.a.buffer && s->load.target.buffer != f->dot->dot.b.buffer) return true;
  }
  return false;
}

typedef struct factor {
  const block_program *program;
  int64_t value;
} factor;

// A block times an integer, in the program as it was lowered; products of blocks, in one that was fused.
static void find_factor(void *context, block_statement *s) {
  factor *f = context;
  if (s->kind == BLOCK_DOT && block_is_shared(f->program, s)) f->value += MAP_RESIDUAL_PART;
  if (s->kind != BLOCK_ELEMENTWISE || s->elementwise.op != BLOCK_OP_MUL) return;
  if (f->program->buffers[s->elementwise.target.buffer].type != BLOCK_I32) return;
  const block_operand *a = &s->elementwise.a, *b = &s->elementwise.b;
  if (a->is_number || b->is_number) f->value = (int64_t)(a->is_number ? a->number : b->number);
}

static int64_t residual_of(const finder *f) {
  factor found = {.program = f->program};
  if (!loads_beside(f, f->program->body, BLOCK_I8)) return 0;
  block_visit(f->program->body, find_factor, &found);
  return found.value == 0 ? 1 : found.value < 0 ? -found.value : found.value;
}

// ---- tiles

// The dimensions of results, by rank.
static const block_dim_id *result_dims(int rank) {
  static const block_dim_id by_rank[][4] = {{BLOCK_DIM_P, BLOCK_DIM_K},
                                            {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_K},
                                            {BLOCK_DIM_N, BLOCK_DIM_P, BLOCK_DIM_Q, BLOCK_DIM_K}};
  return rank >= 2 && rank <= 4 ? by_rank[rank - 2] : NULL;
}

static int64_t depth_of(const finder *f) {
  const block_view *a = &f->dot->dot.a;
  const int rank = f->program->buffers[a->buffer].rank;
  return a->dim[f->dot->dot.a_transposed ? 0 : rank - 1].size;
}

// Channels by themselves: blocks of them, which nothing is summed over.
static bool is_depthwise(const finder *f) {
  for (int i = 0; i < f->dot_depth; i++)
    if (f->program->loops[f->dot_nest[i]].dim == BLOCK_DIM_C) return false;
  return f->dot->dot.blocks;
}

static bool set_tiles(const finder *f, map_mapping *m) {
  const block_view *target = &f->dot->dot.target;
  const int rank = f->program->buffers[target->buffer].rank;
  const block_dim_id *dims = result_dims(rank);
  if (dims == NULL) return false;
  for (int d = 0; d < BLOCK_DIMS; d++) m->tile[d] = m->sp[d] = m->dram[d] = 1;
  const block_statement *store = first_store(f->program->body);
  const bool pools = store != NULL && store->store.epilogue.pool.stride != 0 && store->store.access.rank == rank;
  for (int i = 0; i < rank; i++) m->tile[dims[i]] = pools ? store->store.access.dim[i].size : target->dim[i].size;
  m->tile[BLOCK_DIM_C] = is_depthwise(f) ? 1 : depth_of(f);
  return true;
}

// ---- loops

// Trips and order as the program has them. Two loops over one dimension would be split already; images and their groups
// count together.
static bool set_loops(const finder *f, map_mapping *m) {
  unsigned seen = 0;
  int place = 0;
  for (int i = 0; i < f->dot_depth; i++) {
    const block_loop *loop = &f->program->loops[f->dot_nest[i]];
    if (loop->dim == BLOCK_DIM_NONE) return false;
    if ((seen & 1U << loop->dim) != 0) {
      if (loop->dim != BLOCK_DIM_N || m->tile[BLOCK_DIM_N] != 1) return false;
      m->dram[BLOCK_DIM_N] *= loop->trips;
      continue;
    }
    seen |= 1U << loop->dim;
    m->dram[loop->dim] = loop->trips;
    m->outer[place++] = (uint8_t)loop->dim;
  }
  for (int d = 0; d < BLOCK_DIMS; d++)
    if ((seen & 1U << d) == 0) m->outer[place++] = (uint8_t)d;
  memcpy(m->inner, m->outer, sizeof m->inner);
  return true;
}

static int loop_over(const finder *f, block_dim_id dim) {
  for (int i = 0; i < f->dot_depth; i++)
    if (f->program->loops[f->dot_nest[i]].dim == dim) return f->dot_nest[i];
  return BLOCK_NONE;
}

static int loops_over(const finder *f, block_dim_id dim) {
  int count = 0;
  for (int i = 0; i < f->dot_depth; i++) count += f->program->loops[f->dot_nest[i]].dim == dim;
  return count;
}

// ---- sizes

// Results end where the stored tensor does.
static void set_result_sizes(const finder *f, const block_statement *store, map_layer *layer) {
  const block_access *access = &store->store.access;
  const block_dim_id *dims = result_dims(access->rank);
  if (dims == NULL) return;
  for (int i = 0; i < access->rank; i++) {
    const int loop = loop_over(f, dims[i]);
    const bool swept = loop == BLOCK_NONE || access->dim[i].offset.per_loop[loop] != 0;
    if (swept && loops_over(f, dims[i]) < 2) layer->size[dims[i]] = wf_min(layer->size[dims[i]], access->dim[i].extent);
  }
}

// Stride, dilation and padding of the rows or columns of the inputs.
static void set_window(const finder *f, const block_access_dim *input, int axis, map_layer *layer) {
  const int kernel = loop_over(f, axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S);
  layer->stride[axis] = input->step;
  if (kernel != BLOCK_NONE) layer->dilation[axis] = input->offset.per_loop[kernel];
  const int64_t before = input->offset.constant < 0 ? -input->offset.constant : 0;
  const int64_t needed = map_window(layer, axis, layer->size[axis == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q],
                                    layer->size[axis == 0 ? BLOCK_DIM_R : BLOCK_DIM_S]);
  const int64_t after = needed - before - input->extent;
  layer->padding[2 * axis] = before;
  layer->padding[2 * axis + 1] = after > 0 ? after : 0;
}

static void set_inputs(const finder *f, const block_statement *load, map_layer *layer) {
  if (load == NULL) return;
  const block_access *access = &load->load.access;
  const int channels = f->dot->dot.a_transposed ? 0 : access->rank - 1;
  if (!is_depthwise(f)) layer->size[BLOCK_DIM_C] = wf_min(layer->size[BLOCK_DIM_C], access->dim[channels].extent);
  if (access->rank != 4) return;
  set_window(f, &access->dim[1], 0, layer);
  set_window(f, &access->dim[2], 1, layer);
}

// Whether a loop over N gives the weights' load another place.
static bool has_own_weights(const finder *f, const block_statement *weights) {
  for (int n = 0; n < f->dot_depth && weights != NULL; n++) {
    const int loop = f->dot_nest[n];
    const block_access *access = &weights->load.access;
    if (f->program->loops[loop].dim != BLOCK_DIM_N) continue;
    if (access->base.per_loop[loop] != 0) return true;
    for (int i = 0; i < access->rank; i++)
      if (access->dim[i].offset.per_loop[loop] != 0) return true;
  }
  return false;
}

static map_kind kind_of(const finder *f, const block_statement *weights, const map_layer *layer) {
  const bool own = has_own_weights(f, weights);
  if (is_depthwise(f)) return MAP_DEPTHWISE;
  if (f->program->buffers[f->dot->dot.target.buffer].rank == 4) return own ? MAP_GROUPED : MAP_CONV;
  if (own) return MAP_BATCHED;
  return layer->size[BLOCK_DIM_P] == 1 ? MAP_GEMV : MAP_GEMM;
}

static void set_layer(const finder *f, const map_mapping *m, map_layer *layer) {
  const block_program *program = f->program;
  *layer = (map_layer){.groups = 1};
  for (int d = 0; d < BLOCK_DIMS; d++) layer->size[d] = m->tile[d] * m->dram[d];
  const block_statement *store = first_store(program->body);
  if (store != NULL) {
    set_result_sizes(f, store, layer);
    const block_pool *pool = &store->store.epilogue.pool;
    layer->pool_size = pool->size, layer->pool_stride = pool->stride, layer->pool_padding = pool->border;
    layer->result_bytes = (uint32_t)block_type_bytes(program->tensors[store->store.access.tensor].type);
  }
  set_inputs(f, load_of(program->body, f->dot->dot.a.buffer), layer);
  layer->kind = kind_of(f, load_of(program->body, f->dot->dot.b.buffer), layer);
  layer->bias = loads_beside(f, program->body, BLOCK_I32);
  layer->residual = residual_of(f);
}

// ---- layers without products

typedef struct window {
  finder *f;
  const block_statement *load;  // the first
  int loads, stores;
  bool largest;  // of elements of blocks, rather than their sum
} window;

static void find_window(window *w, const block_statement *list) {
  for (const block_statement *s = list; s != NULL; s = s->next) {
    finder *f = w->f;
    if (s->kind == BLOCK_FOR && f->depth < NEST_MAX) {
      f->nest[f->depth++] = s->loop.loop;
      find_window(w, s->loop.body);
      f->depth--;
    }
    w->stores += s->kind == BLOCK_STORE;
    if (s->kind == BLOCK_ELEMENTWISE && s->elementwise.op == BLOCK_OP_MAX)
      w->largest |= !s->elementwise.a.is_number && !s->elementwise.b.is_number;
    if (s->kind != BLOCK_LOAD || w->loads++ > 0) continue;
    w->load = s;
    memcpy(f->dot_nest, f->nest, sizeof f->nest);
    f->dot_depth = f->depth;
  }
}

// A window is one block of inputs: its loops will be none.
static void take_window(map_mapping *m) {
  static const block_dim_id kernel[] = {BLOCK_DIM_R, BLOCK_DIM_S};
  for (int i = 0; i < 2; i++) {
    m->tile[kernel[i]] = m->dram[kernel[i]];
    m->dram[kernel[i]] = 1;
  }
}

static bool window_of_block(finder *f, map_layer *layer, map_mapping *m) {
  window w = {.f = f};
  find_window(&w, f->program->body);
  const block_statement *store = first_store(f->program->body);
  if (w.stores != 1 || w.load == NULL || f->program->tensors[w.load->load.access.tensor].type != BLOCK_I8) return false;
  const block_access *to = &store->store.access, *from = &w.load->load.access;
  const block_dim_id *dims = result_dims(to->rank);
  if (dims == NULL || from->rank != to->rank || store->store.epilogue.pool.stride != 0) return false;
  for (int d = 0; d < BLOCK_DIMS; d++) m->tile[d] = m->sp[d] = m->dram[d] = 1;
  for (int i = 0; i < to->rank; i++) m->tile[dims[i]] = to->dim[i].size;
  if (!set_loops(f, m) || m->dram[BLOCK_DIM_C] != 1) return false;
  if (w.largest) take_window(m);
  *layer = (map_layer){.kind = MAP_WINDOW, .groups = 1, .residual = w.loads - 1};
  if (w.largest) layer->pool_size = (uint32_t)m->tile[BLOCK_DIM_R];
  for (int d = 0; d < BLOCK_DIMS; d++) layer->size[d] = m->tile[d] * m->dram[d];
  layer->result_bytes = (uint32_t)block_type_bytes(f->program->tensors[to->tensor].type);
  set_result_sizes(f, store, layer);
  for (int axis = 0; axis < 2 && to->rank == 4; axis++) set_window(f, &from->dim[1 + axis], axis, layer);
  return true;
}

bool map_of_block(const block_program *program, map_layer *layer, map_mapping *mapping) {
  finder f = {.program = program};
  find_dot(&f, program->body);
  if (f.dots > 1) return false;
  *mapping = (map_mapping){.residency = {MAP_POSITIONS, MAP_POSITIONS}, .depth = {1, 1, 1}};
  mapping->style = (uint8_t)program->style;
  mapping->dataflow = (uint8_t)program->dataflow;
  if (f.dots == 0) return window_of_block(&f, layer, mapping);
  if (!set_tiles(&f, mapping) || !set_loops(&f, mapping)) return false;
  set_layer(&f, mapping, layer);
  return true;
}
