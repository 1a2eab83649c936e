// SPDX-License-Identifier: Apache-2.0
// Models that bring their own scales: QLinear, integer and QDQ operators with asymmetric zero points and scales per
// channel, on the placed graph against the interpreter on ONNX's operators.
#include <math.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

// ---- building

static uint32_t state = 1;

static uint32_t next(uint32_t below) {
  state = state * 1664525 + 1013904223;
  return (uint32_t)(((uint64_t)(state >> 8) * below) >> 24);
}

static int tensor(graph *g, const char *name, graph_type type, int rank, const int64_t *dims, const void *data) {
  graph_tensor t = {.name = name, .type = type, .rank = rank, .data = data};
  for (int i = 0; i < rank; i++) t.dim[i] = dims[i];
  return graph_add_tensor(g, &t);
}

static int bytes(graph *g, const char *name, graph_type type, int rank, const int64_t *dims, int low, int high) {
  int64_t count = 1;
  for (int i = 0; i < rank; i++) count *= dims[i];
  uint8_t *data = wf_arena_alloc(g->arena, (size_t)count, 1);
  for (int64_t i = 0; i < count; i++) data[i] = (uint8_t)(low + (int)next((uint32_t)(high - low + 1)));
  return tensor(g, name, type, rank, dims, data);
}

static int number(graph *g, const char *name, float value) {
  float *data = WF_ARENA_NEW(g->arena, float);
  *data = value;
  return tensor(g, name, GRAPH_F32, 0, NULL, data);
}

static int zero(graph *g, const char *name, graph_type type, int value) {
  uint8_t *data = wf_arena_alloc(g->arena, 1, 1);
  *data = (uint8_t)value;
  return tensor(g, name, type, 0, NULL, data);
}

// One scale (channels 0) or one per channel.
static int scales(graph *g, const char *name, int64_t channels, float scale) {
  if (channels == 0) return number(g, name, scale);
  float *data = WF_ARENA_ARRAY(g->arena, (size_t)channels, float);
  for (int64_t i = 0; i < channels; i++) data[i] = scale * (0.5F + (float)next(100) / 100);
  return tensor(g, name, GRAPH_F32, 1, &channels, data);
}

static int bias(graph *g, const char *name, int64_t channels) {
  int32_t *data = WF_ARENA_ARRAY(g->arena, (size_t)channels, int32_t);
  for (int64_t i = 0; i < channels; i++) data[i] = (int32_t)next(4000) - 2000;
  return tensor(g, name, GRAPH_I32, 1, &channels, data);
}

// ---- comparing

typedef struct difference {
  int64_t count, differ, largest;
} difference;

static int64_t integer(const graph_tensor *t, const void *data, int64_t i) {
  switch (t->type) {
    case GRAPH_I8:
      return ((const int8_t *)data)[i];
    case GRAPH_U8:
      return ((const uint8_t *)data)[i];
    default:
      return ((const int32_t *)data)[i];
  }
}

typedef graph *(*builder)(void);

// Builds the model twice: one is run as it is, the other through all passes.
static graph *place(builder build, const quantise_options *options, uint32_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  state = seed;
  graph *g = build();
  assert_true(graph_verify(g, &diag));
  graph *placed = quantise_network(g, options, QUANTISE_STAGE_PLACED, &diag);
  graph_destroy(g);
  assert_non_null(placed);
  return placed;
}

static difference compare(builder build, const quantise_options *options, void *(*fill)(const graph *)) {
  wf_diag diag = wf_diag_to(stderr);
  graph *placed = place(build, options, 17);
  state = 17;
  graph *g = build();
  void *in = fill(g);
  const graph_tensor *t = &g->tensors[g->outputs[0]], *u = &placed->tensors[placed->outputs[0]];
  assert_int_equal(t->type, u->type);
  assert_int_equal(placed->tensors[placed->inputs[0]].type, g->tensors[g->inputs[0]].type);
  void *expected = wf_calloc(graph_bytes(t), 1), *got = wf_calloc(graph_bytes(t), 1);
  const graph_run_options run = {.file = "test"};
  assert_true(graph_run(g, (const void *[]){in}, &expected, &run, &diag));
  assert_true(graph_run(placed, (const void *[]){in}, &got, &run, &diag));
  difference d = {.count = graph_elements(t)};
  int64_t distinct = 0;
  for (int64_t i = 0; i < d.count; i++) {
    const int64_t error = llabs(integer(t, expected, i) - integer(t, got, i));
    d.differ += error != 0;
    d.largest = error > d.largest ? error : d.largest;
    distinct += integer(t, expected, i) != integer(t, expected, 0);
  }
  assert_true(distinct > d.count / 2);  // no picture of one colour
  wf_free(in);
  wf_free(expected);
  wf_free(got);
  graph_destroy(placed);
  graph_destroy(g);
  return d;
}

static void *fill_bytes(const graph *g) {
  const size_t size = graph_bytes(&g->tensors[g->inputs[0]]);
  uint8_t *data = wf_alloc(size, 1);
  for (size_t i = 0; i < size; i++) data[i] = (uint8_t)next(256);
  return data;
}

static void *fill_floats(const graph *g) {
  const int64_t count = graph_elements(&g->tensors[g->inputs[0]]);
  float *data = wf_alloc((size_t)count, sizeof *data);
  for (int64_t i = 0; i < count; i++) data[i] = (float)next(2000) / 1000 - 1;
  return data;
}

// Exact: but for ties that the interpreter's arithmetic in another order may turn. Zero points in the bias: one more or
// less where a sum lies within half a unit of the edge.
static void check_both_ways(builder build) {
  const quantise_options exact = {.exact_zeros = true}, quick = {0};
  const difference a = compare(build, &exact, fill_bytes), b = compare(build, &quick, fill_bytes);
  assert_true(a.largest <= 1 && a.differ * 1000 <= a.count);
  assert_true(b.largest <= 1 && b.differ * 50 <= b.count);
}

// ---- QLinearConv

static graph *linear_conv(graph_type x_type, graph_type w_type, int64_t channels, int w_zero) {
  graph *g = graph_create("qlinear_conv");
  const bool is_unsigned = x_type == GRAPH_U8;
  const int x = tensor(g, "x", x_type, 4, (int64_t[]){1, 5, 11, 9}, NULL);
  const int y = tensor(g, "y", x_type, 4, (int64_t[]){1, 8, 6, 5}, NULL);
  const int low = w_type == GRAPH_U8 ? 20 : -100, high = w_type == GRAPH_U8 ? 220 : 100;
  const int inputs[9] = {x,
                         number(g, "xs", 0.02F),
                         zero(g, "xz", x_type, is_unsigned ? 113 : -9),
                         bytes(g, "w", w_type, 4, (int64_t[]){8, 5, 3, 3}, low, high),
                         scales(g, "ws", channels, 0.01F),
                         zero(g, "wz", w_type, w_zero),
                         number(g, "ys", 0.11F),
                         zero(g, "yz", x_type, is_unsigned ? 77 : 31),
                         bias(g, "b", 8)};
  graph_node *node = graph_add_node(g, GRAPH_OP_QLINEAR_CONV, "conv", inputs, 9, &y, 1);
  graph_set_ints(g, node, "kernel_shape", (int64_t[]){3, 3}, 2);
  graph_set_ints(g, node, "strides", (int64_t[]){2, 2}, 2);
  graph_set_ints(g, node, "pads", (int64_t[]){1, 1, 1, 1}, 4);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static graph *conv_u8(void) { return linear_conv(GRAPH_U8, GRAPH_I8, 0, 0); }
static graph *conv_i8(void) { return linear_conv(GRAPH_I8, GRAPH_I8, 0, 0); }
static graph *conv_channels(void) { return linear_conv(GRAPH_U8, GRAPH_I8, 8, 0); }
static graph *conv_weights_u8(void) { return linear_conv(GRAPH_U8, GRAPH_U8, 0, 120); }

static void qlinear_conv(void **unused) {
  (void)unused;
  check_both_ways(conv_u8);
  check_both_ways(conv_i8);
  check_both_ways(conv_channels);
  check_both_ways(conv_weights_u8);
}

static graph *mat_mul_u8(void) {
  graph *g = graph_create("qlinear_mat_mul");
  const int x = tensor(g, "x", GRAPH_U8, 3, (int64_t[]){2, 7, 33}, NULL);
  const int y = tensor(g, "y", GRAPH_U8, 3, (int64_t[]){2, 7, 19}, NULL);
  const int inputs[8] = {x,
                         number(g, "xs", 0.03F),
                         zero(g, "xz", GRAPH_U8, 140),
                         bytes(g, "w", GRAPH_I8, 2, (int64_t[]){33, 19}, -127, 127),
                         number(g, "ws", 0.02F),
                         zero(g, "wz", GRAPH_I8, 0),
                         number(g, "ys", 0.4F),
                         zero(g, "yz", GRAPH_U8, 120)};
  graph_add_node(g, GRAPH_OP_QLINEAR_MAT_MUL, "product", inputs, 8, &y, 1);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static void qlinear_mat_mul(void **unused) {
  (void)unused;
  check_both_ways(mat_mul_u8);
}

// ---- integer products: every bit

static graph *conv_integer(void) {
  graph *g = graph_create("conv_integer");
  const int x = tensor(g, "x", GRAPH_U8, 4, (int64_t[]){1, 3, 8, 8}, NULL);
  const int y = tensor(g, "y", GRAPH_I32, 4, (int64_t[]){1, 6, 8, 8}, NULL);
  const int inputs[4] = {x, bytes(g, "w", GRAPH_U8, 4, (int64_t[]){6, 3, 3, 3}, 0, 240), zero(g, "xz", GRAPH_U8, 100),
                         zero(g, "wz", GRAPH_U8, 121)};
  graph_node *node = graph_add_node(g, GRAPH_OP_CONV_INTEGER, "conv", inputs, 4, &y, 1);
  graph_set_ints(g, node, "kernel_shape", (int64_t[]){3, 3}, 2);
  graph_set_ints(g, node, "pads", (int64_t[]){1, 1, 1, 1}, 4);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static graph *mat_mul_integer(void) {
  graph *g = graph_create("mat_mul_integer");
  const int x = tensor(g, "x", GRAPH_I8, 2, (int64_t[]){13, 40}, NULL);
  const int y = tensor(g, "y", GRAPH_I32, 2, (int64_t[]){13, 21}, NULL);
  const int inputs[3] = {x, bytes(g, "w", GRAPH_I8, 2, (int64_t[]){40, 21}, -128, 127), zero(g, "xz", GRAPH_I8, 5)};
  graph_add_node(g, GRAPH_OP_MAT_MUL_INTEGER, "product", inputs, 3, &y, 1);
  graph_set_ends(g, &x, 1, &y, 1);
  return g;
}

static void integer_products(void **unused) {
  (void)unused;
  const quantise_options options = {0};
  assert_int_equal(compare(conv_integer, &options, fill_bytes).differ, 0);
  assert_int_equal(compare(mat_mul_integer, &options, fill_bytes).differ, 0);
}

// ---- QDQ

typedef struct qdq {
  graph *g;
  int numbers;
} qdq;

static const char *name_of(qdq *q, const char *what) {
  return wf_arena_format(q->g->arena, "%s%d", what, q->numbers++);
}

static int dequantise(qdq *q, int x, int scale, int zero_point) {
  const graph_tensor t = q->g->tensors[x];
  const int y = tensor(q->g, name_of(q, "real"), GRAPH_F32, t.rank, t.dim, NULL);
  graph_node *node =
      graph_add_node(q->g, GRAPH_OP_DEQUANTIZE_LINEAR, name_of(q, "dq"), (int[]){x, scale, zero_point}, 3, &y, 1);
  graph_set_int(q->g, node, "axis", 0);
  return y;
}

// x through QuantizeLinear, an operator on the integers if `between`, and DequantizeLinear.
static int pair(qdq *q, int x, float scale, int point, graph_op between) {
  graph *g = q->g;
  graph_tensor t = g->tensors[x];
  const int s = number(g, name_of(q, "s"), scale), z = zero(g, name_of(q, "z"), GRAPH_U8, point);
  int y = tensor(g, name_of(q, "q"), GRAPH_U8, t.rank, t.dim, NULL);
  graph_add_node(g, GRAPH_OP_QUANTIZE_LINEAR, name_of(q, "q"), (int[]){x, s, z}, 3, &y, 1);
  if (between == GRAPH_OP_MAX_POOL) {
    t.dim[2] /= 2;
    t.dim[3] /= 2;
    const int pooled = tensor(g, name_of(q, "pooled"), GRAPH_U8, t.rank, t.dim, NULL);
    graph_node *node = graph_add_node(g, between, name_of(q, "pool"), &y, 1, &pooled, 1);
    graph_set_ints(g, node, "kernel_shape", (int64_t[]){2, 2}, 2);
    graph_set_ints(g, node, "strides", (int64_t[]){2, 2}, 2);
    y = pooled;
  }
  return dequantise(q, y, s, z);
}

static int conv(qdq *q, int x, int64_t results, int64_t channels_of_scale, bool relu) {
  graph *g = q->g;
  graph_tensor t = g->tensors[x];
  const int weights = bytes(g, name_of(q, "w"), GRAPH_I8, 4, (int64_t[]){results, t.dim[1], 3, 3}, -127, 127);
  const int s = scales(g, name_of(q, "ws"), channels_of_scale, 0.004F);
  int8_t *zeros = wf_arena_alloc(g->arena, 64, 1);
  const int z = tensor(g, name_of(q, "wz"), GRAPH_I8, channels_of_scale == 0 ? 0 : 1, &channels_of_scale, zeros);
  t.dim[1] = results;
  const int inputs[2] = {x, dequantise(q, weights, s, z)};
  int y = tensor(g, name_of(q, "sums"), GRAPH_F32, 4, t.dim, NULL);
  graph_node *node = graph_add_node(g, GRAPH_OP_CONV, name_of(q, "conv"), inputs, 2, &y, 1);
  graph_set_ints(g, node, "kernel_shape", (int64_t[]){3, 3}, 2);
  graph_set_ints(g, node, "pads", (int64_t[]){1, 1, 1, 1}, 4);
  if (!relu) return y;
  const int positive = tensor(g, name_of(q, "positive"), GRAPH_F32, 4, t.dim, NULL);
  graph_add_node(g, GRAPH_OP_RELU, name_of(q, "relu"), &y, 1, &positive, 1);
  return positive;
}

// A network as quantisers write it: relu between a convolution and its QuantizeLinear, a residual sum between two
// pairs, pooling on the integers, and at its end integers.
static graph *network(bool per_channel, int point) {
  qdq q = {graph_create("qdq"), 0};
  graph *g = q.g;
  const int in = tensor(g, "x", GRAPH_F32, 4, (int64_t[]){1, 4, 12, 12}, NULL);
  const int x = pair(&q, in, 0.008F, 128, GRAPH_OP_COUNT);
  const int a = pair(&q, conv(&q, x, 8, per_channel ? 8 : 0, true), 0.02F, 0, GRAPH_OP_MAX_POOL);
  const int b = pair(&q, conv(&q, a, 8, 0, false), 0.05F, point, GRAPH_OP_COUNT);
  const int sum = tensor(g, "sum", GRAPH_F32, 4, g->tensors[a].dim, NULL);
  graph_add_node(g, GRAPH_OP_ADD, "add", (int[]){a, b}, 2, &sum, 1);
  const int c = conv(&q, pair(&q, sum, 0.06F, point, GRAPH_OP_COUNT), 6, 0, false);
  const int out = tensor(g, "y", GRAPH_U8, 4, g->tensors[c].dim, NULL);
  const int last[3] = {c, number(g, "ys", 0.1F), zero(g, "yz", GRAPH_U8, 101)};
  graph_add_node(g, GRAPH_OP_QUANTIZE_LINEAR, "last", last, 3, &out, 1);
  graph_set_ends(g, &in, 1, &out, 1);
  return g;
}

static graph *network_symmetric(void) { return network(false, 128); }
static graph *network_asymmetric(void) { return network(false, 90); }
static graph *network_channels(void) { return network(true, 90); }

// Differences of one in early layers spread: they stay small and rare.
static void check_network(builder build, const quantise_options *options) {
  const difference d = compare(build, options, fill_floats);
  assert_true(d.largest <= 3);
  assert_true(d.differ * 5 <= d.count);
}

static int count(const graph *g, graph_op op) {
  int sum = 0;
  for (int n = 0; n < g->node_count; n++) sum += g->nodes[n].op == op;
  return sum;
}

static void qdq_networks(void **unused) {
  (void)unused;
  const quantise_options exact = {.exact_zeros = true}, quick = {0};
  const builder builders[] = {network_symmetric, network_asymmetric, network_channels};
  for (size_t i = 0; i < 3; i++) {
    check_network(builders[i], &exact);
    check_network(builders[i], &quick);
  }
  graph *placed = place(network_channels, &quick, 17);
  assert_int_equal(count(placed, GRAPH_OP_QCONV), 3);
  assert_int_equal(count(placed, GRAPH_OP_REQUANTIZE), 1);  // one convolution has scales per channel
  graph_destroy(placed);
  placed = place(network_symmetric, &quick, 17);
  assert_int_equal(count(placed, GRAPH_OP_REQUANTIZE), 0);
  graph_destroy(placed);
}

// Integers that are read with another scale than they were made with are refused.
static void other_scale(void **unused) {
  (void)unused;
  FILE *sink = tmpfile();
  wf_diag diag = wf_diag_to(sink);
  qdq q = {graph_create("other"), 0};
  graph *g = q.g;
  const int64_t dims[2] = {3, 4};
  const int x = tensor(g, "x", GRAPH_F32, 2, dims, NULL), bytes_of = tensor(g, "q", GRAPH_U8, 2, dims, NULL);
  const int z = zero(g, "z", GRAPH_U8, 3);
  graph_add_node(g, GRAPH_OP_QUANTIZE_LINEAR, "quantise", (int[]){x, number(g, "s", 0.5F), z}, 3, &bytes_of, 1);
  const int y = dequantise(&q, bytes_of, number(g, "t", 0.25F), z);
  graph_set_ends(g, &x, 1, &y, 1);
  const quantise_options options = {0};
  assert_null(quantise_network(g, &options, QUANTISE_STAGE_PLACED, &diag));
  assert_true(diag.errors > 0);
  graph_destroy(g);
  fclose(sink);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(qlinear_conv), cmocka_unit_test(qlinear_mat_mul),
                                     cmocka_unit_test(integer_products), cmocka_unit_test(qdq_networks),
                                     cmocka_unit_test(other_scale)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
