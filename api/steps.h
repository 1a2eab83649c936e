// SPDX-License-Identifier: Apache-2.0
// Steps of networks as weft.h describes them, and texts of their tensors.
#ifndef API_STEPS_H
#define API_STEPS_H

#include "api/private.h"
#include "runner/figures.h"
#include "runner/network.h"

// Texts that a described step points to.
enum { API_SHAPE = 64 };
typedef struct api_step_texts {
  char bound[SIM_BOUND_TEXT], shape[API_SHAPE];
} api_step_texts;

// A step, with what it took; `result` NULL: it has not run.
weft_step api_step_of(const network *net, int step, const run_step_result *result, api_step_texts *texts);

// i8[1,56,56,256]: type and shape of a node's first result.
void api_shape_text(const graph *g, const graph_node *node, char *text, size_t size);
void api_tensor_text(const graph_tensor *tensor, char *text, size_t size);  // the same of one tensor
// The bytes of their names that all steps begin with, up to the last '/' or '.'; those of ends do not count.
size_t api_steps_prefix(const network *net);

#endif
