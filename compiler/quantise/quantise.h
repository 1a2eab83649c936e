// SPDX-License-Identifier: Apache-2.0
// From a model graph to a placed graph: folding, calibration, conversion to Q operators, fusion, layout, placement.
//
//   quantise_check      refuses constants that are not finite
//   quantise_prepare    in place: QDQ and QLinear models become float graphs with pins (the scales that the model
//                       gives), batch normalisations are folded, and other forms of operators become those that the
//                       converter knows
//   quantise_calibrate  ranges of all float tensors, by running the graph
//   quantise_convert    a new graph of Q operators on int8 tensors, images in NHWC
//   quantise_place      in place: pooling and padding into their neighbours; where each node runs, and why
//
// quantise_network does all of them. What a placed graph computes is defined by graph_run, to the bit.
#ifndef COMPILER_QUANTISE_QUANTISE_H
#define COMPILER_QUANTISE_QUANTISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "compiler/graph/graph.h"

// The largest factor of a residual: eight products of int8 (docs/networks.md).
enum { QUANTISE_FACTOR_MAX = 8 * 127 };

// What the normaliser may cost in signal to noise over the network, in dB.
#define QUANTISE_UNIT_LOSS 1.0

typedef enum { QUANTISE_MIN_MAX, QUANTISE_PERCENTILE } quantise_method;

// Keys and values of earlier tokens that are inputs (cache.c).
typedef enum {
  QUANTISE_CACHE_AS_ALL,    // as other inputs; results of their names have scales of their own
  QUANTISE_CACHE_INT8 = 8,  // the new token's part has the cache's scale
  QUANTISE_CACHE_INT4 = 4,  // packed two numbers a byte, the new token's part too
} quantise_cache;

// Signal to noise of the worst output against the float model, on one random input.
typedef struct quantise_cache_quality {
  bool measured;
  double int8_db, int4_db;
} quantise_cache_quality;

// Operators that the array's normaliser can do, as bits.
typedef enum {
  QUANTISE_UNIT_SOFTMAX = 1,
  QUANTISE_UNIT_NORM = 2,
  QUANTISE_UNIT_GELU = 4,
  QUANTISE_UNIT_ALL = 7
} quantise_unit;

// Which of them went there, and why not the others.
typedef struct quantise_choice {
  bool measured;            // the network has such operators, and there is a normaliser
  unsigned kinds;           // bits of quantise_unit
  double hart_db, unit_db;  // signal to noise with none of them there, and with those
  double all_db;            // with all of them
} quantise_choice;

// What stayed in float, and what that gained on one input. Names live as long as the model.
typedef struct quantise_kept {
  const char *const *names;
  int count;
  bool measured;              // for least_db
  double before_db, with_db;  // of the worst output
} quantise_kept;

// Which tensor of the new graph stands for which of the model.
typedef struct quantise_form {
  const char *tensor;
  int model;
  bool last;    // with the channels last
  float scale;  // of int8, else 0: a multiple of the tensor may have the same bytes, with another scale
} quantise_form;
typedef struct quantise_forms {
  quantise_form *of;
  int count;
} quantise_forms;

// What the passes know of the array (compiler/network/target.h says it of one). Graphs that are alike in
// this are alike.
typedef struct quantise_target {
  int64_t unit_columns;  // the widest row that its normaliser takes; 0: there is none, or it shall not be used
  int64_t near_bytes;    // of its cache in front of main memory: attention goes by bands that fit; 0: there is none
  bool gate;             // it multiplies two tensors element by element
  bool row_scales;       // the hart can have each row of a product's sums stored with a scale of its own
  bool bytes_only;       // it stores no int32: rows of softmax are not divided behind the product
} quantise_target;

// Zero is the default of each field.
typedef struct quantise_options {
  quantise_method method;
  double percentile;  // of magnitudes, default 99.99
  int samples;        // random inputs for calibration, default 2
  uint64_t seed;
  const void *const *inputs;  // given inputs: input_sets * g->input_count tensors, instead of random ones
  int input_sets;
  bool int8_ends;     // inputs and outputs of the placed graph are int8 (images NHWC): no Quantize, no Dequantize
  bool uint8_images;  // with int8_ends: images come as uint8 with 128 more, their zero point
  bool exact_zeros;   // zero points of results by Requantize on the host, not in the bias
  bool keep_pools;    // pooling stays an operator of its own
  // The most products that adding a residual may take (docs/networks.md): its factor is at most 127 times that.
  // 0: one per 256 terms of the sum, but from one to eight.
  int residual_products;
  quantise_target target;
  // The kinds of rows that quantise_convert gives to the normaliser, a bit of quantise_unit each. quantise_network
  // chooses them by quality: together they lose at most QUANTISE_UNIT_LOSS dB.
  unsigned unit_kinds;
  quantise_choice *choice;  // filled by quantise_network, or NULL
  // Nodes of the prepared model that stay in float, on the hart; NAME is also what a node NAME was written as.
  const char *const *keep;
  int keep_count;
  // Int4: quantise_network refuses a network without a cache, and measures what it costs where that is asked for.
  quantise_cache cache;
  quantise_cache_quality *cache_quality;  // filled by quantise_network, or NULL
  // quantise_network keeps as many more as make the worst output that good; 0: none.
  double least_db;
  quantise_kept *kept;    // filled by quantise_network, or NULL
  quantise_forms *forms;  // filled by quantise_convert, or NULL; it lives as long as the model
} quantise_options;

// What the model says about the quantisation of a tensor (QDQ and QLinear operators).
typedef struct quantise_pin {
  float scale;      // 0: says nothing
  int32_t zero;     // of int8
  bool is_integer;  // an integer tensor of the model: its numbers are zero + real value / scale
  bool is_unsigned;
  // Of weights: one scale, or one per result channel; the integers, in the shape of the tensor.
  const int8_t *integers;
  const float *scales;
  int scale_count, axis;
} quantise_pin;

typedef struct quantise_pins {
  quantise_pin *of;  // by tensor of the model graph
  int count;
} quantise_pins;
const quantise_pin *quantise_pin_of(const quantise_pins *pins, int tensor);  // of scale 0: none

// Of rows of a layer norm's input: the largest distance from the mean, in standard deviations; the smallest and the
// largest of these. 0: none was seen.
typedef struct quantise_deviation {
  float largest, narrowest, widest;
} quantise_deviation;

// By tensor of the model graph; magnitude < 0: not seen (an integer tensor).
typedef struct quantise_ranges {
  float *magnitude, *low, *high;
  quantise_deviation *deviation;  // of results of layer norms
  int count;
} quantise_ranges;

bool quantise_check(const graph *model, wf_diag *diag);  // constants that are no numbers are refused by name
bool quantise_prepare(graph *model, quantise_pins *pins, wf_diag *diag);
void quantise_fold(graph *model, const quantise_pins *pins);  // pins: or NULL
bool quantise_calibrate(const graph *model, const quantise_options *options, quantise_ranges *ranges, wf_diag *diag);
graph *quantise_convert(const graph *model, const quantise_pins *pins, const quantise_ranges *ranges,
                        const quantise_options *options, wf_diag *diag);
void quantise_place(graph *quantised, const quantise_options *options);

typedef enum { QUANTISE_STAGE_MODEL, QUANTISE_STAGE_QUANTISED, QUANTISE_STAGE_PLACED } quantise_stage;

// All of it. The model is changed (prepared and folded), so it may not be used for anything else but quantise_compare.
graph *quantise_network(graph *model, const quantise_options *options, quantise_stage stage, wf_diag *diag);

// Random inputs of a graph: images of smooth patches and noise, other tensors of normal numbers; one buffer per input.
void **quantise_random_inputs(const graph *g, uint64_t seed);
void quantise_free_inputs(const graph *g, void **inputs);

typedef struct quantise_quality {
  const char *output;
  double sqnr_db;  // of all samples together
  double top1;     // share of rows whose largest element is the same; -1: no rows of classes
  int rows;
} quantise_quality;

// A node of the placed graph: signal to noise of its result against the float model, and of the worst of its inputs.
typedef struct quantise_layer {
  const char *node, *tensor;  // of the placed graph
  const char *cause;          // the node itself; where it only moves numbers, the one that made them
  graph_op op;
  double sqnr_db, input_db;
  double loss;  // in dB, of what counts for the worst output
} quantise_layer;
typedef struct quantise_layers {
  quantise_layer *rows;  // in the order of the nodes
  int count;
} quantise_layers;
bool quantise_compare_layers(const graph *model, const graph *placed, const quantise_forms *forms,
                             const quantise_options *options, quantise_layers *layers, wf_diag *diag);
void quantise_layers_release(quantise_layers *layers);
// The node that loses most; NULL: there is none.
const quantise_layer *quantise_worst_layer(const quantise_layers *layers);

// Float model against placed graph on random (or given) inputs: one row per output, to be freed.
quantise_quality *quantise_compare(const graph *model, const graph *placed, const quantise_options *options,
                                   wf_diag *diag);

#endif
