// SPDX-License-Identifier: Apache-2.0
// A layer of the plain model over a tape: tiles, and how often they are filled, with loops that exist by degrees.
// traffic.c of search/model has the same for whole factors; its comments say what the rules are.
#include <math.h>
#include <string.h>

#include "search/descent/plain.h"

#define DIM(d) (1u << BLOCK_DIM_##d)
enum {
  WEIGHT_DIMS = DIM(R) | DIM(S) | DIM(C) | DIM(K),
  INPUT_DIMS = DIM(P) | DIM(Q) | DIM(C) | DIM(N) | DIM(R) | DIM(S),
  RESULT_DIMS = DIM(P) | DIM(Q) | DIM(K) | DIM(N),
};

// A layer under construction. Of the dimensions: the factor at the accumulator, at main memory, and the degree to
// which the loop at main memory exists.
typedef struct builder {
  tape *tape;
  const layers_layer *layer;
  tape_ref one, inside[BLOCK_DIMS], outside[BLOCK_DIMS], exists[BLOCK_DIMS];
  tape_ref rows, columns;
  tape_ref weight_tile, input_depth, result_tile;
} builder;

static tape_ref mul(const builder *b, tape_ref x, tape_ref y) { return tape_mul(b->tape, x, y); }
static tape_ref add(const builder *b, tape_ref x, tape_ref y) { return tape_add(b->tape, x, y); }
static tape_ref complement(const builder *b, tape_ref x) { return tape_sub(b->tape, b->one, x); }
static tape_ref degree(const builder *b, tape_ref factor) {
  return tape_ramp(b->tape, tape_offset(b->tape, factor, -1));
}
// low where degree is 0, high where it is 1
static tape_ref between(const builder *b, tape_ref low, tape_ref high, tape_ref degree_of_high) {
  return add(b, low, mul(b, degree_of_high, tape_sub(b->tape, high, low)));
}

static tape_ref tile(const builder *b, unsigned dims) {
  tape_ref words = b->one;
  for (unsigned d = 0; d < BLOCK_DIMS; d++)
    if (dims >> d & 1) words = mul(b, words, b->inside[d]);
  return words;
}

static void read_factors(builder *b, const descent_plain_layer *l) {
  b->one = tape_constant(b->tape, 1);
  b->rows = b->columns = b->one;
  for (int d = 0; d < BLOCK_DIMS; d++) b->inside[d] = b->one;
  for (size_t n = 0; n < l->slot_count; n++) {
    const descent_plain_slot *slot = &l->slots[n];
    tape_ref factor = tape_exp(b->tape, tape_variable(b->tape));
    if (!slot->spatial)
      b->inside[slot->dim] = factor;
    else if (slot->dim == BLOCK_DIM_C)
      b->rows = factor;
    else
      b->columns = factor;
  }
  for (int d = 0; d < BLOCK_DIMS; d++) {
    tape_ref taken = b->inside[d];
    if (d == BLOCK_DIM_C) taken = mul(b, taken, b->rows);
    if (d == BLOCK_DIM_K) taken = mul(b, taken, b->columns);
    b->outside[d] = tape_div(b->tape, tape_constant(b->tape, (double)b->layer->size[d]), taken);
    b->exists[d] = degree(b, b->outside[d]);
  }
  b->weight_tile = mul(b, tile(b, WEIGHT_DIMS), mul(b, b->rows, b->columns));
  b->input_depth = mul(b, tile(b, DIM(C) | DIM(N)), b->rows);
  b->result_tile = tile(b, RESULT_DIMS);
}

// How often the loops at main memory fill a tile below; *off is the degree to which no loop inside has changed it yet.
static tape_ref fills(const builder *b, const uint8_t *order, unsigned dims, tape_ref off) {
  tape_ref trips = b->one;
  for (int i = 0; i < BLOCK_DIMS; i++) {
    const unsigned d = order[i];
    if (dims >> d & 1) {
      trips = mul(b, trips, b->outside[d]);
      off = mul(b, off, complement(b, b->exists[d]));
    } else {
      trips = mul(b, trips, between(b, b->outside[d], b->one, off));
    }
  }
  return trips;
}

// Weights stay in the registers under the loops over P, Q and N at the accumulator, which are inside of the others.
static tape_ref register_fills(const builder *b, const uint8_t *order) {
  tape_ref off = b->one;
  for (unsigned d = 0; d < BLOCK_DIMS; d++)
    if (WEIGHT_DIMS >> d & 1) off = mul(b, off, complement(b, degree(b, b->inside[d])));
  return mul(b, b->weight_tile, fills(b, order, WEIGHT_DIMS, off));
}

// ---- inputs: windows that slide

typedef struct axis {
  block_dim_id image, window;
  tape_ref results, taps;
  double stride;
} axis;

static axis axis_of(const builder *b, int which) {
  static const block_dim_id image[] = {BLOCK_DIM_P, BLOCK_DIM_Q}, window[] = {BLOCK_DIM_R, BLOCK_DIM_S};
  return (axis){.image = image[which],
                .window = window[which],
                .results = b->inside[image[which]],
                .taps = b->inside[window[which]],
                .stride = (double)b->layer->stride[which]};
}

static tape_ref extent(const builder *b, const axis *a) {
  return add(b, tape_scale(b->tape, tape_offset(b->tape, a->results, -1), a->stride), a->taps);
}

// What a step of the sliding axis adds. taps and results are whole at whole factors, so degrees of differences decide.
static tape_ref new_rows(const builder *b, const axis *a, bool adjacent) {
  const tape_ref stride = tape_constant(b->tape, a->stride);
  tape_ref edge;
  if (adjacent) {
    const tape_ref wide = tape_max(b->tape, stride, a->taps), narrow = tape_offset(b->tape, a->taps, -1);
    const tape_ref above = tape_ramp(b->tape, tape_sub(b->tape, a->results, a->taps));
    edge = between(b, a->taps, between(b, narrow, wide, above), degree(b, a->results));
  } else {
    edge = between(b, b->one, stride, degree(b, a->taps));
  }
  return add(b, tape_scale(b->tape, tape_offset(b->tape, a->results, -1), a->stride), edge);
}

static tape_ref trips_from(const builder *b, const uint8_t *order, int from) {
  tape_ref trips = b->one;
  for (int i = from; i < BLOCK_DIMS; i++) trips = mul(b, trips, b->outside[order[i]]);
  return trips;
}

// The loop over the image at position `at` slides, all outside of it multiply.
static tape_ref sliding(const builder *b, const uint8_t *order, int at, const axis *a, const axis *other,
                        bool adjacent) {
  const tape_ref more = tape_offset(b->tape, b->outside[a->image], -1);
  const tape_ref rows = add(b, extent(b, a), mul(b, more, new_rows(b, a, adjacent)));
  return mul(b, mul(b, rows, extent(b, other)), trips_from(b, order, at + 1));
}

// The innermost loop runs over a window: the tile that is swept is as wide as the window. If the image's loop is next
// (all between do not exist) it slides.
static tape_ref swept(const builder *b, const uint8_t *order, int at, axis a, const axis *other) {
  a.taps = mul(b, a.taps, b->outside[a.window]);
  const tape_ref plain = mul(b, mul(b, extent(b, &a), extent(b, other)), trips_from(b, order, at + 1));
  tape_ref next = b->one;
  for (int i = at + 1; i < BLOCK_DIMS; i++) {
    const unsigned d = order[i];
    if (d == a.image) return between(b, plain, sliding(b, order, i, &a, other, true), mul(b, next, b->exists[d]));
    next = mul(b, next, complement(b, b->exists[d]));
  }
  return plain;
}

static tape_ref elements_if_innermost(const builder *b, const uint8_t *order, int at, const axis axes[2]) {
  const unsigned d = order[at];
  for (int i = 0; i < 2; i++) {
    if (d == axes[i].image) return sliding(b, order, at, &axes[i], &axes[1 - i], false);
    if (d == axes[i].window) return swept(b, order, at, axes[i], &axes[1 - i]);
  }
  const int from = INPUT_DIMS >> d & 1 ? at : at + 1;
  return mul(b, mul(b, extent(b, &axes[0]), extent(b, &axes[1])), trips_from(b, order, from));
}

// The sum over the loops that may be the innermost that exists, each with its degree.
static tape_ref input_elements(const builder *b, const uint8_t *order) {
  const axis axes[2] = {axis_of(b, 0), axis_of(b, 1)};
  tape_ref sum = tape_constant(b->tape, 0), none = b->one;
  for (int i = 0; i < BLOCK_DIMS; i++) {
    const unsigned d = order[i];
    if (b->layer->size[d] == 1) continue;
    sum = add(b, sum, mul(b, mul(b, none, b->exists[d]), elements_if_innermost(b, order, i, axes)));
    none = mul(b, none, complement(b, b->exists[d]));
  }
  return add(b, sum, mul(b, none, mul(b, extent(b, &axes[0]), extent(b, &axes[1]))));
}

// ---- the layer

typedef struct traffic {
  tape_ref weight_fills0, weight_fills2, input_fills2, result_fills1;
} traffic;

static traffic traffic_of(const builder *b, const uint8_t *order) {
  return (traffic){
      .weight_fills0 = register_fills(b, order),
      .weight_fills2 = mul(b, b->weight_tile, fills(b, order, WEIGHT_DIMS, b->one)),
      .input_fills2 = mul(b, b->input_depth, input_elements(b, order)),
      .result_fills1 = mul(b, mul(b, b->result_tile, b->columns), fills(b, order, RESULT_DIMS, b->one)),
  };
}

static void softmax_of_inputs(const builder *b, tape_ref weights[PAPER_ORDERS]) {
  tape_ref logits[PAPER_ORDERS], sum = tape_constant(b->tape, 0);
  for (int o = 0; o < PAPER_ORDERS; o++) logits[o] = tape_variable(b->tape);
  const tape_ref temperature = tape_parameter(b->tape);
  tape_ref top = logits[0];
  for (int o = 1; o < PAPER_ORDERS; o++) top = tape_max(b->tape, top, logits[o]);
  for (int o = 0; o < PAPER_ORDERS; o++) {
    weights[o] = tape_exp(b->tape, tape_div(b->tape, tape_sub(b->tape, logits[o], top), temperature));
    sum = add(b, sum, weights[o]);
  }
  for (int o = 0; o < PAPER_ORDERS; o++) weights[o] = tape_div(b->tape, weights[o], sum);
}

static void write_outputs(const builder *b, tape_ref outputs[PLAIN_OUTPUTS]) {
  tape_ref weights[PAPER_ORDERS];
  softmax_of_inputs(b, weights);
  const tape_ref zero = tape_constant(b->tape, 0);
  traffic mean = {zero, zero, zero, zero};
  for (int o = 0; o < PAPER_ORDERS; o++) {
    const traffic t = traffic_of(b, paper_dram_orders[o]);
    mean.weight_fills0 = add(b, mean.weight_fills0, mul(b, weights[o], t.weight_fills0));
    mean.weight_fills2 = add(b, mean.weight_fills2, mul(b, weights[o], t.weight_fills2));
    mean.input_fills2 = add(b, mean.input_fills2, mul(b, weights[o], t.input_fills2));
    mean.result_fills1 = add(b, mean.result_fills1, mul(b, weights[o], t.result_fills1));
  }
  const axis axes[2] = {axis_of(b, 0), axis_of(b, 1)};
  const tape_ref inputs = mul(b, b->input_depth, mul(b, extent(b, &axes[0]), extent(b, &axes[1])));
  outputs[PLAIN_rows] = b->rows;
  outputs[PLAIN_columns] = b->columns;
  outputs[PLAIN_weight_fills0] = mean.weight_fills0;
  outputs[PLAIN_weight_fills2] = mean.weight_fills2;
  outputs[PLAIN_input_fills2] = mean.input_fills2;
  outputs[PLAIN_result_fills1] = mean.result_fills1;
  outputs[PLAIN_scratchpad_words] = add(b, b->weight_tile, inputs);
  outputs[PLAIN_column_words] = b->result_tile;
}

static void find_slots(descent_plain_layer *l) {
  for (int d = 0; d < BLOCK_DIMS; d++) {
    if (l->layer->size[d] == 1) continue;
    l->slots[l->slot_count++] = (descent_plain_slot){.dim = (block_dim_id)d};
    if (d == BLOCK_DIM_C || d == BLOCK_DIM_K)
      l->slots[l->slot_count++] = (descent_plain_slot){.dim = (block_dim_id)d, .spatial = true};
  }
}

descent_plain_layer descent_plain_layer_create(const layers_layer *layer) {
  descent_plain_layer l = {.layer = layer};
  find_slots(&l);
  builder b = {.tape = tape_create(), .layer = layer};
  tape_ref outputs[PLAIN_OUTPUTS];
  read_factors(&b, &l);
  write_outputs(&b, outputs);
  l.program = tape_compile(b.tape, outputs, PLAIN_OUTPUTS);
  tape_destroy(b.tape);
  return l;
}

void descent_plain_layer_release(descent_plain_layer *l) {
  tape_program_destroy(l->program);
  l->program = NULL;
}
