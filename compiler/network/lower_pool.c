// SPDX-License-Identifier: Apache-2.0
// Max pooling, the mean of images, and sums of two tensors.
#include "compiler/network/private.h"

// ---- max pooling: what lies outside of an image must not win

static int64_t results(int64_t size, int64_t before, int64_t behind, int64_t window, int64_t stride) {
  return (size + before + behind - window) / stride + 1;
}

// The store unit's largest window, stride and padding.
enum { POOL_MOST = 3 };

static void change_image(network_lower_pool *p, network_place to, int64_t window, int64_t stride) {
  p->x = to;
  p->x_pixel = 0;
  p->dim[1] = results(p->dim[1], 0, 0, window, stride);
  p->dim[2] = results(p->dim[2], 0, 0, window, stride);
}

// p->y and p->y_pixel say where the results go.
static void one_step(network_lowering *l, const network_lower_pool *p, int64_t window, int64_t stride,
                     int64_t padding) {
  const layer_desc layer = {
      .map = {.kind = MAP_WINDOW,
              .size = {p->dim[0], results(p->dim[1], padding, padding, window, stride),
                       results(p->dim[2], padding, padding, window, stride), p->dim[3], 1, window, window},
              .stride = {stride, stride},
              .padding = {padding, padding, padding, padding},
              .pool_size = (uint32_t)window},
      .image = {p->dim[1], p->dim[2]},
      .inputs = {.pixel = p->x_pixel},
      .results = {.pixel = p->y_pixel}};
  network_lower_layer(l, &layer, &(network_lower_operands){.inputs = p->x, .results = p->y});
}

static uint64_t bytes_after(const network_lower_pool *p, int64_t window) {
  return (uint64_t)(p->dim[0] * results(p->dim[1], 0, 0, window, 1) * results(p->dim[2], 0, 0, window, 1) * p->dim[3]);
}

static network_lower_view view_of_pixels(network_place place, const int64_t *dim, int64_t pixel) {
  network_lower_view view = network_lower_view_at(place, WEFT_I8, 4, dim);
  network_lower_spread(&view, dim[3], pixel);
  return view;
}

// Every stride-th row and column of the image.
static void thin_out(network_lowering *l, const network_lower_pool *p, int64_t stride) {
  const int64_t few[4] = {p->dim[0], results(p->dim[1], 0, 0, 1, stride), results(p->dim[2], 0, 0, 1, stride),
                          p->dim[3]};
  network_lower_view to = view_of_pixels(p->y, few, p->y_pixel), from = view_of_pixels(p->x, p->dim, p->x_pixel);
  for (int d = 0; d < 4; d++) from.dim[d] = few[d];
  from.step[1] *= stride;
  from.step[2] *= stride;
  network_lower_copy(l, &to, &from);
}

// A window of windows is a larger window: small ones of stride 1 one after the other, the last one with the stride.
static void in_steps(network_lowering *l, network_lower_pool p, int64_t window, int64_t stride) {
  const bool thin = stride > POOL_MOST;
  while (window > POOL_MOST || (thin && window > 1)) {
    const int64_t now = window > POOL_MOST ? POOL_MOST : window;
    network_lower_pool part = p;
    part.y = network_lower_scratch(l, bytes_after(&p, now));
    part.y_pixel = 0;
    one_step(l, &part, now, 1, 0);
    change_image(&p, part.y, now, 1);
    window -= now - 1;
  }
  if (thin)
    thin_out(l, &p, stride);
  else
    one_step(l, &p, window, stride, 0);
}

bool network_lower_pooling(network_lowering *l, const network_lower_pool *pool, const char *size, const char *strides,
                           const char *pads) {
  int64_t window[2] = {1, 1}, stride[2] = {1, 1}, pad[4] = {0};
  network_lower_pool p = *pool;
  graph_ints(l->node, size, window, 2);
  graph_ints(l->node, strides, stride, 2);
  graph_ints(l->node, pads, pad, 4);
  if (window[0] != window[1]) return network_lower_refuse(l, "windows that are not square");
  if (stride[0] != stride[1]) return network_lower_refuse(l, "strides of rows and columns differ");
  const int64_t rows = results(p.dim[1], pad[0], pad[2], window[0], stride[0]);
  const int64_t cols = results(p.dim[2], pad[1], pad[3], window[1], stride[1]);
  const bool padded = (pad[0] | pad[1] | pad[2] | pad[3]) != 0;
  const bool regular = pad[0] == pad[1] && results(p.dim[1], pad[0], pad[0], window[0], stride[0]) == rows &&
                       results(p.dim[2], pad[0], pad[0], window[1], stride[1]) == cols;
  const bool fits = window[0] <= POOL_MOST && stride[0] <= POOL_MOST && pad[0] <= POOL_MOST;
  // The kernel's padding is 0, which is the least that there is after a relu.
  if (padded && !(fits && regular && p.positive)) {
    const network_lower_view image = view_of_pixels(p.x, p.dim, p.x_pixel);
    p.x = network_lower_padded(l, &image, pad, p.positive ? 0 : INT8_MIN, NULL);
    p.x_pixel = 0;
    p.dim[1] += pad[0] + pad[2];
    p.dim[2] += pad[1] + pad[3];
    pad[0] = 0;
  }
  if (fits)
    one_step(l, &p, window[0], stride[0], pad[0]);
  else
    in_steps(l, p, window[0], stride[0]);
  return true;
}

// Whether no element of a tensor can be below 0.
static bool is_positive(const network_lowering *l, int tensor) {
  for (int n = 0; n < l->g->node_count; n++) {
    const graph_node *node = &l->g->nodes[n];
    for (int o = 0; o < node->output_count; o++) {
      if (node->outputs[o] != tensor) continue;
      if (node->op == GRAPH_OP_QMAX_POOL) return is_positive(l, node->inputs[0]);
      return graph_int(node, "relu", 0) != 0;
    }
  }
  return false;
}

bool network_lower_max_pool(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  const network_lower_pool pool = {.dim = {x->dim[0], x->dim[1], x->dim[2], x->dim[3]},
                                   .x = network_lower_rows(l, l->node->inputs[0]),
                                   .y = network_lower_rows(l, l->node->outputs[0]),
                                   .x_pixel = network_lower_pixel(l, l->node->inputs[0]),
                                   .y_pixel = network_lower_pixel(l, l->node->outputs[0]),
                                   .positive = is_positive(l, l->node->inputs[0])};
  return network_lower_pooling(l, &pool, "kernel_shape", "strides", "pads");
}

// ---- the mean of an image: a product of a row of ones with its pixels

bool network_lower_global_average_pool(network_lowering *l) {
  const graph_tensor *x = network_lower_input(l, 0);
  const int64_t pixels = x->dim[1] * x->dim[2], channels = x->dim[3],
                apart = network_lower_pixel(l, l->node->inputs[0]), pixel = apart == 0 ? channels : apart;
  int8_t *ones = network_lower_alloc(l, (uint64_t)pixels);
  for (int64_t i = 0; i < pixels; i++) ones[i] = 1;
  const network_place row = network_lower_constant(l, "ones", ones, (uint64_t)pixels);
  for (int64_t n = 0; n < x->dim[0]; n++) {
    network_place image = network_lower_rows(l, l->node->inputs[0]), mean = network_lower_result(l, 0);
    image.offset += (uint64_t)(n * pixels * pixel);
    mean.offset += (uint64_t)(n * channels);
    const layer_desc layer = {.map = {.kind = MAP_GEMV, .size = {1, 1, 1, channels, pixels, 1, 1}},
                              .scale = (double)graph_float(l->node, "scale", 1),
                              .weight_pitch = apart};
    network_lower_layer(l, &layer, &(network_lower_operands){.inputs = row, .weights = image, .results = mean});
  }
  return true;
}

// ---- sums

// Rows of the matrix that the elements are taken as: wide enough for wide loads where the number of elements allows it.
static int64_t columns_of(const graph_tensor *t, int64_t elements) {
  enum { WIDE = 1024 };
  const int64_t last = t->rank == 0 ? 1 : t->dim[t->rank - 1];
  int64_t columns = 1;
  while (columns < WIDE && elements % (2 * columns) == 0) columns *= 2;
  return columns > last ? columns : last;
}

bool network_lower_add(network_lowering *l) {
  const graph_tensor *y = network_lower_output(l, 0);
  const int64_t elements = graph_elements(y), repeated = graph_elements(network_lower_input(l, 1));
  const int64_t columns = repeated < elements ? repeated : columns_of(y, elements);
  layer_call call = {.kernel = LAYER_RESIDUAL_ADD};
  layer_add_argument(&call, "M", lang_int(elements / columns));
  layer_add_argument(&call, "N", lang_int(columns));
  layer_add_argument(&call, "a_scale", lang_float((double)graph_float(l->node, "scale_a", 1)));
  layer_add_argument(&call, "b_scale", lang_float((double)graph_float(l->node, "scale_b", 1)));
  layer_add_argument(&call, "relu", lang_bool(graph_int(l->node, "relu", 0) != 0));
  if (repeated < elements) layer_add_argument(&call, "repeat", lang_int(1));
  network_step *step = network_lower_array(l, &call);
  network_lower_bind(step, "a_ptr", network_lower_place_of(l, 0));
  network_lower_bind(step, "b_ptr", network_lower_place_of(l, 1));
  network_lower_bind(step, "y_ptr", network_lower_result(l, 0));
  return true;
}
