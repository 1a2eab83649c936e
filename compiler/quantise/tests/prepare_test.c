// SPDX-License-Identifier: Apache-2.0
// Rules of quantise_prepare, each on a small graph: the operators become what they should, and the results stay.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

static int tensor(graph *g, const char *name, int rank, const int64_t *dims, const void *data) {
  graph_tensor t = {.name = name, .type = GRAPH_F32, .rank = rank, .data = data};
  for (int i = 0; i < rank; i++) t.dim[i] = dims[i];
  return graph_add_tensor(g, &t);
}

// Numbers around `base` that do not repeat soon.
static int constant(graph *g, const char *name, int rank, const int64_t *dims, float base) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++) count *= dims[i];
  float *data = WF_ARENA_ARRAY(g->arena, (size_t)count, float);
  for (int64_t i = 0; i < count; i++) data[i] = base + (float)(i * 37 % 101 - 50) / 100;
  return tensor(g, name, rank, dims, data);
}

static int integers(graph *g, const char *name, int64_t count, const int64_t *values) {
  int64_t *data = WF_ARENA_ARRAY(g->arena, (size_t)count, int64_t);
  memcpy(data, values, (size_t)count * sizeof *data);
  graph_tensor t = {.name = name, .type = GRAPH_I64, .rank = 1, .dim = {count}, .data = data};
  return graph_add_tensor(g, &t);
}

// Adds a node whose result has the type and shape that inference finds.
static int node(graph *g, graph_op op, const char *name, const int *inputs, int count) {
  const int out = tensor(g, wf_arena_format(g->arena, "%s.out", name), 0, NULL, NULL);
  graph_add_node(g, op, name, inputs, count, &out, 1);
  return out;
}

static graph_node *last(graph *g) { return &g->nodes[g->node_count - 1]; }

static void infer(graph *g) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_infer(g, last(g), "test", &diag));
}

static int conv(graph *g, graph_op op, const char *name, int x, const int64_t *weights, int64_t results, int64_t stride,
                const int64_t *pads) {
  const int inputs[3] = {x, constant(g, wf_arena_format(g->arena, "%s.w", name), 4, weights, 0.1F),
                         constant(g, wf_arena_format(g->arena, "%s.b", name), 1, &results, 0)};
  const int y = node(g, op, name, inputs, 3);
  graph_set_ints(g, last(g), "strides", (int64_t[]){stride, stride}, 2);
  graph_set_ints(g, last(g), "pads", pads, 4);
  return y;
}

static int batch_norm(graph *g, const char *name, int x, int64_t channels) {
  int inputs[5] = {x};
  static const char *const parts[] = {"gamma", "beta", "mean", "var"};
  for (int i = 0; i < 4; i++)
    inputs[1 + i] = constant(g, wf_arena_format(g->arena, "%s.%s", name, parts[i]), 1, &channels, i == 3 ? 1.5F : 0.7F);
  return node(g, GRAPH_OP_BATCH_NORMALIZATION, name, inputs, 5);
}

static float *run(const graph *g) {
  wf_diag diag = wf_diag_to(stderr);
  void **inputs = quantise_random_inputs(g, 11);
  float *out = wf_calloc(graph_bytes(&g->tensors[g->outputs[0]]) + 1, 1);
  const graph_run_options options = {.file = "test"};
  assert_true(graph_run(g, (const void *const *)inputs, (void *[]){out}, &options, &diag));
  quantise_free_inputs(g, inputs);
  return out;
}

static int count(const graph *g, graph_op op) {
  int sum = 0;
  for (int n = 0; n < g->node_count; n++) sum += g->nodes[n].op == op;
  return sum;
}

// Prepares the graph and compares its results before and behind; then converts it and compares within the noise.
static void check(graph *g, double least_db) {
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_verify(g, &diag));
  float *before = run(g);
  const quantise_options options = {.samples = 3};
  graph *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  float *behind = run(g);
  double error = 0, power = 0;
  for (int64_t i = 0; i < graph_elements(&g->tensors[g->outputs[0]]); i++) {
    error += ((double)behind[i] - (double)before[i]) * ((double)behind[i] - (double)before[i]);
    power += (double)before[i] * (double)before[i];
  }
  assert_true(power > 0 && error <= 1e-10 * power);
  quantise_quality *quality = quantise_compare(g, placed, &options, &diag);
  assert_non_null(quality);
  if (!(quality[0].sqnr_db > least_db)) fail_msg("%g dB", quality[0].sqnr_db);
  wf_free(quality);
  wf_free(before);
  wf_free(behind);
  graph_destroy(placed);
}

static graph *image_graph(int *x, int64_t channels, int64_t rows, int64_t columns) {
  graph *g = graph_create("small");
  *x = tensor(g, "x", 4, (int64_t[]){2, channels, rows, columns}, NULL);
  return g;
}

static void finish(graph *g, int x, int y) { graph_set_ends(g, &x, 1, &y, 1); }

static const int64_t no_pads[4] = {0}, one_pad[4] = {1, 1, 1, 1};

// A convolution, a constant per channel, a factor, a batch normalisation: one convolution.
static void folds_chains(void **state) {
  (void)state;
  int x;
  graph *g = image_graph(&x, 3, 8, 9);
  int y = conv(g, GRAPH_OP_CONV, "conv", x, (int64_t[]){5, 3, 3, 3}, 5, 1, one_pad);
  infer(g);
  y = node(g, GRAPH_OP_ADD, "add", (int[]){y, constant(g, "offset", 3, (int64_t[]){5, 1, 1}, 0.3F)}, 2);
  infer(g);
  y = node(g, GRAPH_OP_MUL, "mul", (int[]){constant(g, "factor", 4, (int64_t[]){1, 5, 1, 1}, 1.2F), y}, 2);
  infer(g);
  y = batch_norm(g, "bn", y, 5);
  infer(g);
  finish(g, x, y);
  check(g, 30);
  assert_int_equal(g->node_count, 1);
  graph_destroy(g);
}

// What is read twice, or lies behind no convolution, is not folded away.
// Factors per channel behind rows times constants, their bias and a transpose.
static void folds_factors(void **state) {
  (void)state;
  for (int turned = 0; turned < 2; turned++) {
    graph *g = graph_create("factors");
    const int x = tensor(g, "x", 4, (int64_t[]){2, 5, 3, 8}, NULL);
    const int w = constant(g, "w", 2, (int64_t[]){8, 12}, 0.1F), b = constant(g, "b", 1, (int64_t[]){12}, 0.3F);
    int y = node(g, GRAPH_OP_MAT_MUL, "product", (int[]){x, w}, 2);
    infer(g);
    y = node(g, GRAPH_OP_ADD, "add", (int[]){b, y}, 2);
    infer(g);
    if (turned) {
      y = node(g, GRAPH_OP_TRANSPOSE, "turn", &y, 1);
      graph_set_ints(g, last(g), "perm", (int64_t[]){0, 3, 1, 2}, 4);
      infer(g);
    }
    const int factors =
        turned ? constant(g, "s", 3, (int64_t[]){12, 1, 1}, 0.2F) : constant(g, "s", 1, (int64_t[]){12}, 0.2F);
    y = node(g, GRAPH_OP_MUL, "mul", (int[]){y, factors}, 2);
    infer(g);
    finish(g, x, y);
    check(g, 25);
    assert_int_equal(count(g, GRAPH_OP_MUL), 0);
    graph_destroy(g);
  }
}

// What a rotary embedding is made of.
typedef struct rotary {
  bool heads_first;    // [batch, heads, positions, columns], from a transpose; else the positions come first
  bool split;          // halves by Split, else by Slice; the sign by a difference
  int64_t factors[4];  // shape of the factors
  bool turns;          // else both terms have x itself
  int products;        // that it is expected to become
} rotary;

enum { HEADS = 3, POSITIONS = 5, COLUMNS = 8 };

static int half(graph *g, const char *name, int x, int64_t from) {
  const int inputs[4] = {x, integers(g, wf_arena_format(g->arena, "%s.from", name), 1, &from),
                         integers(g, wf_arena_format(g->arena, "%s.to", name), 1, (int64_t[]){from + COLUMNS / 2}),
                         integers(g, wf_arena_format(g->arena, "%s.axis", name), 1, (int64_t[]){-1})};
  const int y = node(g, GRAPH_OP_SLICE, name, inputs, 4);
  infer(g);
  return y;
}

static void halves(graph *g, const rotary *r, int x, int part[2]) {
  if (!r->split) {
    part[0] = half(g, "low", x, 0);
    part[1] = half(g, "high", x, COLUMNS / 2);
    return;
  }
  for (int i = 0; i < 2; i++) part[i] = tensor(g, i == 0 ? "low" : "high", 0, NULL, NULL);
  const int sizes = integers(g, "halves", 2, (int64_t[]){COLUMNS / 2, COLUMNS / 2});
  graph_add_node(g, GRAPH_OP_SPLIT, "split", (int[]){x, sizes}, 2, part, 2);
  graph_set_int(g, last(g), "axis", 3);
  infer(g);
}

static int turned(graph *g, const rotary *r, int x) {
  int part[2];
  halves(g, r, x, part);
  if (!r->split) {
    part[1] = node(g, GRAPH_OP_NEG, "neg", &part[1], 1);
    infer(g);
  }
  const int y = node(g, GRAPH_OP_CONCAT, "turned", (int[]){part[1], part[0]}, 2);
  graph_set_int(g, last(g), "axis", 3);
  infer(g);
  return y;
}

static graph *rotary_graph(const rotary *r) {
  graph *g = graph_create("rotary");
  const int in = tensor(g, "x", 4, (int64_t[]){2, POSITIONS, HEADS, COLUMNS}, NULL);
  int x = in;
  if (r->heads_first) {
    x = node(g, GRAPH_OP_TRANSPOSE, "heads", &x, 1);
    graph_set_ints(g, last(g), "perm", (int64_t[]){0, 2, 1, 3}, 4);
    infer(g);
  }
  const int other = r->turns ? turned(g, r, x) : x;
  const int a = node(g, GRAPH_OP_MUL, "cos", (int[]){x, constant(g, "cosines", 4, r->factors, 0.6F)}, 2);
  infer(g);
  const int b = node(g, GRAPH_OP_MUL, "sin", (int[]){constant(g, "sines", 4, r->factors, 0.1F), other}, 2);
  infer(g);
  const int y = node(g, r->split ? GRAPH_OP_SUB : GRAPH_OP_ADD, "sum", (int[]){a, b}, 2);
  infer(g);
  finish(g, in, y);
  return g;
}

// Sums of columns with factors per position are a product with one matrix per position. Not where factors differ
// between heads, nor where no column moves.
static void rotations_become_products(void **state) {
  (void)state;
  static const rotary cases[] = {
      {true, false, {1, 1, POSITIONS, COLUMNS}, true, 1},     {false, false, {1, POSITIONS, 1, COLUMNS}, true, 1},
      {false, true, {1, POSITIONS, 1, 1}, true, 1},           {true, true, {1, 1, POSITIONS, COLUMNS}, true, 1},
      {true, false, {1, HEADS, POSITIONS, COLUMNS}, true, 0}, {true, false, {1, 1, 1, COLUMNS}, true, 0},
      {true, false, {1, 1, POSITIONS, COLUMNS}, false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graph *g = rotary_graph(&cases[i]);
    check(g, 28);
    assert_int_equal(count(g, GRAPH_OP_MAT_MUL), cases[i].products);
    assert_int_equal(count(g, GRAPH_OP_CONCAT) == 0, cases[i].products != 0 || !cases[i].turns);
    graph_destroy(g);
  }
}

// Shuffled channels, parts of them, and convolutions of the parts: one takes the order in, one is not worth it.
static void shuffles_become_gathers(void **state) {
  (void)state;
  int x;
  graph *g = image_graph(&x, 12, 5, 4);
  int y = node(g, GRAPH_OP_RESHAPE, "split", (int[]){x, integers(g, "five", 5, (int64_t[]){2, 3, 4, 5, 4})}, 2);
  infer(g);
  y = node(g, GRAPH_OP_TRANSPOSE, "turn", &y, 1);
  graph_set_ints(g, last(g), "perm", (int64_t[]){0, 2, 1, 3, 4}, 5);
  infer(g);
  y = node(g, GRAPH_OP_RESHAPE, "join", (int[]){y, integers(g, "four", 4, (int64_t[]){2, 12, 5, 4})}, 2);
  infer(g);
  int part[2];
  for (int i = 0; i < 2; i++) {
    const int64_t from = i == 0 ? 0 : -7, to = i == 0 ? 5 : 12;
    const int inputs[4] = {y, integers(g, i ? "from1" : "from0", 1, &from), integers(g, i ? "to1" : "to0", 1, &to),
                           integers(g, i ? "axis1" : "axis0", 1, &(int64_t){1})};
    part[i] = node(g, GRAPH_OP_SLICE, i ? "high" : "low", inputs, 4);
    infer(g);
  }
  part[0] = conv(g, GRAPH_OP_CONV, "wide", part[0], (int64_t[]){9, 5, 3, 3}, 9, 1, one_pad);
  infer(g);
  part[1] = conv(g, GRAPH_OP_CONV, "thin", part[1], (int64_t[]){9, 7, 1, 1}, 9, 1, no_pads);
  infer(g);
  y = node(g, GRAPH_OP_ADD, "sum", part, 2);
  infer(g);
  finish(g, x, y);
  check(g, 25);
  assert_int_equal(count(g, GRAPH_OP_RESHAPE) + count(g, GRAPH_OP_TRANSPOSE) + count(g, GRAPH_OP_SLICE), 0);
  assert_int_equal(count(g, GRAPH_OP_GATHER), 1);
  graph_destroy(g);
}

static void keeps_what_others_read(void **state) {
  (void)state;
  int x;
  graph *g = image_graph(&x, 4, 6, 6);
  const int a = conv(g, GRAPH_OP_CONV, "conv", x, (int64_t[]){4, 4, 1, 1}, 4, 1, no_pads);
  infer(g);
  const int b = batch_norm(g, "bn", a, 4);
  infer(g);
  const int y = node(g, GRAPH_OP_ADD, "add", (int[]){a, b}, 2);
  infer(g);
  finish(g, x, y);
  check(g, 28);
  assert_int_equal(count(g, GRAPH_OP_BATCH_NORMALIZATION), 0);  // one channel per group
  assert_int_equal(count(g, GRAPH_OP_CONV), 2);
  graph_destroy(g);
}

static void transposed_case(int64_t kernel, int64_t stride, const int64_t *pads, int64_t more) {
  int x;
  graph *g = image_graph(&x, 3, 5, 7);
  const int y = conv(g, GRAPH_OP_CONV_TRANSPOSE, "up", x, (int64_t[]){3, 4, kernel, kernel}, 4, stride, pads);
  if (more != 0) graph_set_ints(g, last(g), "output_padding", (int64_t[]){more, more}, 2);
  infer(g);
  finish(g, x, y);
  check(g, 22);
  assert_int_equal(count(g, GRAPH_OP_CONV_TRANSPOSE), 0);
  graph_destroy(g);
}

static void transposed_convolutions(void **state) {
  (void)state;
  transposed_case(2, 2, no_pads, 0);
  transposed_case(3, 2, one_pad, 1);
  transposed_case(4, 2, one_pad, 0);
  transposed_case(3, 1, one_pad, 0);
  transposed_case(2, 3, no_pads, 0);
  transposed_case(5, 3, (int64_t[]){2, 1, 0, 2}, 2);
}

static void lines_become_images(void **state) {
  (void)state;
  graph *g = graph_create("line");
  const int x = tensor(g, "x", 3, (int64_t[]){2, 4, 21}, NULL);
  const int inputs[2] = {x, constant(g, "w", 3, (int64_t[]){6, 2, 5}, 0.1F)};
  const int y = node(g, GRAPH_OP_CONV, "conv", inputs, 2);
  graph_set_int(g, last(g), "group", 2);
  graph_set_ints(g, last(g), "strides", (int64_t[]){2}, 1);
  graph_set_ints(g, last(g), "dilations", (int64_t[]){2}, 1);
  graph_set_ints(g, last(g), "pads", (int64_t[]){3, 4}, 2);
  infer(g);
  finish(g, x, y);
  check(g, 30);
  graph_destroy(g);
}

static void means_become_pools(void **state) {
  (void)state;
  for (int keeps = 0; keeps < 2; keeps++) {
    int x;
    graph *g = image_graph(&x, 6, 5, 4);
    int y = conv(g, GRAPH_OP_CONV, "conv", x, (int64_t[]){6, 6, 1, 1}, 6, 1, no_pads);
    infer(g);
    y = node(g, GRAPH_OP_REDUCE_MEAN, "mean", &y, 1);
    graph_set_ints(g, last(g), "axes", (int64_t[]){-1, 2}, 2);
    graph_set_int(g, last(g), "keepdims", keeps);
    infer(g);
    finish(g, x, y);
    check(g, 16);  // means of numbers of both signs are small
    assert_int_equal(count(g, GRAPH_OP_GLOBAL_AVERAGE_POOL), 1);
    graph_destroy(g);
  }
}

// [N, A * R, H, W] to [N, A, R, H, W] to [N, H, W, A, R]: no transpose is left in the placed graph.
static void channels_go_last_first(void **state) {
  (void)state;
  int x;
  graph *g = image_graph(&x, 3, 4, 5);
  int y = conv(g, GRAPH_OP_CONV, "conv", x, (int64_t[]){6, 3, 3, 3}, 6, 1, one_pad);
  infer(g);
  y = node(g, GRAPH_OP_RESHAPE, "split", (int[]){y, integers(g, "shape", 5, (int64_t[]){2, 2, 3, 4, 5})}, 2);
  infer(g);
  y = node(g, GRAPH_OP_TRANSPOSE, "turn", &y, 1);
  graph_set_ints(g, last(g), "perm", (int64_t[]){0, 3, 4, 1, 2}, 5);
  infer(g);
  finish(g, x, y);
  check(g, 30);
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options options = {.samples = 1};
  graph *placed = quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag);
  assert_int_equal(count(placed, GRAPH_OP_TRANSPOSE), 0);
  graph_destroy(placed);
  graph_destroy(g);
}

// Heads that each stand `times` times, by Expand or Tile.
static int repeated(graph *g, const char *name, int x, graph_op op, int64_t times) {
  const graph_tensor in = g->tensors[x];
  const char *names[4];
  static const char *const parts[] = {"axes", "sizes", "shape", "join"};
  for (int i = 0; i < 4; i++) names[i] = wf_arena_format(g->arena, "%s.%s", name, parts[i]);
  int y = node(g, GRAPH_OP_UNSQUEEZE, wf_arena_format(g->arena, "%s.apart", name),
               (int[]){x, integers(g, names[0], 1, (int64_t[]){2})}, 2);
  infer(g);
  const int64_t all[5] = {in.dim[0], in.dim[1], times, in.dim[2], in.dim[3]}, factors[5] = {1, 1, times, 1, 1};
  const int sizes = integers(g, names[1], 5, op == GRAPH_OP_EXPAND ? all : factors);
  y = node(g, op, name, (int[]){y, sizes}, 2);
  infer(g);
  const int64_t joined[4] = {in.dim[0], times * in.dim[1], in.dim[2], in.dim[3]};
  y = node(g, GRAPH_OP_RESHAPE, names[3], (int[]){y, integers(g, names[2], 4, joined)}, 2);
  infer(g);
  return y;
}

static int transposed(graph *g, const char *name, int x, const int64_t *perm) {
  const int y = node(g, GRAPH_OP_TRANSPOSE, name, &x, 1);
  graph_set_ints(g, last(g), "perm", perm, 4);
  infer(g);
  return y;
}

static int binary(graph *g, graph_op op, const char *name, int a, int b) {
  const int y = node(g, op, name, (int[]){a, b}, 2);
  infer(g);
  return y;
}

static int rows_between(graph *g, const char *name, int x, int64_t from, int64_t to) {
  const char *names[3];
  static const char *const parts[] = {"starts", "ends", "axes"};
  for (int i = 0; i < 3; i++) names[i] = wf_arena_format(g->arena, "%s.%s", name, parts[i]);
  const int inputs[4] = {x, integers(g, names[0], 1, &from), integers(g, names[1], 1, &to),
                         integers(g, names[2], 1, (int64_t[]){-1})};
  const int y = node(g, GRAPH_OP_SLICE, name, inputs, 4);
  infer(g);
  return y;
}

// Attention of TIMES x HEADS heads of queries to HEADS of keys and values, of which some are a cache; `rows` queries.
// `per_head`: scores get smaller by a number per head, which not all matrices have.
static graph *shared_keys(graph_op op, int64_t rows, int64_t times, bool mask, bool per_head) {
  enum { BATCH = 2, SHARED = 3, WIDE = 8, OLD = 5, NEW = 4 };
  graph *g = graph_create("shared");
  const int q = tensor(g, "q", 4, (int64_t[]){BATCH, rows, times * SHARED, WIDE}, NULL),
            keys = tensor(g, "keys", 4, (int64_t[]){BATCH, SHARED, OLD, WIDE}, NULL),
            values = tensor(g, "values", 4, (int64_t[]){BATCH, SHARED, OLD, WIDE}, NULL),
            k = tensor(g, "k", 4, (int64_t[]){BATCH, SHARED, WIDE, NEW}, NULL);
  const int queries = transposed(g, "heads", q, (int64_t[]){0, 2, 1, 3});
  const int old = transposed(g, "turn", repeated(g, "old", keys, op, times), (int64_t[]){0, 1, 3, 2});
  int both[2] = {binary(g, GRAPH_OP_MAT_MUL, "scores_old", queries, old),
                 binary(g, GRAPH_OP_MAT_MUL, "scores_new", queries, repeated(g, "new", k, op, times))};
  const int64_t heads = times * SHARED;
  const int factor =
      per_head ? constant(g, "factor", 3, (int64_t[]){heads, 1, 1}, 2) : constant(g, "factor", 0, NULL, 2);
  both[0] = binary(g, GRAPH_OP_DIV, "smaller", both[0], factor);
  int x = node(g, GRAPH_OP_CONCAT, "all", both, 2);
  graph_set_int(g, last(g), "axis", -1);
  infer(g);
  if (mask) x = binary(g, GRAPH_OP_ADD, "masked", x, constant(g, "mask", 4, (int64_t[]){1, 1, rows, OLD + NEW}, 0));
  x = node(g, GRAPH_OP_SOFTMAX, "softmax", &x, 1);
  graph_set_int(g, last(g), "axis", -1);
  infer(g);
  x = binary(g, GRAPH_OP_MAT_MUL, "context", rows_between(g, "part", x, 0, OLD), repeated(g, "v", values, op, times));
  x = transposed(g, "joined", x, (int64_t[]){0, 2, 1, 3});
  graph_set_ends(g, (int[]){q, keys, values, k}, 4, &x, 1);
  return g;
}

// Nothing is repeated, results are those of before, and each product has `matrices` on its right side.
static void shared_keys_are_rows(void **state) {
  (void)state;
  for (int i = 0; i < 16; i++) {
    const graph_op op = i % 2 == 0 ? GRAPH_OP_EXPAND : GRAPH_OP_TILE;
    const bool mask = i / 2 % 2 == 1, per_head = i / 4 % 2 == 1;
    graph *g = shared_keys(op, i < 8 ? 1 : 3, 2 + i % 3, mask, per_head);
    check(g, 12);
    assert_int_equal(count(g, op), 0);
    for (int n = 0; n < g->node_count; n++) {
      if (g->nodes[n].op != GRAPH_OP_MAT_MUL) continue;
      const int64_t *a = g->tensors[g->nodes[n].inputs[0]].dim, *b = g->tensors[g->nodes[n].inputs[1]].dim;
      assert_int_equal(a[1], 3);
      assert_int_equal(b[1], 3);
    }
    // Rows stay together from product to product, but where a factor per head comes between.
    assert_int_equal(count(g, GRAPH_OP_RESHAPE), per_head ? 5 : 2);
    graph_destroy(g);
  }
}

// Once is not repeated; another operator's tensor is left alone.
static void other_products_stay(void **state) {
  (void)state;
  graph *g = shared_keys(GRAPH_OP_EXPAND, 2, 1, false, false);
  wf_diag diag = wf_diag_to(stderr);
  assert_true(graph_verify(g, &diag));
  check(g, 12);
  graph_destroy(g);
}

static void lstm_case(const char *direction, bool states) {
  enum { STEPS = 4, BATCH = 3, WIDTH = 8, CELLS = 6 };
  graph *g = graph_create("lstm");
  const int64_t d = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
  const int x = tensor(g, "x", 3, (int64_t[]){STEPS, BATCH, WIDTH}, NULL);
  const int64_t first[3] = {d, BATCH, CELLS};
  const int inputs[7] = {x,
                         constant(g, "w", 3, (int64_t[]){d, 4 * CELLS, WIDTH}, 0),
                         constant(g, "r", 3, (int64_t[]){d, 4 * CELLS, CELLS}, 0.05F),
                         constant(g, "b", 2, (int64_t[]){d, 8 * CELLS}, 0.1F),
                         GRAPH_NONE,
                         states ? constant(g, "h", 3, first, 0.2F) : GRAPH_NONE,
                         states ? constant(g, "c", 3, first, -0.1F) : GRAPH_NONE};
  const int y = node(g, GRAPH_OP_LSTM, "lstm", inputs, states ? 7 : 4);
  graph_set_int(g, last(g), "hidden_size", CELLS);
  graph_set_text(g, last(g), "direction", direction);
  infer(g);
  finish(g, x, y);
  check(g, 22);
  assert_int_equal(count(g, GRAPH_OP_LSTM), 0);
  graph_destroy(g);
}

static void recurrence_is_unrolled(void **state) {
  (void)state;
  lstm_case("forward", false);
  lstm_case("reverse", true);
  lstm_case("bidirectional", true);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(folds_chains),
                                     cmocka_unit_test(folds_factors),
                                     cmocka_unit_test(rotations_become_products),
                                     cmocka_unit_test(shuffles_become_gathers),
                                     cmocka_unit_test(keeps_what_others_read),
                                     cmocka_unit_test(shared_keys_are_rows),
                                     cmocka_unit_test(other_products_stay),
                                     cmocka_unit_test(transposed_convolutions),
                                     cmocka_unit_test(lines_become_images),
                                     cmocka_unit_test(means_become_pools),
                                     cmocka_unit_test(channels_go_last_first),
                                     cmocka_unit_test(recurrence_is_unrolled)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
