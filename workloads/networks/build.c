// SPDX-License-Identifier: Apache-2.0
// Tensors, nodes and random numbers of the generators: see build.h.
#include "workloads/networks/build.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "workloads/networks/prune.h"

// xorshift64*: 53 bits of its upper half.
static double random_unit(net *n) {
  n->random ^= n->random >> 12;
  n->random ^= n->random << 25;
  n->random ^= n->random >> 27;
  return (double)((n->random * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53;
}

double net_uniform(net *n, double low, double high) { return low + (high - low) * random_unit(n); }

// The sum of four uniform numbers: no logarithm, so the same bits everywhere, and tails of 3.5 deviations.
double net_normal(net *n) {
  double sum = random_unit(n) + random_unit(n) + random_unit(n) + random_unit(n);
  return (sum - 2) * 1.7320508075688772;
}

int64_t net_width(const net *n, int64_t channels) {
  int64_t width = channels / n->options.divisor / 4 * 4;
  return n->options.divisor == 1 ? channels : width < 4 ? 4 : width;
}

const graph_tensor *net_tensor(const net *n, int tensor) { return &n->g->tensors[tensor]; }

void net_prefix(net *n, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(n->prefix, sizeof n->prefix, format, args);
  va_end(args);
}

static int add_tensor(net *n, const char *name, graph_type type, int rank, const int64_t *dims, const void *data,
                      double power) {
  graph_tensor tensor = {
      .name = wf_arena_format(n->g->arena, "%s%s", n->prefix, name), .type = type, .rank = rank, .data = data};
  for (int i = 0; i < rank; i++) tensor.dim[i] = dims[i];
  const int index = graph_add_tensor(n->g, &tensor);
  assert((size_t)index == n->power_count);
  *WF_ARENA_PUSH(n->g->arena, n->power, n->power_count, &n->power_room) = power;
  return index;
}

static int *append(net *n, const int *tensors, int count, int tensor) {
  int *longer = WF_ARENA_ARRAY(n->g->arena, (size_t)count + 1, int);
  if (count != 0) memcpy(longer, tensors, (size_t)count * sizeof *longer);
  longer[count] = tensor;
  return longer;
}

int net_input(net *n, const char *name, int rank, const int64_t *dims) {
  graph *g = n->g;
  const int tensor = add_tensor(n, name, GRAPH_F32, rank, dims, NULL, 1);
  graph_set_ends(g, append(n, g->inputs, g->input_count, tensor), g->input_count + 1, g->outputs, g->output_count);
  return tensor;
}

static size_t element_count(int rank, const int64_t *dims) {
  size_t count = 1;
  for (int i = 0; i < rank; i++) count *= (size_t)dims[i];
  return count;
}

int net_weights(net *n, const char *name, int rank, const int64_t *dims, double deviation) {
  const size_t count = element_count(rank, dims);
  float *values = WF_ARENA_ARRAY(n->g->arena, count, float);
  for (size_t i = 0; i < count; i++) values[i] = (float)(deviation * net_normal(n));
  return add_tensor(n, name, GRAPH_F32, rank, dims, values, deviation * deviation);
}

int net_floats(net *n, const char *name, int rank, const int64_t *dims, const float *values) {
  const size_t count = element_count(rank, dims);
  float *copy = WF_ARENA_ARRAY(n->g->arena, count, float);
  double square = 0;
  for (size_t i = 0; i < count; i++) square += (double)(copy[i] = values[i]) * values[i];
  return add_tensor(n, name, GRAPH_F32, rank, dims, copy, square / (double)count);
}

int net_number(net *n, const char *name, double value) {
  float number = (float)value;
  return net_floats(n, name, 0, NULL, &number);
}

int net_ints(net *n, const char *name, const int64_t *values, int count) {
  int64_t *copy = WF_ARENA_ARRAY(n->g->arena, (size_t)count, int64_t);
  memcpy(copy, values, (size_t)count * sizeof *values);
  return add_tensor(n, name, GRAPH_I64, 1, (int64_t[]){count}, copy, 0);
}

int net_node(net *n, graph_op op, const char *name, const int *inputs, int input_count, int rank, const int64_t *dims,
             double power) {
  const int out = add_tensor(n, name, GRAPH_F32, rank, dims, NULL, power);
  graph_add_node(n->g, op, net_tensor(n, out)->name, inputs, input_count, &out, 1);
  return out;
}

graph_node *net_last(net *n) { return &n->g->nodes[n->g->node_count - 1]; }

void net_output(net *n, int tensor) {
  graph *g = n->g;
  graph_set_ends(g, g->inputs, g->input_count, append(n, g->outputs, g->output_count, tensor), g->output_count + 1);
}

static const struct {
  networks_row row;
  net_function build;
} rows[] = {
#define NETWORK(name, function, size, sequence, layers, multiple, description) \
  {{name, description, size, sequence, layers, multiple}, function},
#include "workloads/networks/networks.def"
#undef NETWORK
};

size_t networks_count(void) { return sizeof rows / sizeof rows[0]; }

const networks_row *networks_at(size_t index) { return &rows[index].row; }

const networks_row *networks_find(const char *name) {
  for (size_t i = 0; i < networks_count(); i++)
    if (strcmp(rows[i].row.name, name) == 0) return &rows[i].row;
  return NULL;
}

// One option against its default: 0 becomes the default; one that the network does not have is refused.
static bool set_option(const char *network, const char *option, int64_t *value, int64_t by_default, wf_diag *diag) {
  if (*value == 0) {
    *value = by_default;
    return true;
  }
  if (by_default == 0) {
    wf_error(diag, wf_in_file(network), "this network has no option --%s", option);
    return false;
  }
  if (*value > 0 && *value <= 1 << 16) return true;
  wf_error(diag, wf_in_file(network), "--%s must be from 1 to 65536", option);
  return false;
}

// Networks that decode: their attention takes a cache.
static bool has_cache(net_function build) { return build == net_gpt2 || build == net_llama2 || build == net_llama3; }

static bool set_past(const networks_row *row, bool caches, networks_options *o, wf_diag *diag) {
  if (o->past == 0) {
    o->present = false;
    return true;
  }
  if (!caches) {
    wf_error(diag, wf_in_file(row->name), "this network has no option --past");
    return false;
  }
  if (o->sequence == 0) o->sequence = 1;
  if (o->past > 0 && o->past <= 1 << 16) return true;
  wf_error(diag, wf_in_file(row->name), "--past must be from 1 to 65536");
  return false;
}

static bool set_options(const networks_row *row, networks_options *o, wf_diag *diag) {
  if (!set_option(row->name, "size", &o->size, row->size, diag) ||
      !set_option(row->name, "seq", &o->sequence, row->sequence, diag) ||
      !set_option(row->name, "depth", &o->layers, row->layers, diag) ||
      !set_option(row->name, "batch", &o->batch, 1, diag) || !set_option(row->name, "divisor", &o->divisor, 1, diag))
    return false;
  if (o->size % row->size_multiple == 0) return true;
  wf_error(diag, wf_in_file(row->name), "--size must be a multiple of %d", (int)row->size_multiple);
  return false;
}

graph *networks_create(const char *name, const networks_options *options, wf_diag *diag) {
  const networks_row *row = networks_find(name);
  if (row == NULL) {
    wf_error(diag, wf_in_file(name), "unknown network");
    wf_hint(diag, "weft net --list names the networks");
    return NULL;
  }
  net n = {.options = *options, .random = options->seed * UINT64_C(0x9e3779b97f4a7c15) + 0x1234567};
  net_function build = NULL;
  for (size_t i = 0; i < networks_count(); i++)
    if (row == &rows[i].row) build = rows[i].build;
  if (!set_past(row, has_cache(build), &n.options, diag) || !set_options(row, &n.options, diag)) return NULL;
  networks_pruning pruning;
  if (options->prune != NULL && !networks_read_pruning(options->prune, options->seed, &pruning, diag)) return NULL;
  if (n.random == 0) n.random = 1;
  n.g = graph_create(row->name);
  build(&n);
  if (options->prune != NULL) networks_prune(&pruning, n.g);
  return n.g;
}
