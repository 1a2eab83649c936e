// SPDX-License-Identifier: Apache-2.0
// A network from file to result, for the verbs that run networks: read or generate, quantise, lower, compile, run.
#ifndef CLI_NETWORK_JOB_H
#define CLI_NETWORK_JOB_H

#include "cli/calibration.h"
#include "cli/cli.h"
#include "cli/onnx_dims.h"
#include "cli/schedule_store.h"
#include "cli/tuning.h"
#include "compiler/quantise/quantise.h"
#include "runner/network.h"
#include "workloads/networks/networks.h"

typedef struct network_job_options {
  const char *calibrate;         // "minmax", "percentile", a folder, or two of them; NULL: minmax
  const char *mean, *deviation;  // of pictures: "R,G,B"; NULL: 0, 1
  const char *keep_float;        // "NODE,..": nodes that stay in float; NULL: none
  const char *quality_at_least;  // dB; NULL: as it comes
  const char *inputs;            // files, separated by commas; NULL: random
  const char *normaliser;        // "on", "off"; NULL: on where the array has one
  const char *fuse;              // "off", "auto", "all"; NULL: off
  const char *overlap;           // "off", "auto"; NULL: auto for several images
  uint64_t images;               // runs of the network in one program; 0: 1
  const char *input_type;        // of images: "int8", "uint8"; NULL: int8
  const char *dims;              // "NAME=N,..": open dimensions of a file; NULL: none
  const char *outputs;           // "NAME,..": where the network ends; NULL: as the file says
  const char *values;            // "FILE,..": inputs of a file that are constants; NULL: none
  uint64_t seed;                 // of random inputs and weights
  uint64_t residual_products;
  uint64_t samples;  // of calibration
  uint64_t quality;  // inputs on which the float model is compared with; 0: not at all
  uint64_t jobs;
  tuning_options tuning;
  const char *mappings;      // file of mappings of kernels; NULL: none
  bool straight;             // commands for C
  bool int8_ends;            // the network's inputs and outputs are int8, images channels last, whatever else is said
  bool float_ends;           // they are f32, as in the model
  networks_options network;  // of generated networks
  bool quiet;
} network_job_options;

// Worse outputs are warned of, in dB.
enum { NETWORK_JOB_POOR_DB = 20 };

enum { NETWORK_JOB_OPTIONS = 26 };
// The rows of the options that no verb has for other things, too.
extern const wf_option network_job_rows[NETWORK_JOB_OPTIONS];

typedef struct network_job {
  hw_array array;
  compile_tuning tuning;
  graph *model, *placed;
  graph *one;  // of several images: that of one, whose constants `placed` has; or NULL
  int images;
  bool overlap;
  network *net;
  network_fuse_mode fuse;
  schedule_store schedules;
  void **inputs;  // per input of the placed graph
  double read_seconds, quantise_seconds;
  quantise_quality *quality;  // per output; NULL: not asked for
  quantise_options quantise;
  cli_names keep;
  quantise_choice choice;  // of what the normaliser does
  quantise_kept kept;      // what stayed in float
  quantise_forms forms;
  quantise_layers layers;  // against the float model; none: not asked for
  network_calibration calibration;
} network_job;

// `path` is an ONNX file or the name of a generated network. Returns an exit code, after errors were reported; release
// the job in any case.
cli_exit network_job_open(const cli_common *common, const network_job_options *options, const char *path,
                          network_job *job, wf_diag *diag);
void network_job_release(network_job *job);

// Whether the path is one of a network: an ONNX file or a generated network's name.
bool network_job_is(const char *path);
// Whether the path, which is no file, was meant as the name of a generated network: reports if so.
bool network_job_is_misspelt(const char *path, wf_diag *diag);

#endif
