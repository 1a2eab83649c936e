// SPDX-License-Identifier: Apache-2.0
// Mappings: how a layer is cut into blocks and in which order, how long its operands stay, how they are buffered.
//
// A layer is a product over the seven dimensions N P Q K C R S (compiler/block/block.h): results[N,P,Q,K] are sums over
// C, R, S of inputs[N, P*stride+R*dilation, Q*stride+S*dilation, C] * weights[C,R,S,K]. A matrix product M x N x K has
// P = M, K = N, C = K.
//
// A dimension of `size` elements is covered by tile * sp * dram elements: `tile` is what one product statement
// handles, `sp` the trips of the inner loop, `dram` the trips of the outer loop; tiles behind the end are cut off. The
// loops of a mapping have 2 * BLOCK_DIMS positions, outermost first: the outer loops in `outer` order, then the inner
// ones in `inner` order; loops of one trip do not exist. Loops over C, R, S are inside of all others: sums
// stay in the accumulator until they are complete.
//
// An operand of residency r is loaded inside the first r positions and kept through the rest: 0 loads it once for the
// whole layer, MAP_POSITIONS once per product statement. Its buffer has `depth` slots that take turns.
//
// A mapping is plain data of fixed size, which the search changes freely; map_check says whether it can be carried out.
#ifndef COMPILER_MAPPING_MAPPING_H
#define COMPILER_MAPPING_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "compiler/block/block.h"
#include "compiler/cost/cost.h"
#include "hw/array.h"

// X(NAME, text)
#define MAP_KINDS(X)                                                                                            \
  X(GEMM, "gemm")           /* P K C */                                                                         \
  X(GEMV, "gemv")           /* P = 1 */                                                                         \
  X(BATCHED, "batched")     /* N products of P K C */                                                           \
  X(CONV, "conv")           /* all */                                                                           \
  X(GROUPED, "grouped")     /* a convolution for each group: N counts images and groups, weights have N, too */ \
  X(DEPTHWISE, "depthwise") /* C = 1, K channels, each from one input channel */                                \
  X(WINDOW, "window")       /* no weights: sums or the largest of inputs, C = 1, K channels, tile R x S of a window */
typedef enum {
#define X(NAME, text) MAP_##NAME,
  MAP_KINDS(X)
#undef X
      MAP_KIND_COUNT
} map_kind;
extern const char *const map_kind_names[MAP_KIND_COUNT];

typedef struct map_layer {
  map_kind kind;
  int64_t size[BLOCK_DIMS];  // P, Q: of the results, behind pooling; C, K: of one group
  int64_t stride[2];         // rows, columns; 0 is 1
  int64_t dilation[2];       // 0 is 1
  int64_t padding[4];        // above, below, left, right
  int64_t groups;            // 0 is 1
  // What happens to results.
  uint32_t result_bytes;  // 1 or 4; 0 is 1
  bool bias;              // an int32 per column, loaded into the accumulator
  int64_t residual;       // an int8 per result is added, so many times; 0: none. Kind window: inputs besides the first
  // Kind window: pool_size is other than 0 if the largest is taken. Other kinds: with a stride each result is the
  // largest of pool_size x pool_size sums; so many rows and columns before those of the image are padding, and part of
  // `padding`.
  uint32_t pool_size, pool_stride, pool_padding;
  double zeros;  // the share of blocks of weights, DIM x DIM, that need no products and no loads
} map_layer;

// A residual of more than one is added by products, each with a number that int8 holds.
enum { MAP_RESIDUAL_PART = INT8_MAX };

enum { MAP_POSITIONS = 2 * BLOCK_DIMS, MAP_DEPTH_MAX = 8 };

typedef enum { MAP_WEIGHTS, MAP_INPUTS, MAP_RESULTS, MAP_OPERANDS } map_operand;
extern const char *const map_operand_names[MAP_OPERANDS];

typedef struct map_mapping {
  int64_t tile[BLOCK_DIMS], sp[BLOCK_DIMS], dram[BLOCK_DIMS];
  uint8_t outer[BLOCK_DIMS], inner[BLOCK_DIMS];  // block_dim_id, outermost first
  uint8_t residency[MAP_RESULTS];                // of weights and inputs
  uint8_t depth[MAP_OPERANDS];
  uint8_t dataflow;  // block_dataflow
  uint8_t style;     // block_style
} map_mapping;

// For programs that are no layer (no product, or several): nothing is tiled, operands of products are loaded in front
// of the loops that do not change them, two slots.
map_mapping map_none(void);
bool map_is_none(const map_mapping *mapping);

// ---- what follows from a mapping

// The position of the outer or inner loop over a dimension.
int map_position(const map_mapping *mapping, block_dim_id dim, bool inner);
// The dimension and the trips of the loop at a position.
block_dim_id map_loop_dim(const map_mapping *mapping, int position);
int64_t map_loop_trips(const map_mapping *mapping, int position);
// Whether weights change with N.
static inline bool map_has_own_weights(map_kind kind) { return kind == MAP_BATCHED || kind == MAP_GROUPED; }
// Whether inputs have the channels of the results.
static inline bool map_keeps_channels(map_kind kind) { return kind == MAP_DEPTHWISE || kind == MAP_WINDOW; }
// Whether an operand of a layer of this kind changes with the dimension.
bool map_uses(map_kind kind, map_operand operand, block_dim_id dim);
// Elements of a dimension that all loops from `position` on sweep, at most its size.
int64_t map_extent(const map_layer *layer, const map_mapping *mapping, block_dim_id dim, int position);
// Whether a residual is added by products. Multiplied ones are; others if the sums are deep enough: a load into the
// accumulator waits for the stores that free its rows, a product costs one step of depth more. The unrollers load one
// thing into a result: the one for matrix products a residual, if nothing else is added (`alone`).
enum { MAP_DEEP_SUM = 128 };
bool map_multiplies(const map_mapping *mapping, int64_t residual, bool alone);
// Whether the layer's residual is all that is added to matrix products.
static inline bool map_adds_alone(const map_layer *layer) { return layer->kind < MAP_CONV && !layer->bias; }
// The first position of the loops that an unroller goes through itself: those over the kernel of a convolution,
// as far as no others are inside of them.
int map_unrolled(const map_layer *layer, const map_mapping *mapping);
// Rows or columns of sums under those of results: of pooled ones all that their windows reach over.
static inline int64_t map_sums(const map_layer *layer, int64_t results) {
  return layer->pool_stride == 0 ? results : (results - 1) * (int64_t)layer->pool_stride + (int64_t)layer->pool_size;
}
// Rows or columns of inputs under `results` rows or columns of results and `window` of the kernel (axis 0: rows).
int64_t map_window(const map_layer *layer, int axis, int64_t results, int64_t window);

// The rows or columns of them that are loaded: of a window of one, those that are used.
int64_t map_loaded(const map_layer *layer, int axis, int64_t results, int64_t window);

int64_t map_macs(const map_layer *layer);

// The layer and the blocking of a lowered program: `tile` and `dram` of its loops as they stand, everything inside of
// them, in the order of the program. False: it has no product, or more than one.
bool map_of_block(const block_program *program, map_layer *layer, map_mapping *mapping);

// ---- legality

// Reports each reason why the mapping cannot be carried out; `diag` may be NULL.
bool map_check(const map_layer *layer, const map_mapping *mapping, const hw_array *array, wf_diag *diag);

// Scratchpad rows that a residual takes which is multiplied: its blocks, as many as slots of results, and two matrices.
int64_t map_beside_rows(const map_layer *layer, const map_mapping *mapping, int64_t dim);
// Rows of one slot of each buffer in memories of `dim` columns.
void map_rows(const map_layer *layer, const map_mapping *mapping, int64_t dim, int64_t rows[MAP_OPERANDS]);

// What a mapping takes and moves.
typedef struct map_footprint {
  int64_t rows[MAP_OPERANDS];  // of all slots: scratchpad rows of weights and inputs, accumulator rows of results
  int64_t slot_rows[MAP_OPERANDS];
  int64_t beside_rows;               // of the scratchpad, for a residual that is multiplied
  int64_t dram_bytes[MAP_OPERANDS];  // read (weights, inputs), written (results)
  int64_t bias_bytes;                // read for bias and residual
  int64_t fills[MAP_OPERANDS];       // how often a slot is filled
  int64_t loads_of[MAP_RESULTS];
  int64_t mesh_cycles;              // of all products, one behind the other
  int64_t loads, products, stores;  // commands: mvin; pairs of preload and compute, those of a residual too; mvout
} map_footprint;
map_footprint map_measure(const map_layer *layer, const map_mapping *mapping, const hw_array *array);
// The buffers of weights and inputs, for the banks that they lie in.
cost_slots map_slots(const map_mapping *mapping, const map_footprint *footprint);

// Cycles that the mapping takes, roughly: ranks mappings of a layer, no prediction (estimate.c). Where they are not
// below `limit` it may be that instead; INFINITY: no limit.
double map_estimate(const map_layer *layer, const map_mapping *mapping, const hw_array *array,
                    const map_footprint *footprint, const cost_constants *constants, double limit);

// ---- text
//
//   mapping primitive ws
//   tile N 1 P 64 Q 1 K 64 C 64 R 1 S 1
//   sp   ...
//   dram ...
//   outer P K C N Q R S
//   inner N P Q K C R S
//   weights depth 2 inside outer K
//   inputs depth 2 resident
//   results depth 2
void map_print(const map_mapping *mapping, FILE *out);
// The tiles and the order of the loops as an initialiser of the driver's struct weft_mapping
// (driver/include/weft/tiled.h). False: it is no matrix product.
bool map_print_c(const map_layer *layer, const map_mapping *mapping, FILE *out);
bool map_parse(map_mapping *mapping, const char *file, const char *text, size_t length, wf_diag *diag);
bool map_equal(const map_mapping *a, const map_mapping *b);
uint64_t map_hash(const map_mapping *mapping);
uint64_t map_layer_hash(const map_layer *layer);

// ---- mappers

// The heuristic mapper: fewest bytes from main memory among mappings that overlap loads, products and stores. Where
// `tile` is given its entries other than 0 are kept. False after the reason was reported.
bool map_default(const map_layer *layer, const hw_array *array, const int64_t *tile, block_style style,
                 map_mapping *mapping, wf_diag *diag);

// The same mapper's best mappings, the best first; returns how many, at most `room` and MAP_BEST_MAX.
enum { MAP_BEST_MAX = 512 };
size_t map_best(const map_layer *layer, const hw_array *array, const int64_t *tile, block_style style,
                map_mapping *best, size_t room);
// Adds mappings by bands (bands.c) of those in the list, none twice; returns how many there are then, at most `room`.
size_t map_add_bands(const map_layer *layer, const hw_array *array, map_mapping *list, size_t count, size_t room);

// The best ones whose results are complete row by row, in single commands: the next layer can follow.
size_t map_best_by_rows(const map_layer *layer, const hw_array *array, map_mapping *best, size_t room);

// A mapping of one layer for another one of its kind, on any array: tiles and inner loops stay, in blocks of the array,
// outer loops cover the rest. `from_dim` is the DIM of the array that it was for.
typedef enum {
  MAP_RETARGET_FITS,
  MAP_RETARGET_CLAMPED,   // made smaller for the memories
  MAP_RETARGET_REJECTED,  // of another kind, or not legal however small
} map_retargeted;
map_retargeted map_retarget(const map_layer *from, const map_mapping *mapping, int64_t from_dim, const map_layer *to,
                            const hw_array *array, map_mapping *out);

// A random mapping; `*seed` is the state of the generator. map_random tries until one is legal (false: none found),
// map_random_any gives what it finds, often illegal.
bool map_random(const map_layer *layer, const hw_array *array, uint64_t *seed, map_mapping *mapping);
void map_random_any(const map_layer *layer, const hw_array *array, uint64_t *seed, map_mapping *mapping);

// Every legal mapping with tiles that are multiples of DIM (or the whole dimension), perfect factors, and the given
// style; returns how many there were. `visit` returns false to stop.
uint64_t map_enumerate(const map_layer *layer, const hw_array *array, block_style style,
                       bool (*visit)(void *context, const map_mapping *mapping), void *context);

#endif
