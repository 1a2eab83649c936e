// Convolutions: which kernel does one, how its weights lie, and what has to happen around it. Kernels know one padding
// for all sides; other paddings are put around the image first.
#include <inttypes.h>
#include <string.h>

#include "compiler/network/private.h"

typedef struct conv {
  int64_t n, h, w, c, p, q, k, r, s;  // p, q: before pooling
  int64_t groups;
  int64_t stride[2], dilation[2], pads[4];
  bool relu, has_bias, has_scale;
  int64_t factor;  // of the residual; 0: none
  float scale;
  network_place x, weights, bias, residual, y;
} conv;

static void ints_or(const graph_node *node, const char *name, int count, int64_t by_default, int64_t *values) {
  for (int i = 0; i < count; i++) values[i] = by_default;
  graph_ints(node, name, values, count);
}

static int64_t results(int64_t size, int64_t before, int64_t behind, int64_t window, int64_t dilation, int64_t stride) {
  return (size + before + behind - dilation * (window - 1) - 1) / stride + 1;
}

static conv conv_of(lowering *l) {
  const graph_node *node = l->node;
  const graph_tensor *x = netlower_input(l, 0), *w = netlower_input(l, 1);
  conv c = {.n = x->dim[0], .h = x->dim[1], .w = x->dim[2], .c = x->dim[3]};
  c.r = w->dim[0], c.s = w->dim[1], c.k = w->dim[3];
  c.groups = graph_int(node, "groups", 1);
  ints_or(node, "strides", 2, 1, c.stride);
  ints_or(node, "dilations", 2, 1, c.dilation);
  ints_or(node, "pads", 4, 0, c.pads);
  c.relu = graph_int(node, "relu", 0) != 0;
  c.has_scale = graph_find_attribute(node, "scale") != NULL;
  c.scale = graph_float(node, "scale", 1);
  c.has_bias = netlower_has(node, 2);
  c.factor = netlower_has(node, 3) ? graph_int(node, "factor", 1) : 0;
  c.p = results(c.h, c.pads[0], c.pads[2], c.r, c.dilation[0], c.stride[0]);
  c.q = results(c.w, c.pads[1], c.pads[3], c.s, c.dilation[1], c.stride[1]);
  return c;
}

// ---- arguments that several kernels have

static const char *truth(bool value) { return value ? "True" : "False"; }

// What happens to the sums; a kernel with int32 results knows no scale.
static const char *epilogue(lowering *l, const conv *c) {
  if (!c->has_scale) return wf_arena_format(l->net->arena, ",bias=%s,relu=False,out=int32", truth(c->has_bias));
  return wf_arena_format(l->net->arena, ",scale=%s,bias=%s,relu=%s%s", netlower_number(l, c->scale), truth(c->has_bias),
                         truth(c->relu), netlower_residual(l, c->factor));
}

// The image's padding and dilation as the kernels say them: one number each.
static bool is_regular(const conv *c) {
  return c->pads[0] == c->pads[1] &&
         results(c->h, c->pads[0], c->pads[0], c->r, c->dilation[0], c->stride[0]) == c->p &&
         results(c->w, c->pads[0], c->pads[0], c->s, c->dilation[1], c->stride[1]) == c->q;
}

static void pad_image(lowering *l, conv *c) {
  const int64_t dim[4] = {c->n, c->h, c->w, c->c};
  c->x = netlower_padded(l, c->x, dim, c->pads, 0);
  c->h += c->pads[0] + c->pads[2];
  c->w += c->pads[1] + c->pads[3];
  memset(c->pads, 0, sizeof c->pads);
}

static void bind_results(network_step *step, const conv *c, const char *result) {
  if (c->has_bias) netlower_bind(step, "bias_ptr", c->bias);
  if (c->factor != 0) {
    netlower_bind(step, "res_ptr", c->residual);
  }
  netlower_bind(step, result, c->y);
}

// ---- 1 x 1: a product of pixels and weights

static network_step *as_product(lowering *l, const conv *c) {
  network_step *step = netlower_array(l, "gemm", "M=%" PRId64 ",N=%" PRId64 ",K=%" PRId64 "%s", c->n * c->h * c->w,
                                      c->k, c->c, epilogue(l, c));
  netlower_bind(step, "a_ptr", c->x);
  netlower_bind(step, "b_ptr", c->weights);
  bind_results(step, c, "c_ptr");
  return step;
}

static bool is_product(const conv *c) {
  return c->groups == 1 && c->r == 1 && c->s == 1 && c->stride[0] == 1 && c->stride[1] == 1 &&
         (c->pads[0] | c->pads[1] | c->pads[2] | c->pads[3]) == 0;
}

// ---- one group

static network_step *as_conv2d(lowering *l, const conv *c) {
  network_step *step = netlower_array(l, "conv2d",
                                      "N=%" PRId64 ",H=%" PRId64 ",W=%" PRId64 ",C=%" PRId64 ",K=%" PRId64 ",R=%" PRId64
                                      ",S=%" PRId64 "%s,padding=%" PRId64 ",dilation=%" PRId64 "%s",
                                      c->n, c->h, c->w, c->c, c->k, c->r, c->s, netlower_strides(l, c->stride),
                                      c->pads[0], c->dilation[0], epilogue(l, c));
  netlower_bind(step, "x_ptr", c->x);
  netlower_bind(step, "w_ptr", c->weights);
  bind_results(step, c, "y_ptr");
  return step;
}

// Few channels: a row of the window is summed over at once, which takes fewer blocks of depth.
static bool is_narrow(const lowering *l, const conv *c) {
  const int64_t dim = hw_derive(l->array).dim;
  const int64_t together = (c->s * c->c + dim - 1) / dim, apart = c->s * ((c->c + dim - 1) / dim);
  return c->dilation[0] == 1 && c->factor == 0 && c->has_scale && together < apart;
}

static network_step *as_narrow(lowering *l, const conv *c) {
  network_step *step = netlower_array(
      l, "conv2d_narrow",
      "N=%" PRId64 ",H=%" PRId64 ",W=%" PRId64 ",C=%" PRId64 ",K=%" PRId64 ",R=%" PRId64 ",S=%" PRId64 "%s%s", c->n,
      c->h, c->w, c->c, c->k, c->r, c->s, netlower_strides(l, c->stride), epilogue(l, c));
  netlower_bind(step, "x_ptr", c->x);
  netlower_bind(step, "w_ptr", c->weights);
  bind_results(step, c, "y_ptr");
  return step;
}

// ---- groups: weights change their order

// [R,S,C/G,K] to [G,R,S,C/G,K/G].
static network_place grouped_weights(lowering *l, const conv *c) {
  const int8_t *from = netlower_input(l, 1)->data;
  const int64_t cg = c->c / c->groups, kg = c->k / c->groups, taps = c->r * c->s;
  int8_t *to = netlower_alloc(l, (uint64_t)(taps * cg * c->k));
  for (int64_t g = 0; g < c->groups; g++)
    for (int64_t tap = 0; tap < taps; tap++)
      for (int64_t i = 0; i < cg; i++)
        memcpy(to + ((g * taps + tap) * cg + i) * kg, from + (tap * cg + i) * c->k + g * kg, (size_t)kg);
  return netlower_constant(l, netlower_input(l, 1)->name, to, (uint64_t)(taps * cg * c->k));
}

static network_step *as_grouped(lowering *l, const conv *c) {
  network_step *step = netlower_array(l, "grouped_conv2d",
                                      "N=%" PRId64 ",H=%" PRId64 ",W=%" PRId64 ",G=%" PRId64 ",C=%" PRId64 ",K=%" PRId64
                                      ",R=%" PRId64 ",S=%" PRId64 "%s,padding=%" PRId64 ",dilation=%" PRId64 "%s",
                                      c->n, c->h, c->w, c->groups, c->c / c->groups, c->k / c->groups, c->r, c->s,
                                      netlower_strides(l, c->stride), c->pads[0], c->dilation[0], epilogue(l, c));
  netlower_bind(step, "x_ptr", c->x);
  netlower_bind(step, "w_ptr", grouped_weights(l, c));
  bind_results(step, c, "y_ptr");
  return step;
}

// ---- a group per channel: weights on diagonals (workloads/kernels/depthwise_conv2d.py)

static network_place diagonal_weights(lowering *l, const conv *c, const int8_t *from, const char *name) {
  const int64_t dim = hw_derive(l->array).dim, blocks = (c->c + dim - 1) / dim, taps = c->r * c->s;
  const uint64_t bytes = (uint64_t)(blocks * taps * dim * dim);
  int8_t *to = netlower_alloc(l, bytes);
  for (int64_t k = 0; k < c->c; k++)
    for (int64_t tap = 0; tap < taps; tap++)
      to[((k / dim * taps + tap) * dim + k % dim) * dim + k % dim] = from == NULL ? 1 : from[tap * c->c + k];
  return netlower_constant(l, name, to, bytes);
}

static network_step *as_depthwise(lowering *l, const conv *c, const int8_t *weights, const char *name) {
  network_step *step = netlower_array(l, "depthwise_conv2d",
                                      "N=%" PRId64 ",H=%" PRId64 ",W=%" PRId64 ",C=%" PRId64 ",D=%u,R=%" PRId64
                                      ",S=%" PRId64 "%s,padding=%" PRId64 ",dilation=%" PRId64 "%s",
                                      c->n, c->h, c->w, c->c, hw_derive(l->array).dim, c->r, c->s,
                                      netlower_strides(l, c->stride), c->pads[0], c->dilation[0], epilogue(l, c));
  netlower_bind(step, "x_ptr", c->x);
  netlower_bind(step, "w_ptr", diagonal_weights(l, c, weights, name));
  bind_results(step, c, "y_ptr");
  return step;
}

// ---- the choice

static bool refuse_what_no_kernel_does(const lowering *l, const conv *c) {
  if (c->dilation[0] != c->dilation[1]) return netlower_refuse(l, "dilations of rows and columns differ");
  if (netlower_input(l, 1)->data == NULL) return netlower_refuse(l, "weights are no constant");
  if (!c->has_scale && (c->relu || c->factor != 0)) return netlower_refuse(l, "int32 results with relu or a residual");
  if (c->groups == 1) return true;
  if (!c->has_scale) return netlower_refuse(l, "int32 results in groups");
  if (c->factor != 0) return netlower_refuse(l, "a residual in groups");
  return true;
}

static network_step *choose(lowering *l, conv *c) {
  if (is_product(c)) return as_product(l, c);
  const bool narrow = c->groups == 1 && is_narrow(l, c),
             padded = (c->pads[0] | c->pads[1] | c->pads[2] | c->pads[3]) != 0;
  if (!is_regular(c) || (narrow && padded)) pad_image(l, c);
  if (narrow) return as_narrow(l, c);
  if (c->groups == 1) return as_conv2d(l, c);
  if (c->groups == c->c && c->k == c->c)
    return as_depthwise(l, c, netlower_input(l, 1)->data, netlower_input(l, 1)->name);
  return as_grouped(l, c);
}

// Max pooling behind the convolution is a step of its own.
static bool add_pooling(lowering *l, const conv *c, network_place image) {
  const netlower_pool pool = {
      .dim = {c->n, c->p, c->q, c->k}, .x = image, .y = netlower_result(l, 0), .positive = c->relu};
  return netlower_pooling(l, &pool, "pool_size", "pool_strides", "pool_pads");
}

bool netlower_conv(lowering *l) {
  conv c = conv_of(l);
  if (!refuse_what_no_kernel_does(l, &c)) return false;
  const bool pooled = graph_find_attribute(l->node, "pool_size") != NULL;
  c.x = netlower_place_of(l, 0);
  c.weights = netlower_place_of(l, 1);
  if (c.has_bias) c.bias = netlower_place_of(l, 2);
  if (c.factor != 0) c.residual = netlower_place_of(l, 3);
  if (pooled && !c.has_scale) return netlower_refuse(l, "pooling of int32 results");
  c.y = pooled ? netlower_scratch(l, (uint64_t)(c.n * c.p * c.q * c.k)) : netlower_result(l, 0);
  choose(l, &c)->macs = (uint64_t)(c.n * c.p * c.q * c.k * c.r * c.s * (c.c / c.groups));
  return !pooled || add_pooling(l, &c, c.y);
}

// The mean over windows is a convolution of each channel with ones.
bool netlower_average_pool(lowering *l) {
  const graph_tensor *x = netlower_input(l, 0);
  conv c = {.n = x->dim[0], .h = x->dim[1], .w = x->dim[2], .c = x->dim[3], .k = x->dim[3], .groups = x->dim[3]};
  int64_t window[2];
  ints_or(l->node, "kernel_shape", 2, 1, window);
  ints_or(l->node, "strides", 2, 1, c.stride);
  ints_or(l->node, "pads", 4, 0, c.pads);
  c.r = window[0], c.s = window[1];
  c.dilation[0] = c.dilation[1] = 1;
  c.has_scale = true;
  c.scale = graph_float(l->node, "scale", 1);
  c.p = results(c.h, c.pads[0], c.pads[2], c.r, 1, c.stride[0]);
  c.q = results(c.w, c.pads[1], c.pads[3], c.s, 1, c.stride[1]);
  c.x = netlower_place_of(l, 0);
  c.y = netlower_result(l, 0);
  if (!is_regular(&c)) pad_image(l, &c);
  as_depthwise(l, &c, NULL, l->node->name)->macs = (uint64_t)(c.n * c.p * c.q * c.k * c.r * c.s);
  return true;
}
