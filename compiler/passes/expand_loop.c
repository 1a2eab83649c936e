// A placed program of matrix products through the hardware's loop unroller (LOOP_WS): one unrolled loop for each
// product statement, which loads its operands (and the bias before the first product of a result), multiplies, and
// stores after the last product of a result.
//
// The unroller has places of its own in both memories, two slots that take turns, so nothing stays in the scratchpad
// from one loop to the next; pass_hoist and pass_buffers leave such programs as they are.
#include <string.h>

#include "compiler/passes/expand.h"

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

typedef struct loop_style {
  const block_program *program;
  const hw_array *array;
  hw_derived derived;
  wf_diag *diag;
  wf_arena *arena;
  command_program *out;
  matrix *loaded;              // per buffer: its latest load
  const block_statement *dot;  // whose loop is not written yet: it may have to store
  matrix a, b, d;              // of that loop
  bool accumulates;
  uint64_t config[5][2];  // what is set: execute, three load states, store
  bool configured[5];
  uint64_t *elements;  // per tensor, with what loads read behind the end
} loop_style;

enum { CONFIG_EX = 0, CONFIG_LD = 1, CONFIG_ST = 4 };

// ---- accesses as matrices

typedef struct rows_found {
  run first;
  int64_t rows;
  int runs;
} rows_found;

static void find_rows(void *context, const run *rows) {
  rows_found *found = context;
  if (found->runs++ == 0) found->first = *rows;
  found->rows += rows->rows;
}

// The elements of an access that exist; false if its rows are not evenly spaced.
static bool matrix_of(const loop_style *l, const walk *w, const block_access *access, const block_view *view,
                      matrix *m) {
  box inside = expand_inside(w, view, access);
  int last = access->rank - 1;
  *m = (matrix){.set = true, .tensor = access->tensor, .scale = 1.0F};
  m->element = (int64_t)block_type_bytes(l->program->tensors[access->tensor].type);
  if (box_empty(&inside, access->rank)) return true;
  run_dim dims[BLOCK_RANK_MAX];
  int64_t at = block_affine_at(&access->base, w->iteration), local = 1;
  for (int d = last; d >= 0; d--) {
    const block_access_dim *a = &access->dim[d];
    int64_t offset = block_affine_at(&a->offset, w->iteration);
    int64_t skipped = (inside.lo[d] - block_affine_at(&view->dim[d].offset, w->iteration)) / view->dim[d].step;
    if (skipped != 0 || view->dim[d].step != 1) return false;
    at += offset * a->stride;
    if (d == last) continue;
    dims[d] =
        (run_dim){.count = inside.hi[d] - inside.lo[d], .local = local, .memory = a->step * a->stride * m->element};
    local *= inside.hi[d] - inside.lo[d];
  }
  rows_found found = {.runs = 0};
  run_visit(dims, last, 0, at * m->element, INT64_MAX, 0, find_rows, &found);
  m->offset = found.first.memory;
  m->stride = found.first.stride;
  m->rows = found.rows;
  m->columns = inside.hi[last] - inside.lo[last];
  const block_access_dim *columns = &access->dim[last];
  return found.runs == 1 && (m->columns == 1 || (columns->stride == 1 && columns->step == 1)) && m->stride >= 0 &&
         m->stride % m->element == 0;
}

// ---- commands

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void put(loop_style *l, unsigned funct, int tensor1, uint64_t rs1, int tensor2, uint64_t rs2) {
  command_insn i = {
      .funct = (uint8_t)funct, .tensor_rs1 = (int16_t)tensor1, .tensor_rs2 = (int16_t)tensor2, .rs1 = rs1, .rs2 = rs2};
  command_add(l->out, &i);
}

static void configure(loop_style *l, int which, unsigned funct, uint64_t rs1, uint64_t rs2) {
  if (l->configured[which] && l->config[which][0] == rs1 && l->config[which][1] == rs2) return;
  l->configured[which] = true;
  l->config[which][0] = rs1;
  l->config[which][1] = rs2;
  put(l, funct, COMMAND_NO_TENSOR, rs1, COMMAND_NO_TENSOR, rs2);
}

static void configure_load(loop_style *l, unsigned state, const matrix *m, bool shrink) {
  uint64_t rs1, rs2;
  isa_init_config_ld(&rs1, &rs2);
  isa_set_config_ld_state(&rs1, &rs2, state);
  isa_set_config_ld_shrink(&rs1, &rs2, shrink);
  isa_set_config_ld_pixel_repeats(&rs1, &rs2, 1);
  isa_set_config_ld_block_stride(&rs1, &rs2, l->derived.dim);
  isa_set_config_ld_scale(&rs1, &rs2, bits_of(m->scale));
  isa_set_config_ld_stride(&rs1, &rs2, (uint64_t)m->stride);
  configure(l, CONFIG_LD + (int)state, ISA_FUNCT_CONFIG_LD, rs1, rs2);
}

static void configure_units(loop_style *l, const matrix *c) {
  uint64_t rs1, rs2;
  isa_init_config_ex(&rs1, &rs2);
  isa_set_config_ex_dataflow(&rs1, &rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_a_transpose(&rs1, &rs2, l->dot->dot.a_transposed);
  isa_set_config_ex_b_transpose(&rs1, &rs2, l->dot->dot.b_transposed);
  isa_set_config_ex_a_stride(&rs1, &rs2, 1);
  isa_set_config_ex_acc_scale(&rs1, &rs2, bits_of(1.0F));
  isa_set_config_ex_c_stride(&rs1, &rs2, 1);
  configure(l, CONFIG_EX, ISA_FUNCT_CONFIG_EX, rs1, rs2);
  configure_load(l, 0, &l->a, false);
  configure_load(l, 1, &l->b, false);
  if (l->d.set) configure_load(l, 2, &l->d, l->d.element == 1);
  if (!c->set) return;
  isa_init_config_st(&rs1, &rs2);
  isa_set_config_st_activation(&rs1, &rs2, c->relu);
  isa_set_config_st_stride(&rs1, &rs2, (uint64_t)c->stride);
  isa_set_config_st_acc_scale(&rs1, &rs2, bits_of(c->scale));
  configure(l, CONFIG_ST, ISA_FUNCT_CONFIG_ST, rs1, rs2);
}

static uint64_t address(const matrix *m) { return m->set ? (uint64_t)m->offset : 0; }
static int tensor_of(const matrix *m) { return m->set ? m->tensor : COMMAND_NO_TENSOR; }
static uint64_t stride(const matrix *m) { return m->set ? (uint64_t)(m->stride / m->element) : 0; }

static uint64_t tiles(const loop_style *l, int64_t size) {
  return ((uint64_t)size + l->derived.dim - 1) / l->derived.dim;
}
static uint64_t pad(const loop_style *l, int64_t size) { return tiles(l, size) * l->derived.dim - (uint64_t)size; }

// Rows of B come in whole tiles: the last loads reach behind the end of the tensor.
static void note_overrun(loop_style *l, const matrix *m) {
  uint64_t rows = tiles(l, m->rows) * l->derived.dim, columns = (uint64_t)m->columns;
  uint64_t end = (uint64_t)m->offset + (rows - 1) * (uint64_t)m->stride + columns;
  if (end > l->elements[m->tensor]) l->elements[m->tensor] = end;
}

// Writes the loop of the latest product; `c` is set if the result is complete.
static void put_loop(loop_style *l, const matrix *c) {
  const block_statement *s = l->dot;
  if (s == NULL) return;
  bool at = s->dot.a_transposed, bt = s->dot.b_transposed;
  int64_t m = at ? l->a.columns : l->a.rows, n = bt ? l->b.rows : l->b.columns, k = at ? l->a.rows : l->a.columns;
  configure_units(l, c);
  note_overrun(l, &l->b);
  uint64_t rs1, rs2;
  isa_init_loop_ws_bounds(&rs1, &rs2);
  isa_set_loop_ws_bounds_i(&rs1, &rs2, tiles(l, m));
  isa_set_loop_ws_bounds_j(&rs1, &rs2, tiles(l, n));
  isa_set_loop_ws_bounds_k(&rs1, &rs2, tiles(l, k));
  isa_set_loop_ws_bounds_pad_i(&rs1, &rs2, pad(l, m));
  isa_set_loop_ws_bounds_pad_j(&rs1, &rs2, pad(l, n));
  isa_set_loop_ws_bounds_pad_k(&rs1, &rs2, pad(l, k));
  put(l, ISA_FUNCT_LOOP_WS_BOUNDS, COMMAND_NO_TENSOR, rs1, COMMAND_NO_TENSOR, rs2);
  put(l, ISA_FUNCT_LOOP_WS_ADDRS_AB, l->a.tensor, address(&l->a), l->b.tensor, address(&l->b));
  put(l, ISA_FUNCT_LOOP_WS_ADDRS_DC, tensor_of(&l->d), address(&l->d), tensor_of(c), address(c));
  put(l, ISA_FUNCT_LOOP_WS_STRIDES_AB, COMMAND_NO_TENSOR, stride(&l->a), COMMAND_NO_TENSOR, stride(&l->b));
  put(l, ISA_FUNCT_LOOP_WS_STRIDES_DC, COMMAND_NO_TENSOR, stride(&l->d), COMMAND_NO_TENSOR, stride(c));
  isa_init_loop_ws_r1(&rs1, &rs2);  // these bits are the same in both revisions
  isa_set_loop_ws_r1_ex_accumulate(&rs1, &rs2, l->accumulates);
  isa_set_loop_ws_r1_full_c(&rs1, &rs2, c->set && c->full);
  isa_set_loop_ws_r1_low_d(&rs1, &rs2, l->d.set && l->d.element == 1);
  isa_set_loop_ws_r1_activation(&rs1, &rs2, c->set && c->relu);
  isa_set_loop_ws_r1_a_transpose(&rs1, &rs2, at);
  isa_set_loop_ws_r1_b_transpose(&rs1, &rs2, bt);
  put(l, ISA_FUNCT_LOOP_WS, COMMAND_NO_TENSOR, rs1, COMMAND_NO_TENSOR, rs2);
  l->dot = NULL;
}

// ---- statements

static bool refuse(const loop_style *l, const block_statement *s, const char *reason) {
  wf_error(l->diag, s->where, "%s", reason);
  wf_hint(l->diag, "style primitive takes it");
  return false;
}

static bool on_load(loop_style *l, const walk *w, const block_statement *s) {
  matrix *m = &l->loaded[s->load.target.buffer];
  if (!matrix_of(l, w, &s->load.access, &s->load.target, m))
    return refuse(l, s, "the loop unroller loads evenly spaced rows that start inside of the tensor");
  if (s->load.accumulate || s->load.overwrite_first != 0)
    return refuse(l, s, "the loop unroller loads one matrix into a result");
  m->scale = s->load.scaled ? s->load.scale : 1.0F;
  return true;
}

static bool on_dot(loop_style *l, const walk *w, const block_statement *s) {
  const matrix none = {.set = false};
  const block_view *t = &s->dot.target;
  bool overwrites = !s->dot.accumulate && !expand_repeats(w, s->dot.overwrite_first);
  put_loop(l, &none);
  l->dot = s;
  l->a = l->loaded[s->dot.a.buffer];
  l->b = l->loaded[s->dot.b.buffer];
  l->d = overwrites ? none : l->loaded[t->buffer];
  l->loaded[t->buffer] = none;  // the next product adds to this one
  l->accumulates = !overwrites;
  if (!l->a.set || !l->b.set || l->a.stride == 0 || l->b.stride == 0)
    return refuse(l, s, "the loop unroller loads both operands of a product");
  if (s->dot.a_transposed && s->dot.b_transposed) return refuse(l, s, "products transpose one operand only");
  if (l->a.rows == 0 || l->b.rows == 0) l->dot = NULL;
  return true;
}

static bool on_store(loop_style *l, const walk *w, const block_statement *s) {
  matrix c;
  if (!matrix_of(l, w, &s->store.access, &s->store.source, &c))
    return refuse(l, s, "the loop unroller stores evenly spaced rows");
  if (l->dot == NULL || l->dot->dot.target.buffer != s->store.source.buffer)
    return refuse(l, s, "the loop unroller stores results of products");
  if (s->store.epilogue.pool.stride != 0) return refuse(l, s, "the loop unroller of matrix products does not pool");
  c.relu = s->store.epilogue.relu;
  c.full = !s->store.epilogue.scaled;
  if (s->store.epilogue.scaled) c.scale = s->store.epilogue.scale;
  // What is cut off is not computed.
  *(l->dot->dot.a_transposed ? &l->a.columns : &l->a.rows) = c.rows;
  *(l->dot->dot.b_transposed ? &l->b.rows : &l->b.columns) = c.columns;
  if (c.rows == 0 || c.columns == 0) {
    l->dot = NULL;
    return true;
  }
  put_loop(l, &c);
  return true;
}

static bool visit(void *context, const walk *w, const block_statement *s) {
  loop_style *l = context;
  switch (s->kind) {
    case BLOCK_LOAD:
      return on_load(l, w, s);
    case BLOCK_DOT:
      return on_dot(l, w, s);
    case BLOCK_STORE:
      return on_store(l, w, s);
    case BLOCK_ELEMENTWISE:
      break;
    case BLOCK_FOR:
      break;
  }
  return refuse(l, s, "the loop unroller has no element-wise operations");
}

static bool check(const loop_style *l) {
  if (l->array->units.loop_matmul && l->array->mesh.dataflow != HW_DATAFLOW_OS) return true;
  wf_error(l->diag, wf_in_file(l->program->name), "this array has no unroller of weight-stationary matrix loops");
  return false;
}

command_program *expand_loop_style(const block_program *program, const hw_array *array, wf_diag *diag) {
  loop_style l = {.program = program, .array = array, .derived = hw_derive(array), .diag = diag};
  if (!check(&l)) return NULL;
  l.arena = wf_arena_create();
  l.out = command_create(program->name, array);
  l.loaded = WF_ARENA_ARRAY(l.arena, (size_t)program->buffer_count + 1, matrix);
  l.elements = WF_ARENA_ARRAY(l.arena, (size_t)program->tensor_count + 1, uint64_t);
  emit_tensors(program, l.out);
  walk w;
  walk_create(&w, program, l.arena);
  bool good = walk_run(&w, visit, &l);
  for (int t = 0; t < program->tensor_count; t++)
    if (l.elements[t] > l.out->tensors[t].elements) l.out->tensors[t].elements = l.elements[t];
  command_add_fence(l.out);
  wf_arena_destroy(l.arena);
  if (good) return l.out;
  command_destroy(l.out);
  return NULL;
}
