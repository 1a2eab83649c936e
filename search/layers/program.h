// SPDX-License-Identifier: Apache-2.0
// Networks as programs: placed graphs, of which each array makes the steps that `weft sim` runs (docs/steps.md).
#ifndef SEARCH_LAYERS_PROGRAM_H
#define SEARCH_LAYERS_PROGRAM_H

#include "compiler/graph/graph.h"
#include "compiler/onnx/onnx.h"
#include "compiler/quantise/quantise.h"
#include "hw/array.h"
#include "search/layers/layers.h"
#include "workloads/networks/networks.h"

// As the options of `weft sim` with these names; zero is the default of each field.
typedef struct layers_program_options {
  networks_options network;  // batch: of files, too
  const onnx_dim *dims;      // of files
  int dim_count;
  const char *const *outputs;  // of files: where the network ends
  int output_count;
  const hw_array *array;  // a network that its main memory cannot hold is refused at once; NULL: none is
  bool float_ends, uint8_images;
} layers_program_options;

// A network as arrays have it that are alike to the quantiser.
typedef struct layers_form {
  quantise_target target;
  graph *placed;
  void **inputs, **values;  // of the run that is timed: runner/steps.h
  struct layers_form *next;
} layers_form;

typedef struct layers_program {
  const char *name, *description;  // borrowed
  const graph *placed;             // without a normaliser
  int64_t macs;                    // of convolutions and products
  uint64_t hash;                   // of all that its cycles depend on besides the array
  struct layers_forms *forms;      // made when the first array asks
} layers_program;

// Whether a name is one of networks that are programs: a .onnx file, or a generated network (`weft net --list`).
bool layers_is_program(const char *name_or_path);

// Reads or generates, quantises and places, as `weft sim` does. `name` is for messages and the store. False after
// errors were reported; release in any case.
bool layers_program_load(layers_program *program, const char *name_or_path, const char *name,
                         const layers_program_options *options, wf_diag *diag);
// The form for an array, as `weft sim` runs it there: what goes to the normaliser is chosen by quality. It lives as
// long as the program. Several threads may ask. NULL after errors were reported.
const layers_form *layers_program_form(const layers_program *program, const hw_array *array, wf_diag *diag);
void layers_program_release(layers_program *program);

#endif
