// SPDX-License-Identifier: Apache-2.0
// The reader of Timeloop's problems: convolutions over C, M or K, R, S, N, P, Q with strides and dilations, and
// products over M, N, K.
//
//   problem:
//     shape: {name: cnn, dimensions: [C, M, R, S, N, P, Q], coefficients: [{name: Wstride, default: 1}, ..],
//             data-spaces: [{name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}, ..]}
//     instance: {C: 3, M: 64, R: 7, S: 7, P: 112, Q: 112, Wstride: 2, Hstride: 2}
//
// A shape may also be a name; sizes may stand beside it without `instance`. A shape that is neither a convolution nor a
// product (by its data spaces: which dimensions each of them has) is refused, and so is what says that operands are
// sparse: such a problem is another one. R and P are the axis of Wstride, S and Q that of Hstride.
#include "search/layers/timeloop.h"

#include <string.h>

enum { SIZE_LARGEST = 1 << 24, DENSE_SPACES = 3 };

// What the names of dimensions mean here.
typedef struct dim_name {
  const char *name;
  block_dim_id conv, product;  // BLOCK_DIMS: it has none
} dim_name;
static const dim_name dim_names[] = {
    {"C", BLOCK_DIM_C, BLOCK_DIMS}, {"M", BLOCK_DIM_K, BLOCK_DIM_P}, {"K", BLOCK_DIM_K, BLOCK_DIM_C},
    {"R", BLOCK_DIM_R, BLOCK_DIMS}, {"S", BLOCK_DIM_S, BLOCK_DIMS},  {"N", BLOCK_DIM_N, BLOCK_DIM_K},
    {"P", BLOCK_DIM_P, BLOCK_DIMS}, {"Q", BLOCK_DIM_Q, BLOCK_DIMS},
};
enum { DIM_NAMES = sizeof dim_names / sizeof *dim_names };

typedef struct problem {
  wf_diag *diag;
  layers_layer layer;
  bool is_product;
  unsigned dims;  // of the problem, a bit per block_dim_id
} problem;

static bool refuse(const problem *p, const hw_yaml_node *node, const char *what) {
  wf_error(p->diag, node->where, "%s", what);
  return false;
}

static unsigned bit(block_dim_id dim) { return 1U << dim; }

static block_dim_id dim_of(const problem *p, const char *name) {
  for (size_t i = 0; i < DIM_NAMES; i++)
    if (strcmp(dim_names[i].name, name) == 0) return p->is_product ? dim_names[i].product : dim_names[i].conv;
  return BLOCK_DIMS;
}

// Wstride, Hstride, Wdilation, Hdilation; NULL: none of them.
static int64_t *coefficient_of(problem *p, const char *name) {
  if (strcmp(name, "Wstride") == 0) return &p->layer.stride[0];
  if (strcmp(name, "Hstride") == 0) return &p->layer.stride[1];
  if (strcmp(name, "Wdilation") == 0) return &p->layer.dilation[0];
  return strcmp(name, "Hdilation") == 0 ? &p->layer.dilation[1] : NULL;
}

// ---- the shape

static const hw_yaml_node *find_either(const hw_yaml_node *map, const char *name, const char *other) {
  const hw_yaml_node *node = hw_yaml_tree_find(map, name);
  return node != NULL ? node : hw_yaml_tree_find(map, other);
}

static bool read_coefficients(problem *p, const hw_yaml_node *shape) {
  static const char *const keys[] = {"name", "default", NULL};
  const hw_yaml_node *list = hw_yaml_tree_find(shape, "coefficients");
  if (list == NULL) return true;
  if (!hw_yaml_tree_is(list, YAML_TREE_LIST, "coefficients", p->diag)) return false;
  for (const hw_yaml_node *node = list->first; node != NULL; node = node->next) {
    if (!hw_yaml_tree_is(node, YAML_TREE_MAP, "a coefficient", p->diag) ||
        !hw_yaml_tree_keys(node, "a coefficient", keys, p->diag))
      return false;
    const hw_yaml_node *name = hw_yaml_tree_find(node, "name"), *value = hw_yaml_tree_find(node, "default");
    const char *text = name == NULL ? NULL : hw_yaml_tree_text(name, "a coefficient's name", p->diag);
    if (name == NULL) return refuse(p, node, "a coefficient has a name");
    int64_t *to = text == NULL ? NULL : coefficient_of(p, text);
    if (to == NULL) return refuse(p, name, "coefficients are Wstride, Hstride, Wdilation, Hdilation");
    if (value != NULL && !hw_yaml_tree_integer(value, text, 1, SIZE_LARGEST, to, p->diag)) return false;
  }
  return true;
}

static bool read_dims(problem *p, const hw_yaml_node *shape) {
  const hw_yaml_node *list = hw_yaml_tree_find(shape, "dimensions");
  if (list == NULL) return true;
  if (!hw_yaml_tree_is(list, YAML_TREE_LIST, "dimensions", p->diag)) return false;
  for (const hw_yaml_node *node = list->first; node != NULL; node = node->next) {
    const char *name = hw_yaml_tree_text(node, "a dimension", p->diag);
    const block_dim_id dim = name == NULL ? BLOCK_DIMS : dim_of(p, name);
    if (dim == BLOCK_DIMS) return refuse(p, node, "no dimension of a convolution or a product");
    if ((p->dims & bit(dim)) != 0) return refuse(p, node, "this dimension appears twice");
    p->dims |= bit(dim);
  }
  return true;
}

// The dimensions that a projection names, at any depth.
static unsigned dims_in(const problem *p, const hw_yaml_node *node) {
  if (node->kind == YAML_TREE_SCALAR) {
    const block_dim_id dim = dim_of(p, node->text);
    return dim == BLOCK_DIMS ? 0 : bit(dim);
  }
  unsigned dims = 0;
  for (const hw_yaml_node *entry = node->first; entry != NULL; entry = entry->next) dims |= dims_in(p, entry);
  return dims;
}

// Three data spaces, and each dimension in the spaces that have it in a convolution.
static bool check_spaces(const problem *p, const hw_yaml_node *shape) {
  const unsigned weights = bit(BLOCK_DIM_C) | bit(BLOCK_DIM_K) | bit(BLOCK_DIM_R) | bit(BLOCK_DIM_S);
  const unsigned outputs = bit(BLOCK_DIM_N) | bit(BLOCK_DIM_K) | bit(BLOCK_DIM_P) | bit(BLOCK_DIM_Q);
  const unsigned inputs = (weights | outputs) & ~bit(BLOCK_DIM_K);
  const unsigned expected[DENSE_SPACES] = {weights & p->dims, inputs & p->dims, outputs & p->dims};
  const hw_yaml_node *list = find_either(shape, "data-spaces", "data_spaces");
  if (list == NULL) return true;
  if (!hw_yaml_tree_is(list, YAML_TREE_LIST, "data-spaces", p->diag)) return false;
  bool seen[DENSE_SPACES] = {false}, good = list->count == DENSE_SPACES;
  for (const hw_yaml_node *node = list->first; node != NULL && good; node = node->next) {
    if (!hw_yaml_tree_is(node, YAML_TREE_MAP, "a data space", p->diag)) return false;
    const hw_yaml_node *projection = hw_yaml_tree_find(node, "projection");
    const unsigned dims = projection == NULL ? 0 : dims_in(p, projection);
    int which = 0;
    while (which < DENSE_SPACES && (seen[which] || expected[which] != dims)) which++;
    good = which < DENSE_SPACES;
    if (good) seen[which] = true;
  }
  return good || refuse(p, list, "the data spaces are neither those of a convolution nor of a product");
}

static bool read_shape(problem *p, const hw_yaml_node *shape) {
  static const char *const keys[] = {"name",        "version",     "dimensions", "coefficients",
                                     "data-spaces", "data_spaces", NULL};
  if (shape == NULL || shape->kind == YAML_TREE_SCALAR) return true;
  return hw_yaml_tree_is(shape, YAML_TREE_MAP, "a shape", p->diag) &&
         hw_yaml_tree_keys(shape, "a shape", keys, p->diag) && read_dims(p, shape) && read_coefficients(p, shape) &&
         check_spaces(p, shape);
}

// ---- the instance

static bool read_sizes(problem *p, const hw_yaml_node *map) {
  unsigned seen = 0;
  for (const hw_yaml_node *node = map->first; node != NULL; node = node->next) {
    if (strcmp(node->key, "shape") == 0 || strcmp(node->key, "version") == 0 || strcmp(node->key, "name") == 0)
      continue;
    const block_dim_id dim = dim_of(p, node->key);
    int64_t *to = dim == BLOCK_DIMS ? coefficient_of(p, node->key) : &p->layer.size[dim];
    if (to == NULL) {
      wf_error(p->diag, node->key_where, "'%s' is no dimension or coefficient of a convolution or a product",
               node->key);
      return false;
    }
    if (dim != BLOCK_DIMS && (seen & bit(dim)) != 0) return refuse(p, node, "M and K are both results");
    if (dim != BLOCK_DIMS && p->dims != 0 && (p->dims & bit(dim)) == 0)
      return refuse(p, node, "not one of the shape's dimensions");
    if (dim != BLOCK_DIMS) seen |= bit(dim);
    if (!hw_yaml_tree_integer(node, node->key, 1, SIZE_LARGEST, to, p->diag)) return false;
  }
  return seen != 0 || refuse(p, map, "a problem without sizes");
}

// A stride or dilation along an axis without extent says nothing.
static void simplify(layers_layer *layer) {
  static const block_dim_id along[2][2] = {{BLOCK_DIM_P, BLOCK_DIM_R}, {BLOCK_DIM_Q, BLOCK_DIM_S}};
  for (int axis = 0; axis < 2; axis++) {
    if (layer->size[along[axis][0]] == 1) layer->stride[axis] = 1;
    if (layer->size[along[axis][1]] == 1) layer->dilation[axis] = 1;
  }
}

// A product has M, N, K and nothing of a convolution.
static bool is_product(const hw_yaml_node *map) {
  static const char *const window[] = {"C", "R", "S", "P", "Q"};
  for (size_t i = 0; i < sizeof window / sizeof *window; i++)
    if (hw_yaml_tree_find(map, window[i]) != NULL) return false;
  return hw_yaml_tree_find(map, "M") != NULL && hw_yaml_tree_find(map, "K") != NULL;
}

// ---- the file

bool layers_timeloop_is(const hw_yaml_node *root) {
  return root->kind == YAML_TREE_MAP && hw_yaml_tree_find(root, "problem") != NULL;
}

bool layers_timeloop_read(layers_network *network, const char *name, const hw_yaml_node *root, wf_diag *diag) {
  static const char *const root_keys[] = {"problem", NULL}, *const problem_keys[] = {"version", "shape", "instance",
                                                                                     NULL};
  problem p = {
      .diag = diag,
      .layer = {.name = name, .size = {1, 1, 1, 1, 1, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1}};
  const hw_yaml_node *map = hw_yaml_tree_find(root, "problem");
  if (!hw_yaml_tree_keys(root, "a file with a problem", root_keys, diag) ||
      !hw_yaml_tree_is(map, YAML_TREE_MAP, "a problem", diag))
    return false;
  const hw_yaml_node *instance = hw_yaml_tree_find(map, "instance"), *sizes = instance == NULL ? map : instance;
  if (instance != NULL && (!hw_yaml_tree_keys(map, "a problem", problem_keys, diag) ||
                           !hw_yaml_tree_is(instance, YAML_TREE_MAP, "instance", diag)))
    return false;
  p.is_product = is_product(sizes);
  if (!read_shape(&p, hw_yaml_tree_find(map, "shape")) || !read_sizes(&p, sizes)) return false;
  simplify(&p.layer);
  network->name = name;
  network->layers = WF_ARENA_ARRAY(network->arena, 1, layers_layer);
  network->layers[network->count++] = p.layer;
  return true;
}
