// SPDX-License-Identifier: Apache-2.0
// Mappings as Timeloop's: see nest.h.
#include "search/crosscheck/nest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "compiler/layer/layer.h"
#include "search/crosscheck/crosscheck.h"

static const struct {
  const char *target, *type;
  const char *keep, *bypass;  // NULL: no memory
} levels[NEST_LEVELS] = {
    [NEST_DRAM] = {"DRAM", "temporal", "Weights, Inputs, Outputs", ""},
    [NEST_SCRATCHPAD] = {"Scratchpad", "temporal", "Inputs, Weights", "Outputs"},
    [NEST_COLUMNS] = {"PEColumns", "spatial", NULL, NULL},
    [NEST_ACCUMULATOR] = {"Accumulator", "temporal", "Outputs", "Inputs, Weights"},
    [NEST_ROWS] = {"PERows", "spatial", NULL, NULL},
    [NEST_REGISTERS] = {"Registers", "temporal", "Weights", "Inputs, Outputs"},
};

// ---- from a mapping

// The first position whose loops are inside of the scratchpad.
static int boundary(const map_mapping *m) { return wf_max(m->residency[MAP_WEIGHTS], m->residency[MAP_INPUTS]); }

// Loops from the outermost to the innermost, each dimension once in a level.
static void take_loops(crosscheck_nest *nest, crosscheck_nest_level level, int first, int end) {
  bool seen[BLOCK_DIMS] = {false};
  int count = 0;
  for (int p = first; p < end; p++) {
    const block_dim_id dim = map_loop_dim(&nest->mapping, p);
    const int64_t trips = map_loop_trips(&nest->mapping, p);
    nest->merged |= trips > 1 && nest->factor[level][dim] > 1;
    nest->factor[level][dim] *= trips;
    if (trips == 1 || seen[dim]) continue;
    seen[dim] = true;
    nest->order[level][BLOCK_DIMS - ++count] = (uint8_t)dim;
  }
  for (int dim = 0; dim < BLOCK_DIMS; dim++)
    if (!seen[dim]) nest->order[level][BLOCK_DIMS - ++count] = (uint8_t)dim;
}

static void take_tile(crosscheck_nest *nest, int64_t side) {
  const int64_t *tile = nest->mapping.tile;
  static const struct {
    block_dim_id dim;
    crosscheck_nest_level level;
  } sides[] = {{BLOCK_DIM_K, NEST_COLUMNS}, {BLOCK_DIM_C, NEST_ROWS}};
  for (int dim = 0; dim < BLOCK_DIMS; dim++) nest->factor[NEST_REGISTERS][dim] = tile[dim];
  for (size_t s = 0; s < sizeof sides / sizeof *sides; s++) {
    const block_dim_id dim = sides[s].dim;
    nest->factor[sides[s].level][dim] = wf_min(side, tile[dim]);
    nest->factor[NEST_ACCUMULATOR][dim] = wf_ceil_div(tile[dim], side);
    nest->factor[NEST_REGISTERS][dim] = 1;
  }
}

// Whether weights or inputs stay through loops that Timeloop counts as loads of them: those between the position where
// they are loaded and the boundary, as far as they change with any.
static bool stays(const map_layer *layer, const map_mapping *m) {
  bool any = false;
  for (int operand = 0; operand < MAP_RESULTS; operand++)
    for (int p = m->residency[operand]; p < boundary(m); p++)
      any |= map_loop_trips(m, p) > 1 && map_uses(layer->kind, (map_operand)operand, map_loop_dim(m, p));
  return any;
}

static void take_mapping(crosscheck_nest *nest, const map_layer *layer, int64_t side) {
  for (int level = 0; level < NEST_LEVELS; level++)
    for (int dim = 0; dim < BLOCK_DIMS; dim++) {
      nest->factor[level][dim] = 1;
      nest->order[level][dim] = (uint8_t)dim;
    }
  take_loops(nest, NEST_DRAM, 0, boundary(&nest->mapping));
  take_loops(nest, NEST_SCRATCHPAD, boundary(&nest->mapping), MAP_POSITIONS);
  take_tile(nest, side);
  nest->stays = stays(layer, &nest->mapping);
  for (int dim = 0; dim < BLOCK_DIMS; dim++) {
    nest->size[dim] = 1;
    for (int level = 0; level < NEST_LEVELS; level++) nest->size[dim] *= nest->factor[level][dim];
  }
}

// ---- from a layer

static bool can_say(const layers_layer *layer, const hw_array *array, wf_diag *diag) {
  const map_layer map = layers_to_map(layer);
  const char *why = array->mesh.dataflow == HW_DATAFLOW_OS                                 ? "results stay in the mesh"
                    : map.kind != MAP_GEMM && map.kind != MAP_GEMV && map.kind != MAP_CONV ? map_kind_names[map.kind]
                                                                                           : NULL;
  if (why != NULL) wf_error(diag, wf_in_file(layer->name), "has no mapping of Timeloop (%s)", why);
  return why == NULL;
}

static bool covers(const int64_t *size, const layers_layer *layer) {
  bool all = true;
  for (int dim = 0; dim < BLOCK_DIMS; dim++) all &= size[dim] >= layer->size[dim];
  return all;
}

bool crosscheck_nest_of(const layers_layer *layer, const hw_array *array, crosscheck_nest *nest, wf_diag *diag) {
  if (!can_say(layer, array, diag)) return false;
  const map_layer map = layers_to_map(layer);
  const layer_policy policy = {.straight = true};
  compile_result compiled = {0};
  *nest = (crosscheck_nest){0};
  bool good = layer_compile(&map, array, &policy, &compiled, diag);
  if (good) {
    nest->mapping = compiled.mapping;
    if (compiled.mapped) take_mapping(nest, &compiled.layer, hw_derive(array).dim);
    good = compiled.mapped && nest->mapping.dataflow == BLOCK_WS && covers(nest->size, layer);
    if (!good)
      wf_error(diag, wf_in_file(layer->name), "has no mapping of Timeloop (its kernel computes another shape)");
  }
  compile_release(&compiled);
  return good;
}

// ---- text

static void write_factors(const crosscheck_nest *nest, crosscheck_nest_level level, FILE *out) {
  fputs("    factors: [", out);
  for (int dim = 0; dim < BLOCK_DIMS; dim++)
    fprintf(out, "%s%s=%" PRId64, dim == 0 ? "" : ", ", crosscheck_dims[dim], nest->factor[level][dim]);
  fputs("]\n    permutation: [", out);
  for (int i = 0; i < BLOCK_DIMS; i++) fprintf(out, "%s%s", i == 0 ? "" : ", ", crosscheck_dims[nest->order[level][i]]);
  fputs("]\n", out);
}

static void write_level(const crosscheck_nest *nest, crosscheck_nest_level level, FILE *out) {
  if (levels[level].keep != NULL)
    fprintf(out, "  - target: %s\n    type: dataspace\n    keep: [%s]\n    bypass: [%s]\n", levels[level].target,
            levels[level].keep, levels[level].bypass);
  fprintf(out, "  - target: %s\n    type: %s\n", levels[level].target, levels[level].type);
  write_factors(nest, level, out);
  if (level == NEST_COLUMNS) fprintf(out, "    split: %d\n", BLOCK_DIMS);
  if (level == NEST_ROWS) fputs("    split: 0\n", out);
}

// The mapping itself, as a comment.
static void write_origin(const crosscheck_nest *nest, FILE *out) {
  char *text = NULL;
  size_t length;
  FILE *memory = open_memstream(&text, &length);
  map_print(&nest->mapping, memory);
  fclose(memory);
  for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
    fprintf(out, "#   %.*s\n", (int)strcspn(line, "\n"), line);
  free(text);
}

void crosscheck_write_nest(const crosscheck_nest *nest, FILE *out) {
  fputs("# The mapping that the layer was compiled with:\n", out);
  write_origin(nest, out);
  if (nest->merged) fputs("# Two loops over a dimension are one here, in the place of the outer one.\n", out);
  if (nest->stays) fputs("# One operand stays longer than here: Timeloop reads it more often from main memory.\n", out);
  fputs("mapping:\n", out);
  for (int level = 0; level < NEST_LEVELS; level++) write_level(nest, (crosscheck_nest_level)level, out);
}
