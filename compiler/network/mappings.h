// SPDX-License-Identifier: Apache-2.0
// Mappings of the kernels of a network program, as a search leaves them: by the shape of a kernel (its arguments but
// for scales). Kernels that are not in the list have the mapper's.
//
//   kernel 0f0c8a7d6e5b4a39 gemm M=512,N=64,K=256,..
//   mapping primitive ws
//   ...                                                     (compiler/mapping/mapping.h)
#ifndef COMPILER_NETWORK_MAPPINGS_H
#define COMPILER_NETWORK_MAPPINGS_H

#include "compiler/network/network.h"

typedef struct network_mapping {
  uint64_t shape;
  const char *text;  // of the kernel
  map_mapping mapping;
} network_mapping;

typedef struct network_mappings {
  wf_arena *arena;  // NULL: the list is empty
  network_mapping *items;
  size_t count, room;
} network_mappings;

void network_mappings_add(network_mappings *mappings, const layer_call *call, const map_mapping *mapping);
// The `mapping` of network_options; the context is the list.
const map_mapping *network_mappings_find(void *mappings, const layer_call *call);
void network_mappings_print(const network_mappings *mappings, FILE *out);
// Appends those of a text. False after errors were reported; release in any case.
bool network_mappings_parse(network_mappings *mappings, const char *file, const char *text, wf_diag *diag);
void network_mappings_release(network_mappings *mappings);

#endif
