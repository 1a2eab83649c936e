// SPDX-License-Identifier: Apache-2.0
// The options of verbs that compile networks, and the compilation as these say.
#ifndef CLI_NETWORK_ARGS_H
#define CLI_NETWORK_ARGS_H

#include "cli/cli.h"
#include "cli/tuning.h"

typedef struct network_args {
  const char *calibrate;         // "minmax", "percentile", a folder, or two of them; NULL: minmax
  const char *mean, *deviation;  // of pictures: "R,G,B"; NULL: 0, 1
  const char *keep_float;        // "NODE,..": nodes that stay in float; NULL: none
  const char *quality_at_least;  // dB; NULL: as it comes
  const char *inputs;            // files, separated by commas; NULL: random
  const char *normaliser;        // "on", "off"; NULL: on where the array has one
  const char *kernels;           // "rules", "auto"; NULL: rules
  const char *fuse;              // "off", "auto", "all"; NULL: off
  const char *overlap;           // "off", "auto"; NULL: auto for several images
  uint64_t images;               // runs of the network in one program; 0: 1
  const char *input_type;        // of images: "int8", "uint8"; NULL: int8
  const char *cache;             // of keys and values: "int8", "int4"; NULL: int8 without the new token's part
  const char *dims;              // "NAME=N,..": open dimensions of a file; NULL: none
  const char *outputs;           // "NAME,..": where the network ends; NULL: as the file says
  const char *values;            // "FILE,..": inputs of a file that are constants; NULL: none
  uint64_t seed;                 // of random inputs and weights
  uint64_t residual_products;
  uint64_t samples;  // of calibration
  uint64_t quality;  // inputs on which the float model is compared with; 0: not at all
  uint64_t jobs;
  tuning_options tuning;
  const char *mappings;  // file of mappings of kernels; NULL: none
  bool int8_ends;        // the network's inputs and outputs are int8, images channels last, whatever else is said
  bool float_ends;       // they are f32, as in the model
  uint64_t size, sequence, past, batch, divisor, layers;  // of generated networks; 0: theirs
  const char *prune;
  bool for_c;  // no option, but what the verb needs: a program of the host
} network_args;

enum { NETWORK_ARGS = 28 };
// The rows of the options that no verb has for other things, too.
extern const wf_option network_arg_rows[NETWORK_ARGS];

// A compiled network.
typedef struct network_job {
  weft_session *session;
  weft_array *array;
  weft_network *network;
  weft_network_facts facts;
} network_job;

// `path` is an ONNX file or the name of a generated network. Returns an exit code, after errors were reported; release
// the job in any case.
cli_exit network_job_open(const cli_common *common, const network_args *args, const char *path, network_job *job);
void network_job_release(network_job *job);

// Whether the path is one of a network: an ONNX file or a generated network's name.
bool network_job_is(const char *path);
// Whether the path, which is no file, was meant as the name of a generated network: reports if so.
bool network_job_is_misspelt(const char *path);

#endif
