// Inside of machine_work: a layer and its mapping on an array, and what the parts of the work ask of each other.
#ifndef SEARCH_MODEL_MACHINE_CONTEXT_H
#define SEARCH_MODEL_MACHINE_CONTEXT_H

#include "base/number.h"
#include "search/model/machine_private.h"

static inline int64_t common_factor(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

// Where operands lie in the banks of the scratchpad (buffers.c): each slot in banks of its own if there are enough;
// else inputs at the bottom and weights at the top, of each half of the memory if there are two turns.
enum { BANKS_MAX = 64 };
typedef struct bank_places {
  bool apart;                            // slots that are filled and slots that are read lie in different banks
  double share[MAP_RESULTS][BANKS_MAX];  // of an operand's rows in a bank
  int banks;
} bank_places;

typedef struct context {
  const map_layer *layer;
  const map_mapping *m;
  const hw_array *array;
  const machine_constants *c;
  hw_derived hw;
  map_footprint f;
  bank_places places;
  double dim, bus, line, line_cycles, hit_latency, miss_latency;
} context;

static inline block_dim_id input_channels(const map_layer *layer) {
  return layer->kind == MAP_DEPTHWISE ? BLOCK_DIM_K : BLOCK_DIM_C;
}

// ---- main memory and L2 (machine_memory.c)

// Requests for a row: bursts are naturally aligned; of the sizes that cover most of what is left the smallest is taken.
typedef struct requests {
  double bursts, beats;
} requests;

double machine_request_cycles(const context *x, double bytes);
double machine_dram_latency(const context *x);
double machine_missed_lines(const context *x, map_operand operand);
requests machine_requests_of(const context *x, int64_t bytes, int64_t stride);
double machine_swept_bytes(const context *x, map_operand operand, int position);

// ---- loads (machine_load.c)

// Rows of a fill.
typedef struct row_set {
  double count, bytes;  // of a fill; contiguous bytes of each
  int64_t stride;       // between rows in memory
  double commands;
  double zeros;  // rows of padding
} row_set;

row_set machine_weight_rows(const context *x);
row_set machine_input_rows(const context *x);
machine_stream machine_stream_of(const context *x, map_operand operand, double *memory);

// ---- the mesh (machine_mesh.c)

// How results lie in the accumulator (buffers.c): in tiles of DIM rows if wide stores gain by it and there is room;
// rows of images that such tiles would cut into crumbs start at a tile each.
typedef struct result_layout {
  bool tiled;
  int64_t pitch;  // from a row of an image to the next
} result_layout;
result_layout machine_result_layout(const context *x);

double machine_mesh_cycles(const context *x, double *pairs, double *products, double *fresh);
bank_places machine_places_of(const context *x);
double machine_bank_writes(const context *x, const bank_places *p, map_operand operand);

#endif
