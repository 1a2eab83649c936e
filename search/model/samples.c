// SPDX-License-Identifier: Apache-2.0
// Random layers, arrays and mappings: see samples.h.
#include "search/model/samples.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/random.h"
#include "compiler/layer/layer.h"

static const char *const judging_tables[] = {"resnet50", "bert", "retinanet", "deepbench"};

// Even over the logarithm.
static int64_t in_log(uint64_t *seed, int64_t low, int64_t high) {
  int64_t limit = low;
  while (2 * limit < high && !wf_random_one_in(seed, 4)) limit *= 2;
  return wf_random_in(seed, limit, 2 * limit < high ? 2 * limit : high);
}

static uint32_t power(uint64_t *seed, int low, int high) { return UINT32_C(1) << wf_random_in(seed, low, high); }

// ---- arrays

// What a search would change: side, memories, port and memory system around the defaults.
static void draw_parameters(uint64_t *seed, hw_array *a) {
  const int side = (int)wf_random_in(seed, 2, 5);
  hw_array_default(a);
  snprintf(a->name, sizeof a->name, "sample");
  a->mesh.rows = a->mesh.columns = UINT32_C(1) << side;
  a->types.output_bits = 21;
  a->scratchpad.capacity_kib = power(seed, side + 2, side + 5);
  a->accumulator.capacity_kib = power(seed, side, side + 3);
  a->scratchpad.banks = power(seed, 1, 3);
  a->scratchpad.single_ported = !wf_random_one_in(seed, 4);
  a->dma.bus_bits = power(seed, 6, 8);
  a->dma.reads_in_flight = power(seed, 3, 6);
  a->dma.writes_in_flight = a->dma.reads_in_flight;
  a->memory.bytes_per_cycle = power(seed, 2, 4);
  if (wf_random_one_in(seed, 3)) {
    a->memory.model = HW_MEMORY_FIXED;
    a->memory.latency_cycles = (uint32_t)wf_random_in(seed, 10, 200);
  }
  a->l2.present = !wf_random_one_in(seed, 6);
  a->l2.capacity_kib = power(seed, 7, 11);
  a->l2.bytes_per_cycle = a->dma.bus_bits / 8;
  a->l2.hit_latency = (uint32_t)wf_random_in(seed, 6, 40);
}

static bool is_legal(const hw_array *array) {
  FILE *null = fopen("/dev/null", "w");
  if (null == NULL) return false;
  wf_diag diag = wf_diag_to(null);
  const bool legal = hw_array_check(array, NULL, &diag);
  fclose(null);
  return legal;
}

static void draw_array(uint64_t *seed, hw_array *array) {
  do draw_parameters(seed, array);
  while (!is_legal(array));
}

// ---- layers

static map_layer random_product(uint64_t *seed) {
  map_layer layer = {.kind = MAP_GEMM, .result_bytes = 1, .groups = 1};
  for (int d = 0; d < BLOCK_DIMS; d++) layer.size[d] = 1;
  layer.size[BLOCK_DIM_P] = in_log(seed, 2, 1024);
  layer.size[BLOCK_DIM_K] = in_log(seed, 4, 1024);
  layer.size[BLOCK_DIM_C] = in_log(seed, 4, 1024);
  return layer;
}

static map_layer random_convolution(uint64_t *seed) {
  map_layer layer = {.kind = MAP_CONV, .result_bytes = 1, .groups = 1};
  const int64_t window = 2 * wf_random_in(seed, 0, 2) + 1;
  layer.size[BLOCK_DIM_N] = 1;
  layer.size[BLOCK_DIM_P] = layer.size[BLOCK_DIM_Q] = wf_random_in(seed, 4, 60);
  layer.size[BLOCK_DIM_K] = in_log(seed, 8, 256);
  layer.size[BLOCK_DIM_C] = in_log(seed, 4, 256);
  layer.size[BLOCK_DIM_R] = layer.size[BLOCK_DIM_S] = window;
  layer.stride[0] = layer.stride[1] = wf_random_one_in(seed, 4) ? 2 : 1;
  for (int side = 0; side < 4; side++) layer.padding[side] = window / 2;
  return layer;
}

static map_layer table_layer(samples_source *source) {
  const layers_network *network = &source->networks[wf_random_in(&source->seed, 0, (int64_t)source->count - 1)];
  map_layer layer = layers_to_map(&network->layers[wf_random_in(&source->seed, 0, (int64_t)network->count - 1)]);
  if (layer.kind == MAP_CONV)
    for (int side = 0; side < 4; side++) layer.padding[side] = layer.size[BLOCK_DIM_R] / 2;
  return layer;
}

// Whether the kernel takes mappings of the layer as it is: that for few channels does not.
static bool is_ordinary(const map_layer *layer, const hw_array *array, wf_diag *diag) {
  const layer_desc described = layer_of_table(layer);
  layer_call call;
  return layer_call_of(&described, array, &call, diag) && (call.kernel == LAYER_CONV2D || call.kernel == LAYER_GEMM);
}

static bool has_right_size(const map_layer *layer, const hw_array *array) {
  const double side = hw_derive(array).dim;
  const double cycles = (double)map_macs(layer) / (side * side);
  return cycles >= SAMPLES_SHORTEST && cycles <= SAMPLES_LONGEST;
}

static void draw_layer(samples_source *source, const hw_array *array, map_layer *layer, wf_diag *diag) {
  do {
    if (source->set == SAMPLES_JUDGE)
      *layer = table_layer(source);
    else
      *layer = wf_random_one_in(&source->seed, 2) ? random_product(&source->seed) : random_convolution(&source->seed);
  } while (!has_right_size(layer, array) || !is_ordinary(layer, array, diag));
  layer->bias = wf_random_one_in(&source->seed, 3);
}

// ---- samples

bool samples_open(samples_source *source, samples_set set, uint64_t seed, wf_diag *diag) {
  *source = (samples_source){.set = set, .seed = 2 * seed + (set == SAMPLES_JUDGE)};
  if (set == SAMPLES_FIT) return true;
  for (size_t i = 0; i < sizeof judging_tables / sizeof *judging_tables; i++)
    if (!layers_load(&source->networks[source->count++], judging_tables[i], diag)) return false;
  return true;
}

void samples_close(samples_source *source) {
  for (size_t i = 0; i < source->count; i++) layers_release(&source->networks[i]);
}

void samples_draw(samples_source *source, samples_sample *s) {
  bool mapped = false;
  while (!mapped) {
    *s = (samples_sample){.by_default = wf_random_one_in(&source->seed, 4)};
    FILE *null = fopen("/dev/null", "w");
    wf_diag diag = wf_diag_to(null);
    draw_array(&source->seed, &s->array);
    draw_layer(source, &s->array, &s->layer, &diag);
    mapped = s->by_default ? map_default(&s->layer, &s->array, NULL, BLOCK_STYLE_PRIMITIVE, &s->mapping, &diag)
                           : map_random(&s->layer, &s->array, &source->seed, &s->mapping);
    fclose(null);
  }
}

void samples_draw_group(samples_source *source, samples_sample group[SAMPLES_GROUP]) {
  enum { BEST = 16 };
  map_mapping best[BEST];
  bool mapped = false;
  FILE *null = fopen("/dev/null", "w");
  wf_diag diag = wf_diag_to(null);
  while (!mapped) {
    samples_sample s = {.by_default = true};
    hw_array_default(&s.array);
    draw_layer(source, &s.array, &s.layer, &diag);
    s.layer.residual = wf_random_one_in(&source->seed, 4);
    const int64_t count = (int64_t)map_best(&s.layer, &s.array, NULL, BLOCK_STYLE_PRIMITIVE, best, BEST);
    for (int i = 0; i < SAMPLES_GROUP; i++) {
      group[i] = s;
      group[i].by_default = i < SAMPLES_GROUP - 1;
      if (group[i].by_default && count > 0)
        group[i].mapping = best[i == 0 ? 0 : wf_random_in(&source->seed, 0, count - 1)];
    }
    samples_sample *last = &group[SAMPLES_GROUP - 1];
    mapped = count > 0 && map_random(&last->layer, &last->array, &source->seed, &last->mapping);
  }
  fclose(null);
}

size_t samples_draw_family(samples_source *source, samples_sample *family, size_t count) {
  map_mapping best[MAP_BEST_MAX];
  size_t drawn = 0;
  FILE *null = fopen("/dev/null", "w");
  wf_diag diag = wf_diag_to(null);
  while (drawn < 2) {
    samples_sample s = {.by_default = true};
    draw_array(&source->seed, &s.array);
    draw_layer(source, &s.array, &s.layer, &diag);
    const size_t room = wf_min(3 * count / 4, (size_t)MAP_BEST_MAX);
    const size_t known = map_best(&s.layer, &s.array, NULL, BLOCK_STYLE_PRIMITIVE, best, room);
    for (drawn = 0; drawn < count; drawn++) {
      family[drawn] = s;
      family[drawn].by_default = drawn < known;
      if (drawn < known)
        family[drawn].mapping = best[drawn];
      else if (!map_random(&s.layer, &s.array, &source->seed, &family[drawn].mapping))
        break;
    }
  }
  if (null != NULL) fclose(null);
  return drawn;
}
