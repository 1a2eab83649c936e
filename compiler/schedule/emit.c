// SPDX-License-Identifier: Apache-2.0
// Writes the commands of an order. Configuration is written when it differs from what is set: one of three load states
// is taken for each kind of load, so that it rarely changes; execute and store have one state each.
#include "compiler/schedule/emit.h"

#include <string.h>

#include "isa/isa_fields.h"

enum { LOAD_STATES = 3, CONFIGURATIONS = 1000 };  // more of these than this are rare

typedef struct load_state {
  bool set;
  int64_t stride;
  uint16_t block_stride;
  float scale;
  bool shrink, packed;
  uint64_t used;  // when, to find the one that was not used for longest
} load_state;

typedef struct store_state {
  bool set;
  command_insn insn;
} store_state;

// One block of weights with the rows that it serves: what its products have in common.
typedef struct weights {
  const sched_nest *nest;
  uint64_t weights, none;  // the operand, and the one for no weights
  uint64_t bias;           // the operand, to which rows are added, or none
  uint64_t a, c;           // operands of products, to which rows are added
  uint16_t a_stride;       // of transposed rows, which is one for all
  bool deep;               // there is something to multiply
} weights;

// How far the products of one program have come.
typedef struct cursor {
  const sched_streams *s;
  const int *tensors;               // numbers in the output; NULL: the program's own
  size_t nest, column, depth, row;  // of the next product: its nest, column, block of depth, run of rows
  weights weights;
} cursor;

// Configuration is the machine's, so that programs which take turns share it.
typedef struct sched_emitter {
  command_program *out;
  load_state load[LOAD_STATES];
  uint64_t loads;
  bool execute_set;
  bool a_transposed, b_transposed, relu;
  uint16_t a_stride;
  store_state store;
  const block_norm *norm;  // that is configured
  command_insn gate;       // its registers are zero at reset
  cursor *cursors, *at;
} emitter;

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static command_insn insn(unsigned funct) {
  return (command_insn){.funct = (uint8_t)funct, .tensor_rs1 = COMMAND_NO_TENSOR, .tensor_rs2 = COMMAND_NO_TENSOR};
}

static uint64_t operand(uint32_t local, uint32_t cols, uint32_t rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

static int16_t number_of(const emitter *m, int tensor) {
  return (int16_t)(tensor == COMMAND_NO_TENSOR || m->at->tensors == NULL ? tensor : m->at->tensors[tensor]);
}

// ---- loads

// Whether a state serves a load. A single row works with any stride, zeros with any stride and scale.
static bool serves(const load_state *state, const sched_load *load, uint32_t dim) {
  bool memory = load->tensor != COMMAND_NO_TENSOR;
  bool stride = !memory || load->rows == 1 || state->stride == load->stride;
  bool scale = !memory || bits_of(state->scale) == bits_of(load->scale);
  return state->set && stride && scale && state->shrink == load->shrink && (!memory || state->packed == load->packed) &&
         (load->cols <= dim || state->block_stride == load->block_stride);
}

static void configure_load(emitter *m, unsigned n, const sched_load *load) {
  command_insn i = insn(ISA_FUNCT_CONFIG_LD);
  m->load[n] = (load_state){.set = true,
                            .stride = load->stride,
                            .block_stride = load->block_stride,
                            .scale = load->scale,
                            .shrink = load->shrink,
                            .packed = load->packed};
  isa_init_config_ld(&i.rs1, &i.rs2);
  isa_set_config_ld_state(&i.rs1, &i.rs2, n);
  isa_set_config_ld_shrink(&i.rs1, &i.rs2, load->shrink);
  isa_set_config_ld_packed(&i.rs1, &i.rs2, load->packed);
  isa_set_config_ld_pixel_repeats(&i.rs1, &i.rs2, 1);
  isa_set_config_ld_block_stride(&i.rs1, &i.rs2, load->block_stride);
  isa_set_config_ld_scale(&i.rs1, &i.rs2, bits_of(load->scale));
  isa_set_config_ld_stride(&i.rs1, &i.rs2, (uint64_t)load->stride);
  command_add(m->out, &i);
}

static unsigned state_for(emitter *m, const sched_load *load) {
  unsigned oldest = 0;
  for (unsigned n = 0; n < LOAD_STATES; n++) {
    if (serves(&m->load[n], load, m->at->s->derived.dim)) return n;
    if (m->load[n].used < m->load[oldest].used) oldest = n;
  }
  configure_load(m, oldest, load);
  return oldest;
}

static void emit_load(emitter *m, const sched_load *load) {
  static const uint8_t functs[LOAD_STATES] = {ISA_FUNCT_MVIN, ISA_FUNCT_MVIN2, ISA_FUNCT_MVIN3};
  unsigned state = state_for(m, load);
  m->load[state].used = ++m->loads;
  command_insn i = insn(functs[state]);
  i.tensor_rs1 = number_of(m, load->tensor);
  i.rs1 = load->tensor == COMMAND_NO_TENSOR ? 0 : (uint64_t)load->offset;
  i.rs2 = operand(load->local, load->cols, load->rows);
  command_add(m->out, &i);
}

// ---- products

// The dataflow is one for the whole program.
static void configure_execute(emitter *m, const sched_nest *nest, uint16_t a_stride) {
  m->execute_set = true;
  m->a_stride = a_stride == 0 ? 1 : a_stride;
  m->a_transposed = nest->a_transposed;
  m->b_transposed = nest->b_transposed;
  m->relu |= nest->relu;  // which the accumulator does not see
  command_insn i = insn(ISA_FUNCT_CONFIG_EX);
  isa_init_config_ex(&i.rs1, &i.rs2);
  isa_set_config_ex_dataflow(&i.rs1, &i.rs2,
                             nest->output_stationary ? ISA_CONFIG_EX_DATAFLOW_OS : ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_activation(&i.rs1, &i.rs2, m->relu);
  isa_set_config_ex_a_transpose(&i.rs1, &i.rs2, m->a_transposed);
  isa_set_config_ex_b_transpose(&i.rs1, &i.rs2, m->b_transposed);
  isa_set_config_ex_a_stride(&i.rs1, &i.rs2, m->a_stride);
  isa_set_config_ex_acc_scale(&i.rs1, &i.rs2, bits_of(1.0F));
  isa_set_config_ex_c_stride(&i.rs1, &i.rs2, 1);
  command_add(m->out, &i);
}

static void next_weights(emitter *m) {
  const sched_nest *nest = &m->at->s->nests[m->at->nest];
  const sched_plan *plan = nest->plan;
  const sched_dot_run *n = &plan->n.runs[m->at->column], *k = plan->k.count == 0 ? NULL : &plan->k.runs[m->at->depth];
  const uint32_t dim = m->at->s->derived.dim, c = nest->target + n->first_local;
  const bool accumulate = nest->accumulate || m->at->depth > 0;
  const uint64_t none = operand(ISA_LOCAL_GARBAGE, dim, dim);
  m->at->weights = (weights){.nest = nest,
                             .weights = none,
                             .none = none,
                             .bias = nest->biased ? operand(nest->bias, (uint32_t)n->count, 0) : none,
                             .a = operand(ISA_LOCAL_GARBAGE, dim, 0),
                             .c = operand(isa_local_with_accumulate(c, accumulate), (uint32_t)n->count, 0),
                             .deep = k != NULL};
  if (k == NULL) return;
  m->at->weights.weights = operand(nest->b + n->second_local + k->second_local, (uint32_t)n->count, (uint32_t)k->count);
  m->at->weights.a = operand(nest->a + k->first_local, (uint32_t)k->count, 0);
  m->at->weights.a_stride = k->count > 1;
}

// The stride that the operands of a run of rows need, 0: any.
static uint16_t stride_of(const weights *w, const sched_dot_run *rows) {
  if (!w->deep) return 0;
  if (w->nest->a_transposed) return w->a_stride;
  return rows->count == 1 ? 0 : (uint16_t)rows->step;
}

// The products of `count` runs of rows; `fresh`: all with new weights, else all with the weights that stay.
static void fill_pairs(const weights *w, const sched_dot_run *rows, size_t count, bool fresh, command_node *nodes) {
  const uint8_t funct = fresh ? ISA_FUNCT_COMPUTE_PRELOADED : ISA_FUNCT_COMPUTE_ACCUMULATED;
  const bool stationary = w->nest->output_stationary;  // the results: weights come with each product
  const bool biased = w->nest->biased;
  const uint64_t before = fresh && !stationary ? w->weights : w->none, with = stationary ? w->weights : w->bias;
  const uint64_t a = w->a, c = w->c, moves = w->deep ? UINT32_MAX : 0;
  for (size_t n = 0; n < count; n++, nodes += 2) {
    const uint64_t height = (uint64_t)rows[n].count << 48;
    nodes[0] = command_plain(ISA_FUNCT_PRELOAD, before, c + rows[n].first_local + height);
    nodes[1] = command_plain(funct, a + (rows[n].second_local & moves) + height, with + (biased ? height : 0));
  }
}

// How many of `count` runs of rows, from the first on, work with the stride of the first one.
static size_t alike_strides(const weights *w, const sched_dot_run *rows, size_t count) {
  const uint16_t stride = stride_of(w, rows);
  size_t n = 1;
  if (!w->deep || w->nest->a_transposed) return count;
  while (n < count && (rows[n].count == 1 || (uint16_t)rows[n].step == stride)) n++;
  return n;
}

// The products of `count` runs of rows, with the configuration that they need.
static void emit_rows(emitter *m, const sched_dot_run *rows, size_t count) {
  const weights *w = &m->at->weights;
  const bool always = w->nest->output_stationary;
  bool fresh = always || (m->at->row == 0 && !w->nest->kept);
  while (count > 0) {
    const uint16_t stride = stride_of(w, rows);
    const size_t alike = alike_strides(w, rows, count);
    if (stride != 0 && m->a_stride != stride) configure_execute(m, w->nest, stride);
    command_node *nodes = command_extend(m->out, 2 * alike);
    const size_t first = fresh ? (always ? alike : 1) : 0;
    fill_pairs(w, rows, first, true, nodes);
    fill_pairs(w, rows + first, alike - first, false, nodes + 2 * first);
    fresh = always;
    rows += alike;
    count -= alike;
  }
}

// Behind the last row the products of the next block of weights follow.
static void go_on(emitter *m, const sched_plan *plan) {
  m->at->row = 0;
  if (++m->at->depth < sched_plan_depth(plan)) return;
  m->at->depth = 0;
  if (++m->at->column < plan->n.count) return;
  m->at->column = 0;
  m->at->nest++;
}

static void start_weights(emitter *m) {
  next_weights(m);
  const weights *w = &m->at->weights;
  const bool leaves = m->relu || !w->nest->relu;
  if (m->execute_set && m->a_transposed == w->nest->a_transposed && m->b_transposed == w->nest->b_transposed && leaves)
    return;
  configure_execute(m, w->nest, stride_of(w, &w->nest->plan->m.runs[0]));
}

static void emit_products(emitter *m, uint32_t count) {
  const weights *w = &m->at->weights;
  while (count > 0) {
    if (m->at->row == 0) start_weights(m);
    const sched_dot_runs *rows = &w->nest->plan->m;
    const size_t left = rows->count - m->at->row, taken = count < left ? count : left;
    emit_rows(m, rows->runs + m->at->row, taken);
    count -= (uint32_t)taken;
    m->at->row += taken;
    if (taken == left) go_on(m, w->nest->plan);
  }
}

// ---- stores

static uint64_t activation_of(const sched_store *store) {
  const block_norm_kind kind = store->norm == NULL ? BLOCK_NO_NORM : store->norm->kind;
  return kind == BLOCK_LAYER_NORM ? ISA_CONFIG_ST_ACTIVATION_LAYERNORM
         : kind == BLOCK_GELU     ? ISA_CONFIG_ST_ACTIVATION_IGELU
                                  : store->relu;
}

static void configure_store(emitter *m, const sched_store *store) {
  command_insn i = insn(ISA_FUNCT_CONFIG_ST);
  isa_init_config_st(&i.rs1, &i.rs2);
  isa_set_config_st_activation(&i.rs1, &i.rs2, activation_of(store));
  isa_set_config_st_stride(&i.rs1, &i.rs2, (uint64_t)store->stride);
  isa_set_config_st_acc_scale(&i.rs1, &i.rs2, bits_of(store->scale));
  if (store->pool.stride != 0) {
    isa_set_config_st_pool_stride(&i.rs1, &i.rs2, store->pool.stride);
    isa_set_config_st_pool_size(&i.rs1, &i.rs2, store->pool.size);
    isa_set_config_st_pool_upad(&i.rs1, &i.rs2, store->pool.upper_padding);
    isa_set_config_st_pool_lpad(&i.rs1, &i.rs2, store->pool.left_padding);
    isa_set_config_st_pool_out_dim(&i.rs1, &i.rs2, store->pool_out_dim);
    isa_set_config_st_pool_orows(&i.rs1, &i.rs2, store->pool_rows);
    isa_set_config_st_pool_ocols(&i.rs1, &i.rs2, store->pool_cols);
    isa_set_config_st_orows(&i.rs1, &i.rs2, store->image_rows);
    isa_set_config_st_ocols(&i.rs1, &i.rs2, store->image_cols);
  }
  if (m->store.set && m->store.insn.rs1 == i.rs1 && m->store.insn.rs2 == i.rs2) return;
  m->store = (store_state){.set = true, .insn = i};
  command_add(m->out, &i);
}

// Softmax is the activation with the upper bit, which this configuration has; its constants come in two halves. Those
// of GELU fit into one.
static void configure_norm(emitter *m, const block_norm *norm) {
  const block_norm none = {0}, *set = norm == NULL ? &none : norm;
  if (m->norm == norm || (m->norm != NULL && norm != NULL && memcmp(m->norm, norm, sizeof *norm) == 0)) return;
  m->norm = norm;
  for (int inverse = set->kind == BLOCK_SOFTMAX; inverse >= 0; inverse--) {
    command_insn i = insn(ISA_FUNCT_CONFIG_NORM);
    isa_init_config_norm(&i.rs1, &i.rs2);
    isa_set_config_norm_activation_msb(&i.rs1, &i.rs2, set->kind == BLOCK_SOFTMAX);
    isa_set_config_norm_qln2_inverse(&i.rs1, &i.rs2, (uint64_t)inverse);
    isa_set_config_norm_ln2(&i.rs1, &i.rs2, (uint32_t)(inverse != 0 ? set->ln2_inverse : set->ln2));
    isa_set_config_norm_qb(&i.rs1, &i.rs2, (uint32_t)set->b);
    isa_set_config_norm_qc(&i.rs1, &i.rs2, (uint32_t)set->c);
    command_add(m->out, &i);
  }
}

// What is stored by, or NULL: as it is.
static void configure_gate(emitter *m, const sched_store *store) {
  const bool on = store != NULL && store->gated;
  command_insn i = insn(ISA_FUNCT_CONFIG_GATE);
  isa_init_config_gate(&i.rs1, &i.rs2);
  if (on) {
    isa_set_config_gate_on(&i.rs1, &i.rs2, 1);
    isa_set_config_gate_offset(&i.rs1, &i.rs2, (uint32_t)store->gate_offset);
    isa_set_config_gate_scale(&i.rs1, &i.rs2, bits_of(store->gate_scale));
  }
  if (i.rs1 == m->gate.rs1 && i.rs2 == m->gate.rs2) return;
  m->gate = i;
  command_add(m->out, &i);
}

// What a store does to the rows that it reads.
static void prepare_store(emitter *m, const sched_store *store) {
  configure_store(m, store);
  configure_gate(m, store);
  configure_norm(m, store->norm != NULL && store->norm->kind != BLOCK_LAYER_NORM ? store->norm : NULL);
}

static void emit_store(emitter *m, const sched_store *store) {
  prepare_store(m, store);
  command_insn i = insn(ISA_FUNCT_MVOUT);
  i.tensor_rs1 = number_of(m, store->tensor);
  i.rs1 = (uint64_t)store->offset;
  i.rs2 = operand(store->local, store->cols, store->rows);
  command_add(m->out, &i);
}

// ---- programs

command_tensor sched_emit_tensor(const block_tensor *tensor) {
  return (command_tensor){.name = tensor->name,
                          .element_bytes = (unsigned)block_type_bytes(tensor->type),
                          .is_float = tensor->type == BLOCK_F32,
                          .elements = (uint64_t)(tensor->packed ? (tensor->elements + 1) / 2 : tensor->elements),
                          .read = tensor->read,
                          .written = tensor->written,
                          .contents = tensor->contents};
}

void sched_emit_tensors(const block_program *program, command_program *out) {
  for (int t = 0; t < program->tensor_count; t++) {
    const command_tensor tensor = sched_emit_tensor(&program->tensors[t]);
    command_add_tensor(out, &tensor);
  }
}

sched_emitter *sched_emitter_create(command_program *out, int programs, wf_arena *arena) {
  sched_emitter *m = WF_ARENA_NEW(arena, sched_emitter);
  *m = (sched_emitter){.out = out, .cursors = WF_ARENA_ARRAY(arena, (size_t)programs, cursor)};
  return m;
}

void sched_emitter_begin(sched_emitter *m, int program, const sched_streams *s, const int *tensors) {
  m->cursors[program] = (cursor){.s = s, .tensors = tensors};
}

void sched_emitter_put(sched_emitter *m, int program, const sched_order_item *item) {
  m->at = &m->cursors[program];
  const sched_streams *s = m->at->s;
  switch ((sched_order_kind)item->kind) {
    case SCHED_ORDER_LOAD:
      emit_load(m, &s->queues[item->queue].loads[item->index]);
      break;
    case SCHED_ORDER_PRODUCT:
      emit_products(m, item->count);
      break;
    case SCHED_ORDER_STORE:
      emit_store(m, &s->stores[item->index]);
      break;
  }
}

void sched_emitter_move(sched_emitter *m, int program, const sched_store *store, const sched_move *move) {
  m->at = &m->cursors[program];
  prepare_store(m, store);
  command_insn i = insn(ISA_FUNCT_MVOUT_SPAD);
  isa_init_mvout_spad_r2(&i.rs1, &i.rs2);
  isa_set_mvout_spad_r2_dest(&i.rs1, &i.rs2, move->to);
  isa_set_mvout_spad_r2_stride(&i.rs1, &i.rs2, move->stride);
  isa_set_mvout_spad_r2_block_stride(&i.rs1, &i.rs2, move->block_stride);
  isa_set_mvout_spad_r2_local(&i.rs1, &i.rs2, move->from);
  isa_set_mvout_spad_r2_cols(&i.rs1, &i.rs2, move->cols);
  isa_set_mvout_spad_r2_rows(&i.rs1, &i.rs2, move->rows);
  command_add(m->out, &i);
}

void sched_emit(const sched_streams *s, const sched_order *all, command_program *out, wf_arena *arena) {
  sched_emitter *m = sched_emitter_create(out, 1, arena);
  sched_emitter_begin(m, 0, s, NULL);
  command_reserve(out, 2 * (size_t)s->product_count + all->count + CONFIGURATIONS);
  for (size_t n = 0; n < all->count; n++) sched_emitter_put(m, 0, &all->items[n]);
  configure_norm(m, NULL);
  configure_gate(m, NULL);
  command_add_fence(out);
}
