// SPDX-License-Identifier: Apache-2.0
// Mixed steps: see mix.h.
#include "compiler/network/mix.h"

#include <string.h>

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/block/layout.h"
#include "compiler/network/banks.h"
#include "compiler/network/curve.h"
#include "compiler/network/normalise.h"
#include "compiler/network/private.h"
#include "compiler/network/steps.h"
#include "compiler/schedule/emit.h"
#include "compiler/schedule/mix.h"

// ---- which steps

// Curves, and rows in the normaliser.
static const network_unit *rows_of(const network *net, const network_step *step) {
  const network_unit *unit = net->kernels[step->kernel].unit;
  if (unit == NULL) return NULL;
  return network_is_normalised(unit) || (unit->curve != NULL && !unit->is_row) ? unit : NULL;
}

// Layers in single commands, and rows.
static bool is_mixable(const network *net, const network_step *step) {
  if (step->place != GRAPH_ON_ARRAY) return false;
  if (network_layer_of(net, step) == NULL) return rows_of(net, step) != NULL;
  return net->kernels[step->kernel].mapping.style == BLOCK_STYLE_PRIMITIVE;
}

// A norm that takes no mean off clears the mean once, at its start: no other rows may set it meanwhile.
static bool keeps_mean(const network *net, network_window window) {
  int rows = 0, cleared = 0;  // steps with statistics; norms without a mean
  for (int s = window.first; s < window.first + window.count; s++) {
    const network_unit *unit = net->steps[s].place == GRAPH_ON_ARRAY ? rows_of(net, &net->steps[s]) : NULL;
    if (unit == NULL || !network_has_statistics(unit)) continue;
    rows++;
    cleared += unit->what.op == GRAPH_OP_QNORM_UNIT && !unit->what.centred;
  }
  return rows < 2 || cleared == 0;
}

static bool is_same(network_place a, network_place b) { return a.buffer == b.buffer && a.offset == b.offset; }

static const command_tensor *tensor_of(const network *net, const network_step *step, const network_operand *operand) {
  const command_program *program = net->kernels[step->kernel].program;
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, operand->param) == 0) return &program->tensors[t];
  return NULL;  // the kernel does not have it
}

// Operands of an earlier and of a later step.
static bool may_follow(const network *net, const network_step *early, const network_operand *a,
                       const network_step *late, const network_operand *b) {
  const command_tensor *from = tensor_of(net, early, a), *to = tensor_of(net, late, b);
  if (from == NULL || to == NULL || a->place.buffer < 0 || a->place.buffer != b->place.buffer) return true;
  if (!from->written && !to->written) return true;
  return is_same(a->place, b->place) && !to->written && from->element_bytes == to->element_bytes;
}

static bool may_follow_all(const network *net, const network_step *early, const network_step *late) {
  for (int a = 0; a < early->operand_count; a++)
    for (int b = 0; b < late->operand_count; b++)
      if (!may_follow(net, early, &early->operands[a], late, &late->operands[b])) return false;
  return true;
}

// The results of a step are in no operand of its own.
static bool is_apart(const network *net, const network_step *step) {
  for (int a = 0; a < step->operand_count; a++)
    for (int b = a + 1; b < step->operand_count; b++)
      if (!may_follow(net, step, &step->operands[a], step, &step->operands[b])) return false;
  return true;
}

bool network_can_mix(const network *net, network_window window) {
  const network_step *steps = &net->steps[window.first];
  for (int late = 0; late < window.count; late++) {
    if (!is_mixable(net, &steps[late]) || !is_apart(net, &steps[late])) return false;
    for (int early = 0; early < late; early++)
      if (!may_follow_all(net, &steps[early], &steps[late])) return false;
  }
  return keeps_mean(net, window);
}

static bool reads_from(const network *net, const network_step *early, const network_step *late) {
  for (int a = 0; a < early->operand_count; a++) {
    const command_tensor *from = tensor_of(net, early, &early->operands[a]);
    for (int b = 0; b < late->operand_count && from != NULL && from->written; b++)
      if (is_same(early->operands[a].place, late->operands[b].place)) return true;
  }
  return false;
}

bool network_is_linked(const network *net, network_window window) {
  const network_step *steps = &net->steps[window.first];
  for (int late = 1; late < window.count; late++)
    for (int early = 0; early < late; early++)
      if (reads_from(net, &steps[early], &steps[late])) return true;
  return false;
}

// ---- shares of the local memories

typedef struct share {
  hw_array array;  // as if the share were all
  uint32_t acc_first, acc_rows;
} share;

enum { PARTS_MAX = NETWORK_MIXED_MAX + 1 };

typedef struct maker {
  const network *net;
  const network_mix_request *request;
  command_tensor tensors[NETWORK_MIXED_TENSORS];
  network_place *places;
  int tensor_count;
  int first, count;  // which programs are mixed
  block_program *programs[PARTS_MAX];
  share shares[PARTS_MAX];
  map_mapping mappings[PARTS_MAX];
  const map_layer *layers[PARTS_MAX];  // NULL: rows
  network_curve curves[PARTS_MAX];
  network_normalise normalises[PARTS_MAX];  // of rows in the normaliser
  network_taken taken;                      // by rows
  int numbers[PARTS_MAX][NETWORK_MIXED_TENSORS];
  sched_mix_way ways[NETWORK_MIXED_TENSORS];
  bool forwarded[NETWORK_MIXED_TENSORS];
  wf_arena *arena;
} maker;

// Rows of the scratchpad that hold all weights of a step, and those of a residual's matrix.
static int64_t weight_rows(const map_layer *layer, const hw_derived *hw) {
  map_mapping whole = map_none();
  int64_t rows[MAP_OPERANDS];
  for (int d = 0; d < BLOCK_DIMS; d++) {
    whole.tile[d] = layer->size[d];
    whole.sp[d] = whole.dram[d] = 1;
  }
  map_rows(layer, &whole, hw->dim, rows);
  return layer->kind == MAP_WINDOW ? 0 : rows[MAP_WEIGHTS];
}

// What rows leave of the scratchpad: to each layer its weights, and equal parts of the rest; equal parts of all if
// the weights leave too little. False: some part is no KiB.
static bool share_scratchpad(maker *m) {
  enum { LEAST = 8 };  // the part of the scratchpad that is left for inputs at least
  const hw_derived all = hw_derive(m->net->options.array);
  int64_t weights[PARTS_MAX], sum = 0, rows = all.sp_rows, layers = 0;
  for (int i = 0; i < m->taken.count; i++) rows -= m->taken.rows[i].count;
  for (int n = m->first; n < m->count; n++) {
    if (m->layers[n] == NULL) continue;
    sum += weights[n] = weight_rows(m->layers[n], &all);
    layers++;
  }
  const bool fit = sum <= rows - rows / LEAST;
  for (int n = m->first; n < m->count; n++) {
    if (m->layers[n] == NULL) continue;
    const int64_t rest = (fit ? rows - sum : rows) / layers;
    m->shares[n].array.scratchpad.capacity_kib = (uint32_t)(((fit ? weights[n] : 0) + rest) * all.sp_row_bytes / 1024);
    m->shares[n].array.scratchpad.banks = 1;
    if (m->shares[n].array.scratchpad.capacity_kib == 0) return false;
  }
  return true;
}

// False: some part is no KiB.
static bool share_accumulator(maker *m) {
  const hw_array *array = m->net->options.array;
  const uint8_t *parts = m->request->shares.accumulator;
  uint32_t all = 0, before = 0;
  for (int n = m->first; n < m->count; n++) all += parts[n - m->first];
  for (int n = m->first; n < m->count; n++) {
    share *s = &m->shares[n];
    s->array.accumulator.capacity_kib = array->accumulator.capacity_kib * parts[n - m->first] / all;
    s->acc_rows = hw_derive(&s->array).acc_rows;
    s->acc_first = before;
    before += s->acc_rows;
    if (s->acc_rows == 0) return false;
  }
  return true;
}

// The only buffer of the accumulator; NULL: there are several.
static block_buffer *results_of(block_program *program) {
  block_buffer *found = NULL;
  for (int b = 0; b < program->buffer_count; b++) {
    if (program->buffers[b].scope != BLOCK_ACC) continue;
    if (found != NULL) return NULL;
    found = &program->buffers[b];
  }
  return found;
}

// Whether slots of results of all programs lie in halves of the accumulator, so that stores of one slot and products
// into the other meet in no bank.
static bool fit_halves(const maker *m, const hw_derived *all) {
  for (int n = m->first; n < m->count; n++) {
    const block_buffer *results = results_of(m->programs[n]);
    if (results == NULL || results->depth > 2) return false;
    const block_layout l = block_layout_of(results, all);
    if (block_layout_slot_rows(&l) > m->shares[n].acc_rows / 2) return false;
  }
  return true;
}

static void place_results(maker *m) {
  const hw_derived all = hw_derive(m->net->options.array);
  const bool halves = fit_halves(m, &all);
  for (int n = m->first; n < m->count; n++)
    for (int b = 0; b < m->programs[n]->buffer_count; b++) {
      block_buffer *buffer = &m->programs[n]->buffers[b];
      if (buffer->scope != BLOCK_ACC) continue;
      buffer->first_row = halves ? m->shares[n].acc_first / 2 : buffer->first_row + m->shares[n].acc_first;
      if (halves) buffer->slot_rows = all.acc_rows / 2;
    }
}

// ---- rows

// Parts lie in banks of their own, two at the start and two at the end, so that few pieces are left between.
static bool place_parts(maker *m, const uint32_t *rows, uint32_t count, uint32_t *first) {
  const hw_derived all = hw_derive(m->net->options.array);
  for (uint32_t part = 0; part < count; part++) {
    const int64_t bank = part % m->net->options.array->scratchpad.banks, start = bank * all.sp_bank_rows,
                  end = start + all.sp_bank_rows;
    int64_t at = part % 2 == 0 ? start : end - rows[part];
    while (part % 2 != 0 && at > start && network_free_rows(&m->taken, at, rows[part], end) != at) at -= all.dim;
    at = network_free_rows(&m->taken, wf_max(at, start), rows[part], end);
    if (at < 0 || m->taken.count == NETWORK_TAKEN_MAX) return false;
    m->taken.rows[m->taken.count++] = (network_rows){at, rows[part]};
    first[part] = (uint32_t)at;
  }
  return true;
}

static bool place_curve(maker *m, const network_curve *c) {
  const uint32_t sums[] = {0, c->blocks * c->hw.dim};
  uint32_t rows[NETWORK_CURVE_PARTS], first[NETWORK_CURVE_PARTS];
  network_curve_rows(c, rows);
  if (!place_parts(m, rows, NETWORK_CURVE_PARTS, first)) return false;
  network_curve_place(c, first, sums);
  return true;
}

// A curve that runs by itself has what it has as a step; else it has a half of the scratchpad at most, and short
// batches, so that others have their turn soon.
static bool begin_curve(maker *m, int n, const network_unit *unit) {
  enum { SHORT = 8 };
  const hw_array *array = m->net->options.array;
  const hw_derived all = hw_derive(array);
  const bool alone = n < m->first;
  const uint32_t most = alone ? network_curve_blocks(unit->curve, &all, all.sp_rows, all.acc_rows)
                              : network_curve_blocks(unit->curve, &all, all.sp_rows / 2, m->shares[n].acc_rows);
  if (most == 0) return false;
  m->curves[n] = network_curve_begin(unit, array, alone ? most : wf_min(most, SHORT));
  m->programs[n] = m->curves[n].program;
  if (!alone) return place_curve(m, &m->curves[n]);
  network_curve_place_alone(&m->curves[n], &all);
  return true;
}

static bool begin_normalise(maker *m, int n, const network_unit *unit) {
  const hw_array *array = m->net->options.array;
  const hw_derived all = hw_derive(array);
  const bool alone = n < m->first;
  network_normalise *to = &m->normalises[n];
  uint32_t rows[NETWORK_NORMALISE_PARTS], first[NETWORK_NORMALISE_PARTS];
  if (!network_normalise_begin(unit, array, alone ? all.sp_rows : all.sp_rows / 2,
                               alone ? all.acc_rows : m->shares[n].acc_rows, !alone, to))
    return false;
  m->programs[n] = to->program;
  if (alone) {
    network_normalise_place_alone(to);
    return true;
  }
  network_normalise_rows(to, rows);
  if (!place_parts(m, rows, NETWORK_NORMALISE_PARTS, first)) return false;
  network_normalise_place(to, first);
  return true;
}

static bool begin_rows(maker *m) {
  for (int n = 0; n < m->count; n++) {
    if (m->layers[n] != NULL) continue;
    const network_unit *unit = rows_of(m->net, &m->net->steps[m->request->window.first + n]);
    if (unit->curve != NULL ? !begin_curve(m, n, unit) : !begin_normalise(m, n, unit)) return false;
  }
  return true;
}

static void find_transposed(void *context, block_statement *s) {
  bool *found = context;
  *found |= s->kind == BLOCK_DOT && s->dot.b_transposed;
}

// Rows behind products with transposed weights, as of scores, have theirs so, too.
static void transpose_rows(maker *m) {
  for (int n = m->first + 1; n < m->count; n++) {
    bool found = false;
    if (m->normalises[n].program == NULL || m->layers[n - 1] == NULL) continue;
    block_visit(m->programs[n - 1]->body, find_transposed, &found);
    if (found) network_normalise_transpose(&m->normalises[n]);
  }
}

static sched_source source_of(const maker *m, int n) {
  if (m->layers[n] != NULL) return (sched_source){.program = m->programs[n]};
  return m->normalises[n].program != NULL ? network_normalise_source(&m->normalises[n])
                                          : network_curve_source(&m->curves[n]);
}

// ---- tensors

static int find_tensor(const maker *m, network_place place) {
  for (int t = 0; t < m->tensor_count; t++)
    if (place.buffer >= 0 && is_same(m->places[t], place)) return t;
  return -1;
}

static void add_tensor(maker *m, int number, int t) {
  const network_step *step = &m->net->steps[m->request->window.first + number];
  command_tensor tensor = sched_emit_tensor(&m->programs[number]->tensors[t]);
  const network_place place =
      tensor.contents != NULL ? (network_place){.buffer = -1} : network_operand_of(step, tensor.name);
  int at = find_tensor(m, place);
  if (at < 0) {
    at = m->tensor_count++;
    tensor.name = wf_arena_format(m->arena, "k%d_%s", number, tensor.name);
    m->tensors[at] = tensor;
    m->places[at] = place;
  } else {
    command_tensor *there = &m->tensors[at];
    there->read |= tensor.read;
    there->written |= tensor.written;
    there->elements = wf_max(there->elements, tensor.elements);
  }
  m->numbers[number][t] = at;
}

static bool add_tensors(maker *m) {
  for (int n = 0; n < m->count; n++)
    for (int t = 0; t < m->programs[n]->tensor_count; t++) {
      if (m->tensor_count == NETWORK_MIXED_TENSORS || t == NETWORK_MIXED_TENSORS) return false;
      add_tensor(m, n, t);
    }
  return true;
}

// ---- tensors that stay inside

bool network_can_forward(const hw_array *array) {
  return isa_find_name(array->isa.revision, "mvout_spad") != NULL && array->sync.by == HW_SYNC_STATION;
}

static bool uses(const network_step *step, int buffer) {
  bool any = false;
  for (int o = 0; o < step->operand_count; o++) any |= step->operands[o].place.buffer == buffer;
  for (int c = 0; c < step->call_count; c++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) any |= step->calls[c].place[o].buffer == buffer;
  for (int p = 0; p < step->part_count; p++) any |= uses(&step->part[p], buffer);
  return any;
}

// Whether a step outside of the window or an observer of the network's inputs and outputs has the buffer.
static bool is_known_outside(const network *net, network_window window, int buffer) {
  const graph *g = net->graph;
  bool any = net->buffers[buffer].contents != NULL;
  for (int s = 0; s < net->step_count; s++)
    if (s < window.first || s >= window.first + window.count) any |= uses(&net->steps[s], buffer);
  for (int i = 0; i < g->input_count; i++) any |= net->tensors[g->inputs[i]].buffer == buffer;
  for (int o = 0; o < g->output_count; o++) any |= net->tensors[g->outputs[o]].buffer == buffer;
  return any;
}

// Whether one of the programs that are mixed writes the tensor.
static bool is_made_inside(const maker *m, int tensor) {
  bool any = false;
  for (int n = m->first; n < m->count; n++)
    for (int t = 0; t < m->programs[n]->tensor_count; t++)
      any |= m->numbers[n][t] == tensor && m->programs[n]->tensors[t].written;
  return any;
}

static void choose_ways(maker *m) {
  for (int t = 0; t < m->tensor_count; t++) {
    const bool between = m->tensors[t].read && m->places[t].buffer >= 0 && is_made_inside(m, t);
    const bool outside = between && is_known_outside(m->net, m->request->window, m->places[t].buffer);
    m->ways[t] = !between ? SCHED_THROUGH_MEMORY : outside ? SCHED_FORWARD : SCHED_FORWARD_ONLY;
  }
}

static bool is_any_forwarded(const maker *m) {
  for (int t = 0; t < m->tensor_count; t++)
    if (m->forwarded[t]) return true;
  return false;
}

// ---- the program

static bool compile_one(maker *m, int n, wf_diag *diag) {
  const network_kernel *kernel = &m->net->kernels[m->net->steps[m->request->window.first + n].kernel];
  compile_request request = layer_request(kernel->call, &m->shares[n].array);
  map_mapping by_rows[NETWORK_MIXED_MAPPINGS];
  request.for_c = m->net->options.straight;
  network_know_weights(kernel, &request);
  request.mapping = &kernel->mapping;
  if (n >= m->first) {
    const size_t number = m->request->shares.mapping[n - m->first];
    if (map_best_by_rows(m->layers[n], &m->shares[n].array, by_rows, number + 1) <= number) return false;
    request.mapping = &by_rows[number];
  }
  compile_result result;
  m->programs[n] = compile_placed(&request, &result, diag);
  m->mappings[n] = result.mapping;
  compile_release(&result);
  return m->programs[n] != NULL;
}

static bool compile_all(maker *m, wf_diag *diag) {
  for (int n = 0; n < m->count; n++) {
    m->layers[n] = network_layer_of(m->net, &m->net->steps[m->request->window.first + n]);
    m->shares[n] = (share){.array = *m->net->options.array};
  }
  if (m->first < m->count && !share_accumulator(m)) return false;
  if (!begin_rows(m)) return false;
  if (m->first < m->count && !share_scratchpad(m)) return false;
  for (int n = 0; n < m->count; n++)
    if (m->layers[n] != NULL && !compile_one(m, n, diag)) return false;
  transpose_rows(m);
  place_results(m);
  return true;
}

// ---- the scratchpad

// Buffers of the mix that loads of tensors between its steps fill.
typedef struct fed {
  const maker *m;
  int program;
  block_buffer *buffers[PARTS_MAX];
  int count;
} fed;

static void find_fed(void *context, block_statement *s) {
  fed *f = context;
  if (s->kind != BLOCK_LOAD || f->count == PARTS_MAX) return;
  block_buffer *buffer = &f->m->programs[f->program]->buffers[s->load.target.buffer];
  if (f->m->ways[f->m->numbers[f->program][s->load.access.tensor]] == SCHED_THROUGH_MEMORY) return;
  for (int n = 0; n < f->count; n++)
    if (f->buffers[n] == buffer) return;
  if (buffer->scope == BLOCK_SP) f->buffers[f->count++] = buffer;
}

static int64_t slot_rows(const block_buffer *buffer, const hw_derived *hw) {
  const block_layout layout = block_layout_of(buffer, hw);
  return block_layout_slot_rows(&layout);
}

static int64_t rows_left(const maker *m, const hw_derived *hw) {
  int64_t rows = hw->sp_rows;
  for (int i = 0; i < m->taken.count; i++) rows -= m->taken.rows[i].count;
  for (int n = m->first; n < m->count; n++)
    for (int b = 0; b < m->programs[n]->buffer_count && m->layers[n] != NULL; b++) {
      const block_buffer *buffer = &m->programs[n]->buffers[b];
      if (buffer->scope == BLOCK_SP) rows -= slot_rows(buffer, hw) * buffer->depth;
    }
  return rows;
}

// What is moved into a slot waits until products have done with it: with more slots an earlier step goes on.
static void deepen(maker *m) {
  enum { MOST = 8 };  // slots
  const hw_derived hw = hw_derive(m->net->options.array);
  fed f = {.m = m};
  for (f.program = m->first; f.program < m->count; f.program++)
    if (m->layers[f.program] != NULL) block_visit(m->programs[f.program]->body, find_fed, &f);
  const int64_t left = rows_left(m, &hw), each = f.count == 0 ? 0 : left / f.count;
  for (int n = 0; n < f.count; n++) {
    block_buffer *buffer = f.buffers[n];
    const int64_t more = each / wf_max(slot_rows(buffer, &hw), 1);
    if (buffer->depth >= 2 && more > 0) buffer->depth = (uint32_t)wf_min(buffer->depth + more, MOST);
  }
}

static bool place_operands(maker *m) {
  if (m->request->shares.deep) deepen(m);
  const network_banked mixed = {.programs = m->programs + m->first,
                                .layers = m->layers + m->first,
                                .mappings = m->mappings + m->first,
                                .count = m->count - m->first};
  return network_place_in_banks(&mixed, &m->taken, m->net->options.array);
}

static command_program *mix(maker *m, wf_diag *diag) {
  sched_mix_program programs[PARTS_MAX];
  for (int n = 0; n < m->count; n++)
    programs[n] = (sched_mix_program){.source = source_of(m, n), .tensors = m->numbers[n]};
  const bool forward = m->request->shares.forward;
  const sched_mix all = {.name = "mix",
                         .programs = programs,
                         .count = m->count,
                         .tensors = m->tensors,
                         .tensor_count = m->tensor_count,
                         .ways = forward ? m->ways : NULL,
                         .forwarded = forward ? m->forwarded : NULL,
                         .alone = m->first};
  const sched_options options = {
      .array = m->net->options.array, .costs = &cost_fitted, .whole_stores = m->net->options.straight};
  command_program *program = sched_mixed_commands(&all, &options, diag);
  if (program == NULL) return NULL;
  if (!forward || is_any_forwarded(m)) return command_give_tokens(command_fold_own(program));
  command_destroy(program);  // it is the one without forwarding
  return NULL;
}

command_program *network_mix(const network *net, const network_mix_request *request, network_place *places) {
  wf_diag silent = wf_diag_to(NULL);
  maker m = {.net = net,
             .request = request,
             .first = request->alone,
             .count = request->window.count,
             .places = places,
             .arena = wf_arena_create()};
  command_program *program = NULL;
  if (compile_all(&m, &silent) && add_tensors(&m)) {
    if (request->shares.forward) choose_ways(&m);
    program = place_operands(&m) ? mix(&m, &silent) : NULL;
  }
  for (int n = 0; n < m.count; n++)
    if (m.programs[n] != NULL) block_destroy(m.programs[n]);
  wf_arena_destroy(m.arena);
  return program;
}
