// SPDX-License-Identifier: Apache-2.0
// A placed program of matrix products through LOOP_WS: one unrolled loop for each product statement, which loads its
// operands (and what stands in the result before its first product), multiplies, and stores after the last product of a
// result. A residual that is multiplied is one more loop: with a multiple of the unit matrix as large as the block.
#include "compiler/block/build.h"
#include "compiler/schedule/loop.h"
#include "compiler/schedule/region.h"
#include "compiler/schedule/runs.h"

// A matrix in memory: what a load or a store moves.
typedef struct matrix {
  bool set;
  int tensor;
  int64_t offset, stride;  // bytes
  int64_t rows, columns;
  int64_t element;  // bytes
  float scale;
  bool relu, full;
} matrix;

typedef struct products {
  sched_loop *l;
  matrix *loaded;              // per buffer: its latest load
  const block_statement *dot;  // whose loop is not written yet: it may have to store
  matrix a, b, d;              // of that loop
  bool accumulates;
  uint64_t width;      // columns of tiles that earlier loops of this result have, by which its tiles lie; 0: none
  uint64_t *elements;  // per tensor of the program, with what loads read behind the end
} products;

// ---- accesses as matrices

typedef struct rows_found {
  sched_run first;
  int64_t rows;
  int runs;
} rows_found;

static void find_rows(void *context, const sched_run *rows) {
  rows_found *found = context;
  if (found->runs++ == 0) found->first = *rows;
  found->rows += rows->rows;
}

// The elements of an access that exist; false if its rows are not evenly spaced.
static bool matrix_of(const products *p, const sched_walk *w, const block_access *access, const block_view *view,
                      matrix *m) {
  sched_box inside = sched_region_inside(w, view, access);
  int last = access->rank - 1;
  *m = (matrix){.set = true, .tensor = access->tensor, .scale = 1.0F};
  m->element = (int64_t)block_type_bytes(p->l->program->tensors[access->tensor].type);
  if (sched_box_empty(&inside, access->rank)) return true;
  sched_run_dim dims[BLOCK_RANK_MAX];
  int64_t at = block_affine_at(&access->base, w->iteration), local = 1;
  for (int d = last; d >= 0; d--) {
    const block_access_dim *a = &access->dim[d];
    int64_t offset = block_affine_at(&a->offset, w->iteration);
    int64_t skipped = (inside.lo[d] - block_affine_at(&view->dim[d].offset, w->iteration)) / view->dim[d].step;
    if (skipped != 0 || view->dim[d].step != 1) return false;
    at += offset * a->stride;
    if (d == last) continue;
    dims[d] = (sched_run_dim){
        .count = inside.hi[d] - inside.lo[d], .local = local, .memory = a->step * a->stride * m->element};
    local *= inside.hi[d] - inside.lo[d];
  }
  rows_found found = {.runs = 0};
  sched_runs_visit(dims, last, 0, at * m->element, INT64_MAX, 0, find_rows, &found);
  m->offset = found.first.memory;
  m->stride = found.first.stride;
  m->rows = found.rows;
  m->columns = inside.hi[last] - inside.lo[last];
  const block_access_dim *columns = &access->dim[last];
  return found.runs == 1 && (m->columns == 1 || (columns->stride == 1 && columns->step == 1)) && m->stride >= 0 &&
         m->stride % m->element == 0;
}

// ---- commands

static void configure_units(products *p, const matrix *c) {
  sched_loop_configure_execute(p->l, p->dot->dot.a_transposed, p->dot->dot.b_transposed, 1);
  sched_loop_configure_load(p->l, 0, p->a.stride, p->a.scale, false);
  sched_loop_configure_load(p->l, 1, p->b.stride, p->b.scale, false);
  if (p->d.set) sched_loop_configure_load(p->l, 2, p->d.stride, p->d.scale, p->d.element == 1);
  if (c->set) sched_loop_configure_store(p->l, c->stride, c->relu, c->scale);
}

static sched_loop_operand address(const matrix *m) {
  return m->set ? (sched_loop_operand){m->tensor, (uint64_t)m->offset} : sched_loop_number(0);
}
static sched_loop_operand stride(const matrix *m) {
  return sched_loop_number(m->set ? (uint64_t)(m->stride / m->element) : 0);
}

static uint64_t tiles(const products *p, int64_t size) {
  const uint64_t dim = p->l->derived.dim;
  return ((uint64_t)size + dim - 1) / dim;
}
static uint64_t pad(const products *p, int64_t size) { return tiles(p, size) * p->l->derived.dim - (uint64_t)size; }

// Rows of B come in whole tiles: the last loads reach behind the end of the tensor.
static void note_overrun(products *p, const matrix *m) {
  if (m->tensor >= p->l->program->tensor_count) return;  // a unit matrix is padded
  uint64_t rows = tiles(p, m->rows) * p->l->derived.dim, columns = (uint64_t)m->columns;
  uint64_t end = (uint64_t)m->offset + (rows - 1) * (uint64_t)m->stride + columns;
  if (end > p->elements[m->tensor]) p->elements[m->tensor] = end;
}

// Writes the loop of the latest product; `c` is set if the result is complete.
static bool put_loop(products *p, const matrix *c) {
  const block_statement *s = p->dot;
  if (s == NULL) return true;
  bool at = s->dot.a_transposed, bt = s->dot.b_transposed;
  int64_t m = at ? p->a.columns : p->a.rows, n = bt ? p->b.rows : p->b.columns, k = at ? p->a.rows : p->a.columns;
  if (p->width != 0 && p->width != tiles(p, n))
    return sched_loop_refuse(p->l, s, "the loop unroller adds products of one width");
  p->width = c->set ? 0 : tiles(p, n);
  configure_units(p, c);
  note_overrun(p, &p->b);
  uint64_t rs1, rs2;
  isa_init_loop_ws_bounds(&rs1, &rs2);
  isa_set_loop_ws_bounds_i(&rs1, &rs2, tiles(p, m));
  isa_set_loop_ws_bounds_j(&rs1, &rs2, tiles(p, n));
  isa_set_loop_ws_bounds_k(&rs1, &rs2, tiles(p, k));
  isa_set_loop_ws_bounds_pad_i(&rs1, &rs2, pad(p, m));
  isa_set_loop_ws_bounds_pad_j(&rs1, &rs2, pad(p, n));
  isa_set_loop_ws_bounds_pad_k(&rs1, &rs2, pad(p, k));
  sched_loop_put(p->l, ISA_FUNCT_LOOP_WS_BOUNDS, sched_loop_number(rs1), sched_loop_number(rs2));
  sched_loop_put(p->l, ISA_FUNCT_LOOP_WS_ADDRS_AB, address(&p->a), address(&p->b));
  sched_loop_put(p->l, ISA_FUNCT_LOOP_WS_ADDRS_DC, address(&p->d), address(c));
  sched_loop_put(p->l, ISA_FUNCT_LOOP_WS_STRIDES_AB, stride(&p->a), stride(&p->b));
  sched_loop_put(p->l, ISA_FUNCT_LOOP_WS_STRIDES_DC, stride(&p->d), stride(c));
  isa_init_loop_ws_r1(&rs1, &rs2);  // these bits are the same in both revisions
  isa_set_loop_ws_r1_ex_accumulate(&rs1, &rs2, p->accumulates);
  isa_set_loop_ws_r1_full_c(&rs1, &rs2, c->set && c->full);
  isa_set_loop_ws_r1_low_d(&rs1, &rs2, p->d.set && p->d.element == 1);
  isa_set_loop_ws_r1_activation(&rs1, &rs2, c->set && c->relu);
  isa_set_loop_ws_r1_a_transpose(&rs1, &rs2, at);
  isa_set_loop_ws_r1_b_transpose(&rs1, &rs2, bt);
  sched_loop_put(p->l, ISA_FUNCT_LOOP_WS, sched_loop_number(rs1), sched_loop_number(rs2));
  p->dot = NULL;
  return true;
}

// ---- statements

static bool on_load(products *p, const sched_walk *w, const block_statement *s) {
  matrix *m = &p->loaded[s->load.target.buffer];
  if (!matrix_of(p, w, &s->load.access, &s->load.target, m))
    return sched_loop_refuse(p->l, s, "the loop unroller loads evenly spaced rows that start inside of the tensor");
  if (s->load.accumulate || s->load.overwrite_first != 0)
    return sched_loop_refuse(p->l, s, "the loop unroller loads one matrix into a result");
  m->scale = s->load.scaled ? s->load.scale : 1.0F;
  return true;
}

// What a residual is multiplied with: the product of blocks as one over all columns of the result that exist.
static matrix unit_matrix(products *p, const block_statement *s) {
  const block_buffer *result = &p->l->program->buffers[s->dot.target.buffer];
  const int64_t size = result->size[result->rank - 1];
  return (matrix){.set = true,
                  .tensor = sched_loop_unit_matrix(p->l, sched_loop_unit_number(p->l, s), size, size),
                  .stride = size,
                  .rows = p->a.columns,
                  .columns = p->a.columns,
                  .element = 1,
                  .scale = 1.0F};
}

static bool on_dot(products *p, const sched_walk *w, const block_statement *s) {
  const matrix none = {.set = false};
  const block_view *t = &s->dot.target;
  bool overwrites = !s->dot.accumulate && !sched_walk_repeats(w, s->dot.overwrite_first);
  if (!put_loop(p, &none)) return false;
  p->dot = s;
  p->a = p->loaded[s->dot.a.buffer];
  p->b = s->dot.blocks ? unit_matrix(p, s) : p->loaded[s->dot.b.buffer];
  p->d = overwrites ? none : p->loaded[t->buffer];
  p->loaded[t->buffer] = none;  // the next product adds to this one
  p->accumulates = !overwrites;
  if (overwrites || p->d.set) p->width = 0;
  if (!p->a.set || !p->b.set || p->a.stride == 0 || p->b.stride == 0)
    return sched_loop_refuse(p->l, s, "the loop unroller loads both operands of a product");
  if (!block_is_whole(p->l->program, t) || !block_is_whole(p->l->program, &s->dot.a) ||
      !block_is_whole(p->l->program, &s->dot.b))
    return sched_loop_refuse(p->l, s, "the loop unroller multiplies whole blocks");
  if (s->dot.a_transposed && s->dot.b_transposed)
    return sched_loop_refuse(p->l, s, "products transpose one operand only");
  if (p->a.rows == 0 || p->b.rows == 0) p->dot = NULL;
  return true;
}

static bool on_store(products *p, const sched_walk *w, const block_statement *s) {
  matrix c;
  if (!matrix_of(p, w, &s->store.access, &s->store.source, &c))
    return sched_loop_refuse(p->l, s, "the loop unroller stores evenly spaced rows");
  if (p->dot == NULL || p->dot->dot.target.buffer != s->store.source.buffer)
    return sched_loop_refuse(p->l, s, "the loop unroller stores results of products");
  if (s->store.epilogue.norm.kind != BLOCK_NO_NORM)
    return sched_loop_refuse(p->l, s, "the loop unroller of matrix products normalises no rows");
  if (s->store.epilogue.pool.stride != 0)
    return sched_loop_refuse(p->l, s, "the loop unroller of matrix products does not pool");
  c.relu = s->store.epilogue.relu;
  c.full = !s->store.epilogue.scaled;
  if (s->store.epilogue.scaled) c.scale = s->store.epilogue.scale;
  // What is cut off is not computed.
  *(p->dot->dot.a_transposed ? &p->a.columns : &p->a.rows) = c.rows;
  *(p->dot->dot.b_transposed ? &p->b.rows : &p->b.columns) = c.columns;
  if (c.rows == 0 || c.columns == 0) {
    p->dot = NULL;
    return true;
  }
  return put_loop(p, &c);
}

static bool visit(void *context, const sched_walk *w, const block_statement *s) {
  products *p = context;
  switch (s->kind) {
    case BLOCK_LOAD:
      return on_load(p, w, s);
    case BLOCK_DOT:
      return on_dot(p, w, s);
    case BLOCK_STORE:
      return on_store(p, w, s);
    case BLOCK_ELEMENTWISE:
      break;
    case BLOCK_FOR:
      break;
  }
  return sched_loop_refuse(p->l, s, "the loop unroller has no element-wise operations");
}

bool sched_loop_products(sched_loop *l, sched_walk *w) {
  const block_program *program = l->program;
  products p = {.l = l};
  p.loaded = WF_ARENA_ARRAY(l->arena, (size_t)program->buffer_count + 1, matrix);
  p.elements = WF_ARENA_ARRAY(l->arena, (size_t)program->tensor_count + 1, uint64_t);
  const bool good = sched_walk_run(w, visit, &p);
  for (int t = 0; t < program->tensor_count; t++)
    if (p.elements[t] > l->out->tensors[t].elements) l->out->tensors[t].elements = p.elements[t];
  return good;
}
