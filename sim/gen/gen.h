// SPDX-License-Identifier: Apache-2.0
// Random legal programs of accelerator commands, as data: an image of main memory and a list of commands and fences.
//
// A program is well defined on hardware (judge.h says what that means), ends by storing every local row that it wrote,
// and seeks trouble: commands of all kinds that share rows, banks and configuration. It depends on the seed, the array
// and the options alone, not on an engine.
#ifndef SIM_GEN_GEN_H
#define SIM_GEN_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hw/array.h"
#include "sim/engine.h"

typedef struct sim_gen_item {
  bool fence;  // wait until idle; `command` is nothing then
  arch_command command;
  uint32_t delay;  // cycles that pass before it
} sim_gen_item;

typedef struct sim_gen_program {
  const hw_array *array;
  uint64_t seed;
  uint8_t *image;  // of memory from ARCH_MEMORY_BASE on; everything that the program touches lies inside
  size_t image_bytes;
  sim_gen_item *items;
  size_t count, room;
} sim_gen_program;

// What a program may contain; the bits of sim_gen_options.without.
typedef enum {
  GEN_LOOP_WS,
  GEN_LOOP_CONV,
  GEN_RESADD,
  GEN_OS,
  GEN_POOL,
  GEN_IMAGE_STORE,  // the 1-D mvout
  GEN_SPAD_STORE,   // mvout to the scratchpad
  GEN_PIXEL_REPEAT,
  GEN_SCALE,   // of loads
  GEN_PACKED,  // loads of int4
  GEN_GATE,    // stores times rows of the scratchpad
  GEN_TRANSPOSE,
  GEN_NORM,
  GEN_EXECUTE_READS_ACC,
  GEN_EXECUTE_WRITES_SPAD,
  GEN_EXECUTE,
  GEN_COUNTER,
  GEN_FEATURES
} sim_gen_feature;
const char *sim_gen_feature_name(sim_gen_feature feature);

// What the middle of a program is drawn from; the bits of sim_gen_options.only.
typedef enum { GEN_LOADS, GEN_STORES, GEN_PRODUCTS, GEN_LOOPS, GEN_CONVS, GEN_CONFIGS, GEN_PARTS } sim_gen_part;
const char *sim_gen_part_name(sim_gen_part part);

typedef struct sim_gen_options {
  unsigned steps;    // about that many groups of commands; 0: drawn
  uint32_t without;  // bit per sim_gen_feature
  // Bit per sim_gen_part; 0: all. A program of parts keeps its middle apart from the loads that fill local memory
  // before it and the stores behind it, by fences.
  uint32_t only;
} sim_gen_options;

// The array is borrowed.
sim_gen_program *sim_gen_program_create(const hw_array *array, uint64_t seed, const sim_gen_options *options);
// The items of `from` that `kept` marks (NULL: all).
sim_gen_program *sim_gen_program_copy(const sim_gen_program *from, const bool *kept);
void sim_gen_program_destroy(sim_gen_program *program);

// A random array that hw_array_check accepts, small enough to be compiled and filled quickly.
void sim_gen_array(uint64_t seed, hw_array *array);
// Other main memory and L2 timing for the array, nothing else.
void sim_gen_memory_timing(uint64_t seed, hw_array *array);

#endif
