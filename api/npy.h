// SPDX-License-Identifier: Apache-2.0
// Arrays in NumPy's file format (.npy), as inputs of networks.
#ifndef API_NPY_H
#define API_NPY_H

#include "compiler/graph/graph.h"

// The elements of the file, to be freed, if they have the type and the shape of the tensor; otherwise NULL, after the
// reason was reported.
void *api_npy_read(const char *path, const graph_tensor *tensor, wf_diag *diag);

#endif
