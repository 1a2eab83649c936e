// SPDX-License-Identifier: Apache-2.0
// Shared by the baselines: hardware and mappings at random, keeping the best.
#ifndef SEARCH_BASELINES_INTERNAL_H
#define SEARCH_BASELINES_INTERNAL_H

#include "search/baselines/baselines.h"
#include "search/descent/greedy.h"

// The array that Gemmini ships with. Half of its memories: the other half is for loads that run ahead.
#define BASELINE_DEFAULT_HARDWARE ((paper_hardware){.side = 16, .scratchpad_kib = 128, .accumulator_kib = 32})

// Sizes are powers of two: sides from 2, memories from 1 KiB, up to the goal's largest.
paper_hardware baseline_random_hardware(const descent_goal *goal, uint64_t *rng);

// Every prime factor of every dimension at a random place, any order; drawn again until the hardware holds it.
void baseline_random_mapping(const layers_layer *layer, const paper_hardware *hardware, uint64_t *rng,
                             paper_mapping *mapping);

// The cost of a layer on given hardware; the goal's value of it alone.
double baseline_layer_value(const descent_goal *goal, size_t layer, const paper_mapping *mapping,
                            const paper_hardware *hardware);

// A network on given hardware: becomes the result if it is better.
void baseline_offer(const descent_goal *goal, const paper_mapping *mappings, const paper_hardware *hardware,
                    baseline_result *result);

// The methods that have files of their own.
void baseline_random_search(const baseline_options *options, baseline_result *result);
void baseline_bayes_search(const baseline_options *options, baseline_result *result);
void baseline_genetic_search(const baseline_options *options, baseline_result *result);
void baseline_published_search(const baseline_options *options, baseline_result *result);

#endif
