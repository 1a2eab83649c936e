// SPDX-License-Identifier: Apache-2.0
// Any ONNX file that is read and small goes the whole way: calibrated, quantised, placed, lowered, compiled to commands
// and placed in memory; or is refused with a message on the way.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "compiler/network/network.h"
#include "compiler/network/target.h"
#include "compiler/onnx/onnx.h"
#include "compiler/quantise/quantise.h"

enum { BYTES_MAX = 1 << 14, FOLD_BYTES = 1 << 20, NODES_MAX = 50 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

// Small enough to be compiled many times a second.
static bool is_small(const graph *g) {
  size_t bytes = 0;
  for (int t = 0; t < g->tensor_count && bytes < BYTES_MAX; t++) bytes += graph_bytes(&g->tensors[t]);
  return bytes < BYTES_MAX && g->node_count < NODES_MAX;
}

static void compile_network(const graph *placed, const hw_array *array) {
  wf_diag diag = wf_diag_to(NULL);
  const network_options options = {.array = array, .jobs = 1, .straight = true};
  network *net = network_create(placed, &options, &diag);
  assert((net == NULL) == (diag.errors > 0));
  for (int k = 0; net != NULL && k < net->kernel_count; k++) {
    const bool good = command_verify(net->kernels[k].program, &diag);
    assert(good);
    (void)good;
  }
  network_destroy(net);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
  wf_diag diag = wf_diag_to(NULL);
  hw_array array;
  const onnx_options options = {.batch = 1, .fold_bytes = FOLD_BYTES};
  enum { NEAR_BYTES = 1024 };  // attention of few tokens goes by bands, too
  if (!hw_array_load(&array, "dim4", &diag)) abort();
  quantise_options calibration = {.samples = 1, .target = network_target(&array)};
  calibration.target.near_bytes = NEAR_BYTES;
  graph *model = onnx_read_bytes("fuzz.onnx", bytes, length, &options, &diag);
  if (model != NULL && is_small(model) && network_check_size(model, &array, false, &diag)) {
    graph *placed = quantise_network(model, &calibration, QUANTISE_STAGE_PLACED, &diag);
    assert((placed == NULL) == (diag.errors > 0));
    if (placed != NULL) compile_network(placed, &array);
    graph_destroy(placed);
  }
  graph_destroy(model);
  return 0;
}
