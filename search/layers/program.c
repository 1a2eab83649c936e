// SPDX-License-Identifier: Apache-2.0
// Networks as programs: see program.h.
#include "search/layers/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/number.h"
#include "compiler/quantise/quantise.h"
#include "runner/steps.h"
#include "search/layers/graph.h"

enum { SEED = 1 };  // of weights and inputs, as in `weft sim`

static bool is_onnx(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot != NULL && strcmp(dot, ".onnx") == 0;
}

bool layers_is_program(const char *name_or_path) {
  return is_onnx(name_or_path) || networks_find(name_or_path) != NULL;
}

static graph *read_model(const char *path, const layers_program_options *options, wf_diag *diag) {
  networks_options made = options->network;
  if (made.seed == 0) made.seed = SEED;
  if (!is_onnx(path)) return networks_create(path, &made, diag);
  const onnx_options file = {.batch = made.batch,
                             .dims = options->dims,
                             .dim_count = options->dim_count,
                             .outputs = options->outputs,
                             .output_count = options->output_count};
  return onnx_read(path, &file, diag);
}

static uint64_t hash_of(const graph *placed) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  graph_print(placed, false, out);
  fclose(out);
  const uint64_t hash = wf_hash(WF_HASH_START, text, length);
  free(text);
  return hash;
}

static int64_t macs_of(const graph *placed) {
  layers_network layers;
  double macs = 0;
  layers_of_graph(&layers, placed);
  for (size_t i = 0; i < layers.count; i++) macs += (double)layers.layers[i].count * layers_macs(&layers.layers[i]);
  layers_release(&layers);
  return wf_whole(macs);
}

bool layers_program_load(layers_program *program, const char *name_or_path, const char *name,
                         const layers_program_options *options, wf_diag *diag) {
  const quantise_options quantise = {
      .seed = SEED, .int8_ends = !options->float_ends, .uint8_images = options->uint8_images};
  *program = (layers_program){.name = name, .description = "the steps of a network program"};
  graph *model = read_model(name_or_path, options, diag);
  if (model == NULL) return false;
  program->placed = quantise_network(model, &quantise, QUANTISE_STAGE_PLACED, diag);
  graph_destroy(model);
  if (program->placed == NULL) return false;
  program->hash = hash_of(program->placed);
  program->macs = macs_of(program->placed);
  program->inputs = quantise_random_inputs(program->placed, SEED);
  program->values = run_steps_values(program->placed, (const void *const *)program->inputs, diag);
  return program->values != NULL;
}

void layers_program_release(layers_program *program) {
  if (program->values != NULL) run_steps_free_values(program->placed, program->values);
  if (program->inputs != NULL) quantise_free_inputs(program->placed, program->inputs);
  if (program->placed != NULL) graph_destroy(program->placed);
  *program = (layers_program){0};
}
