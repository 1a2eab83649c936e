// Layers as programs: which shipped kernel a layer is, with which arguments, and its compilation.
//
// The kernels travel in the library, so that compiling a layer works without the checkout.
#ifndef COMPILER_LAYER_LAYER_H
#define COMPILER_LAYER_LAYER_H

#include "compiler/compile.h"

// The text of a shipped kernel ("conv2d"); NULL: there is none of this name.
const char *layer_kernel_text(const char *kernel);

enum { LAYER_ARGUMENTS = 512 };
typedef struct layer_call {
  const char *kernel;               // "conv2d"
  char arguments[LAYER_ARGUMENTS];  // "N=1,H=58,W=58,..." for compile_request
} layer_call;

// False, with the reason, for what no kernel does: strides or paddings that differ in a direction, channels that the
// kernel cannot group.
bool layer_call_of(const map_layer *layer, const hw_array *array, layer_call *call, wf_diag *diag);

// How the blocks are chosen.
typedef struct layer_policy {
  const map_mapping *mapping;  // given; NULL: the heuristic mapper's
  unsigned tune;               // the fastest of this number of the best mappings; 0, 1: the best
  compile_judge judge;         // needed for tune
  block_style style;
  const cost_constants *costs;  // as those of compile_request
} layer_policy;

// False after errors were reported. Release the result with compile_release in any case.
bool layer_compile(const map_layer *layer, const hw_array *array, const layer_policy *policy, compile_result *result,
                   wf_diag *diag);

#endif
