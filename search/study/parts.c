// SPDX-License-Identifier: Apache-2.0
// Cuts a study into sweeps: see parts.h. The order is that of mappings, then of sides, both as the text has them.
#include "search/study/parts.h"

#include <string.h>

#include "hw/array.h"

// How many of the first `end` compressions have layers of their own.
static size_t count_made(const study_spec *spec, size_t end) {
  size_t count = 0;
  for (size_t c = 0; c < end; c++) count += spec->compressions[c].kind != STUDY_WEIGHT;
  return count;
}

size_t study_part_network(const study_spec *spec, size_t network, size_t compression, size_t lowering) {
  const size_t made = count_made(spec, spec->compression_count),
               own = spec->compressions[compression].kind == STUDY_WEIGHT ? 0 : count_made(spec, compression);
  return (network * made + own) * spec->lowering_count + lowering;
}

static unsigned side_of(const study_spec *spec, size_t point) {
  const hw_array array = sweep_point(&spec->base, point);
  return hw_derive(&array).dim;
}

// ---- networks

static void add_network(const study_spec *spec, study_part *part, size_t network, size_t compression, wf_arena *arena) {
  const study_compression *c = &spec->compressions[compression];
  if (c->kind == STUDY_WEIGHT) return;
  for (size_t l = 0; l < spec->lowering_count; l++)
    part->spec.networks[study_part_network(spec, network, compression, l)] =
        study_variant(&spec->networks[network], c, spec->lowerings[l], part->side, arena, NULL);
}

static void add_networks(const study_spec *spec, study_part *part, wf_arena *arena) {
  part->spec.network_count = study_part_network(spec, spec->network_count, 0, 0);
  part->spec.networks = WF_ARENA_ARRAY(arena, part->spec.network_count, layers_network);
  for (size_t n = 0; n < spec->network_count; n++)
    for (size_t c = 0; c < spec->compression_count; c++) add_network(spec, part, n, c, arena);
}

// ---- arrays

static void add_points(const study_spec *spec, study_part *part, wf_arena *arena) {
  const size_t points = sweep_point_count(&spec->base);
  part->points = WF_ARENA_ARRAY(arena, points, size_t);
  part->spec.arrays = WF_ARENA_ARRAY(arena, points, hw_array);
  for (size_t p = 0; p < points; p++) {
    if (side_of(spec, p) != part->side) continue;
    part->points[part->spec.array_count] = p;
    part->spec.arrays[part->spec.array_count++] = sweep_point(&spec->base, p);
  }
}

static size_t list_sides(const study_spec *spec, unsigned *sides) {
  size_t count = 0;
  for (size_t p = 0; p < sweep_point_count(&spec->base); p++) {
    const unsigned side = side_of(spec, p);
    size_t at = 0;
    while (at < count && sides[at] != side) at++;
    if (at == count) sides[count++] = side;
  }
  return count;
}

// ---- parts

static void name_part(const study_spec *spec, study_part *part, wf_arena *arena) {
  const sweep_policy_text policy = study_policy(spec, part->mapping);
  char *file = wf_arena_format(arena, "%s-dim%u.sqlite", policy.text, part->side);
  for (char *at = file; *at != '\0'; at++)
    if (*at == ' ') *at = '-';
  part->file = file;
  part->spec.name = wf_arena_format(arena, "%s, %s, side %u", spec->base.name, policy.text, part->side);
}

static void make_part(const study_spec *spec, size_t mapping, unsigned side, study_part *part, wf_arena *arena) {
  *part = (study_part){.mapping = mapping, .side = side, .spec = spec->base};
  part->spec.sample = SWEEP_LIST;
  part->spec.axis_count = 0;
  part->spec.array_count = 0;
  part->spec.tune = spec->mappings[mapping].tune;
  part->spec.searched = spec->mappings[mapping].searched;
  add_points(spec, part, arena);
  add_networks(spec, part, arena);
  name_part(spec, part, arena);
}

study_parts study_parts_of(const study_spec *spec) {
  study_parts parts = {.arena = wf_arena_create()};
  unsigned *sides = WF_ARENA_ARRAY(parts.arena, sweep_point_count(&spec->base) + 1, unsigned);
  const size_t count = list_sides(spec, sides);
  parts.part = WF_ARENA_ARRAY(parts.arena, spec->mapping_count * count + 1, study_part);
  for (size_t m = 0; m < spec->mapping_count; m++)
    for (size_t s = 0; s < count; s++) make_part(spec, m, sides[s], &parts.part[parts.count++], parts.arena);
  return parts;
}

void study_parts_release(study_parts *parts) {
  wf_arena_destroy(parts->arena);
  *parts = (study_parts){0};
}
