// SPDX-License-Identifier: Apache-2.0
// The points of a sweep: which value each axis has in point number `index`. Every point is computed by itself, so a
// sweep can be resumed anywhere.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/random.h"
#include "search/sweep/spec.h"

static uint64_t mix(uint64_t state) { return wf_random_next(&state); }

// A number below `bound`, the same for the same arguments.
static uint64_t drawn(uint64_t seed, uint64_t axis, uint64_t index, uint64_t bound) {
  return mix(mix(mix(seed) ^ axis) ^ index) % bound;
}

// Where `index` goes in a permutation of [0, count): four rounds of a Feistel network over the next power of four,
// walked until it comes back into the range. So a point of a Latin sample needs no table of the others.
static uint64_t permuted(uint64_t seed, uint64_t axis, uint64_t index, uint64_t count) {
  unsigned half = 1;
  while ((UINT64_C(1) << 2 * half) < count) half++;
  const uint64_t mask = (UINT64_C(1) << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < 4; round++) {
      const uint64_t next = left ^ (mix(mix(seed) ^ mix(axis * 4 + round) ^ right) & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}

uint64_t sweep_program_hash(const sweep_spec *spec, const layers_program *program) {
  const uint64_t parts[2] = {program->hash, spec->all_steps};
  return wf_hash(wf_hash(WF_HASH_START, parts, sizeof parts), program->name, strlen(program->name));
}

size_t sweep_point_count(const sweep_spec *spec) {
  if (spec->sample == SWEEP_LIST) return spec->array_count;
  if (spec->sample != SWEEP_GRID) return spec->count;
  size_t count = 1;
  for (size_t a = 0; a < spec->axis_count && count <= SWEEP_POINTS_MAX; a++) count *= spec->axes[a].value_count;
  return count;
}

// The place of the value that an axis has in a point. A grid counts its last axis fastest. A Latin sample has each of
// `count` strata of an axis once.
static size_t value_at(const sweep_spec *spec, size_t axis, size_t index) {
  const size_t values = spec->axes[axis].value_count;
  switch (spec->sample) {
    case SWEEP_RANDOM:
      return drawn(spec->seed, axis, index, values);
    case SWEEP_LATIN:
      return permuted(spec->seed, axis, index, spec->count) * values / spec->count;
    default:
      for (size_t a = spec->axis_count; --a > axis;) index /= spec->axes[a].value_count;
      return index % values;
  }
}

static hw_array array_at(const sweep_spec *spec, size_t index) {
  if (spec->sample == SWEEP_LIST) return spec->arrays[index];
  hw_array array = spec->base;
  for (size_t a = 0; a < spec->axis_count; a++) sweep_axis_set(&spec->axes[a], value_at(spec, a, index), &array);
  return array;
}

// A point that is not its base has a name of its own, so that what is made of it does not pass for the base.
static void name_point(const sweep_spec *spec, hw_array *array) {
  const uint64_t hash = hw_array_hash(array);
  char name[HW_NAME_MAX];
  if (spec->sample == SWEEP_LIST || hash == hw_array_hash(&spec->base)) return;
  snprintf(name, sizeof name, "%.*s-%08" PRIx32, HW_NAME_MAX - 10, array->name, (uint32_t)(hash >> 32));
  memcpy(array->name, name, sizeof name);
  array->description[0] = '\0';
}

hw_array sweep_point(const sweep_spec *spec, size_t index) {
  hw_array array = array_at(spec, index);
  name_point(spec, &array);
  array.tech = spec->tech;
  return array;
}

sweep_policy_text sweep_policy(const sweep_spec *spec) {
  sweep_policy_text policy = {"default"};
  if (spec->tune > 1) snprintf(policy.text, sizeof policy.text, "tune %u", spec->tune);
  if (spec->searched > 0)
    snprintf(policy.text, sizeof policy.text, "search %u %s", spec->searched,
             descent_plain_objective_names[spec->objective]);
  return policy;
}
