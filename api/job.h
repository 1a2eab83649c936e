// SPDX-License-Identifier: Apache-2.0
// A network from file to program: read or generate, quantise, lower, compile.
#ifndef API_JOB_H
#define API_JOB_H

#include <stdatomic.h>

#include "api/calibration.h"
#include "api/private.h"
#include "api/schedules.h"
#include "api/ways.h"
#include "compiler/network/network.h"
#include "compiler/quantise/quantise.h"
#include "runner/kernels.h"

// Worse outputs are warned of, in dB.
enum { API_POOR_DB = 20 };

typedef struct api_job {
  weft_array array;
  graph *model, *placed;
  graph *one;  // of several images: that of one, whose constants `placed` has; or NULL
  int images;
  network *net;
  void **inputs;  // per input of the placed graph
  unsigned jobs;  // threads
  double read_seconds, quantise_seconds;
  quantise_quality *quality;  // per output; NULL: not asked for
  quantise_options quantise;
  char **keep;                           // names of nodes, to which the options and what stayed in float point
  quantise_choice choice;                // of what the normaliser does
  api_way ways[API_WAYS];                // compared with each other; names NULL: none were
  quantise_cache_quality cache_quality;  // of a cache of int4
  quantise_kept kept;                    // what stayed in float
  quantise_forms forms;
  quantise_layers layers;  // against the float model; none: not asked for
  api_calibration calibration;
  compile_objective objective;
  bool choose_kernels;
  run_kernels_result kernels;  // if so
} api_job;

// Ends the session's call if it fails. `path` is an ONNX file or the name of a generated network; the job's array is
// set. Release the job in any case.
bool api_job_open(weft_session *session, api_job *job, const char *path, const weft_network_options *options);
void api_job_release(api_job *job);

// A network that is there. Runs show names of it, and may outlive the handle: the last of its users frees it.
typedef struct api_loaded {
  atomic_uint users;
  api_job job;
  char *path;
} api_loaded;

struct weft_network {
  api_loaded *loaded;
};

// By the way that the options name; NULL behind the end of the session's call.
api_loaded *api_network_load(weft_session *session, const weft_array *array, const char *path,
                             const weft_network_options *options);
// Of a user, as `drop` of runs.
void api_network_drop(void *loaded);

#endif
