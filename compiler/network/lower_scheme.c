// SPDX-License-Identifier: Apache-2.0
// The ways to compute a convolution that are legal (scheme.h): windows element by element, by rows or as copies, pixels
// side by side, groups packed or as one convolution with zeros, by single commands or by the hardware's loops, pooled
// on the way out or not.
#include "compiler/network/conv.h"

// What the kernel has to know of a scheme.
static void set_scheme(network_conv *c, const network_scheme *scheme) {
  layer_desc *layer = &c->layer;
  c->scheme = *scheme;
  if (scheme->dense) network_conv_set_dense(c);
  layer->style = scheme->style;
  if (scheme->way == NETWORK_BY_TAPS) layer->sums = LAYER_BY_TAPS;
  if (scheme->way == NETWORK_BY_ROWS || scheme->way == NETWORK_BY_PADDED_ROWS) layer->sums = LAYER_BY_ROWS;
  if (scheme->way == NETWORK_BY_GROUPS && layer->map.kind != MAP_DEPTHWISE) layer->together = scheme->beside;
  if (scheme->way == NETWORK_BY_TAPS && layer->map.kind == MAP_GEMM) layer->map.kind = MAP_CONV;
}

typedef struct lister {
  network_lowering lowering;
  network_scheme *list;
  size_t count;
} lister;

static void list_one(lister *to, network_scheme scheme) {
  if (to->count < NETWORK_SCHEMES_MAX) to->list[to->count++] = scheme;
}

// Whether the hardware's loops can do it.
static bool has_loops(const lister *to, const network_conv *c) {
  wf_diag silent = wf_diag_to(NULL);
  layer_desc layer = c->layer;
  layer_call call;
  map_mapping mapping;
  layer.style = BLOCK_STYLE_LOOP;
  if (layer.map.kind != MAP_GEMM && !network_conv_is_regular(c)) return false;
  for (int side = 0; side < 4; side++) layer.map.padding[side] = c->pads[0];
  return layer_call_of(&layer, to->lowering.array, &call, &silent) &&
         map_default(&call.layer, to->lowering.array, NULL, BLOCK_STYLE_LOOP, &mapping, &silent);
}

// Taps of a row of the window lie one behind the other in the image.
static bool has_taps_in_rows(const network_conv *c) {
  return c->layer.map.dilation[0] == 1 && c->layer.inputs.pixel == 0;
}

static bool has_rows(const network_conv *c) {
  const map_layer *map = &c->layer.map;
  return map->kind == MAP_CONV && map->size[BLOCK_DIM_S] > 1 && has_taps_in_rows(c) && map->residual == 0 &&
         map->result_bytes == 1;
}

// Rows of the window, of pixels side by side or not. Columns of padding are windows of their own or a copy.
static void list_rows(lister *to, const network_conv *c, network_scheme scheme) {
  const layer_desc layer = network_lower_beside_layer(&c->layer, scheme.beside);
  const bool bordered = (c->pads[1] | c->pads[3]) != 0 || !network_conv_is_regular_in(c, 0, c->pads[0]);
  const bool edges = network_conv_is_regular_in(c, 0, c->pads[0]) && scheme.pool != NETWORK_POOL_WITH &&
                     network_lower_has_edges(&layer, c->pads[1]);
  scheme.way = NETWORK_BY_ROWS;
  if (!bordered || edges) list_one(to, scheme);
  scheme.way = NETWORK_BY_PADDED_ROWS;
  if (bordered) list_one(to, scheme);
}

// So many bytes of weights at most, with the zeros between groups and pixels.
static bool is_small(const network_conv *c, int64_t together) {
  enum { BYTES = 4 << 20 };
  const layer_desc layer = network_lower_beside_layer(&c->layer, together);
  const int64_t *size = layer.map.size;
  return size[BLOCK_DIM_R] * size[BLOCK_DIM_S] * size[BLOCK_DIM_C] * size[BLOCK_DIM_K] <= BYTES;
}

// Those of a convolution without groups; `first`: with the way that pooling and groups go.
static void list_plain(lister *to, const network_conv *c, network_scheme first) {
  enum { BESIDE_MOST = 8 };
  const map_layer *map = &c->layer.map;
  const bool unpooled = first.pool == NETWORK_POOL_BY_RULE, in_columns = network_conv_is_in_columns(c);
  for (int64_t together = 1; together <= (unpooled ? BESIDE_MOST : 1); together *= 2) {
    network_scheme scheme = first;
    scheme.beside = together;
    if (together > 1 && (in_columns || !network_lower_may_lie_beside(&c->layer, to->lowering.array, together)))
      continue;
    if ((together > 1 || first.dense) && !is_small(c, together)) continue;
    scheme.way = map->kind == MAP_GEMM ? NETWORK_BY_PRODUCT : NETWORK_BY_TAPS;
    list_one(to, scheme);
    if (has_rows(c)) list_rows(to, c, scheme);
    if (in_columns || together > 1 || first.dense || first.pool == NETWORK_POOL_WITH || !has_loops(to, c)) continue;
    scheme.style = BLOCK_STYLE_LOOP;
    list_one(to, scheme);
  }
  first.beside = 1;
  first.way = NETWORK_BY_COLUMNS;
  if (map->kind == MAP_CONV && has_taps_in_rows(c) && !first.dense && first.pool != NETWORK_POOL_WITH)
    list_one(to, first);
}

// Groups side by side, up to twice the passes of the best; channels of a depthwise layer fill the diagonal.
static void list_groups(lister *to, const network_conv *c) {
  const map_layer *map = &c->layer.map;
  const hw_array *array = to->lowering.array;
  const int64_t rule = layer_packing_of(map, array).together, dim = hw_derive(array).dim;
  network_scheme scheme = {.way = NETWORK_BY_GROUPS, .beside = rule};
  for (int64_t q = 1; q <= 4 * dim && map->kind != MAP_DEPTHWISE; q *= 2) {
    scheme.beside = q;
    if (q != rule && q <= 4 * rule && 2 * q >= rule && layer_can_pack(map, array, q)) list_one(to, scheme);
  }
  scheme.beside = rule;
  scheme.style = BLOCK_STYLE_LOOP;
  if (!network_conv_is_in_columns(c) && has_loops(to, c)) list_one(to, scheme);
}

static void list_pooled(lister *to, const network_conv *c) {
  network_scheme scheme = {.pool = NETWORK_POOL_APART};
  network_conv with = *c;
  list_plain(to, c, scheme);
  scheme.pool = NETWORK_POOL_WITH;
  if (network_conv_is_grouped(c) || c->layer.map.residual != 0 || !to->lowering.array->units.max_pool) return;
  enum { POOL_MOST = 3 };
  if (!network_conv_take_pooling(&to->lowering, &with) || with.pool_size > POOL_MOST || with.pool_stride > POOL_MOST)
    return;
  with.layer.map.kind = MAP_CONV;
  with.pool_stride = 0;
  list_plain(to, &with, scheme);
}

static void list_conv(lister *to) {
  network_conv c = network_conv_of(&to->lowering);
  if (!network_conv_check(&to->lowering, &c)) return;
  if (graph_find_attribute(to->lowering.node, "pool_size") != NULL) {
    if (!network_conv_is_grouped(&c)) list_pooled(to, &c);
    return;
  }
  network_scheme scheme = {.dense = network_conv_is_grouped(&c)};
  if (scheme.dense) {
    list_groups(to, &c);
    network_conv_set_dense(&c);
  }
  list_plain(to, &c, scheme);
}

size_t network_list_schemes(const graph *g, const graph_node *node, const hw_array *array,
                            network_scheme list[NETWORK_SCHEMES_MAX]) {
  wf_diag silent = wf_diag_to(NULL);
  lister to = {.lowering = {.g = g, .array = array, .node = node, .diag = &silent}, .list = list};
  list_one(&to, (network_scheme){.way = NETWORK_BY_RULES});
  if (node->op != GRAPH_OP_QCONV) return to.count;
  wf_arena *arena = wf_arena_create();
  network_lower_index(&to.lowering, arena);
  list_conv(&to);
  wf_arena_destroy(arena);
  return to.count;
}

// False: the scheme is none of the node's.
bool network_conv_take_scheme(network_lowering *l, network_conv *c) {
  network_scheme legal[NETWORK_SCHEMES_MAX];
  const network_scheme given = network_lower_scheme(l);
  if (given.way == NETWORK_BY_RULES) return true;
  const size_t count = network_list_schemes(l->g, l->node, l->array, legal);
  size_t s = 0;
  while (s < count && !network_scheme_equal(&legal[s], &given)) s++;
  if (s == count)
    return network_lower_refuse(l, "the scheme %s is none of its own", network_scheme_text(&given, l->net->arena));
  set_scheme(c, &given);
  return true;
}
