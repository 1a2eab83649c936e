// SPDX-License-Identifier: Apache-2.0
// What the machine's work costs: cycles of loads, products and stores, and of the memory behind them. Mapping,
// scheduling and search ask this room; none of them has a cost or a constant of its own.
//
// A cost knows an array and rows of memory, nothing of layers and mappings: the caller says how many rows and commands
// there are. docs/search-model.md says what each caller asks, and how the constants are fitted.
#ifndef COMPILER_COST_COST_H
#define COMPILER_COST_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hw/array.h"

// ---- constants (cost_constants.def)

typedef struct cost_constants {
#define NUMBER(judge, field, ...) double field;
#include "compiler/cost/cost_constants.def"
#undef NUMBER
} cost_constants;

extern const cost_constants cost_fitted;

enum {
#define NUMBER(judge, field, ...) COST_CONSTANT_##field,
#include "compiler/cost/cost_constants.def"
#undef NUMBER
  COST_CONSTANTS
};

typedef enum { COST_GIVEN, COST_MODEL, COST_ESTIMATE, COST_ORDER, COST_JUDGES } cost_judge;
extern const char *const cost_judge_names[COST_JUDGES];

typedef struct cost_number {
  cost_judge judge;
  const char *name, *unit, *meaning;
} cost_number;
extern const cost_number cost_numbers[COST_CONSTANTS];

double cost_value(const cost_constants *constants, size_t index);
void cost_set_value(cost_constants *constants, size_t index, double value);
// One of them as a line of cost_constants.def; `note` stands behind it as a comment, NULL: none.
void cost_print(const cost_constants *constants, size_t index, const char *note, FILE *out);

// ---- an array, the constants, and what follows from both

typedef struct cost_model {
  const hw_array *array;
  const cost_constants *c;
  hw_derived hw;
  double dim;                        // columns
  double bus, peak;                  // bytes per cycle: of the bus, of main memory at best
  double line;                       // bytes of a line of the L2; without L2 of the largest burst
  double line_cycles;                // of main memory for such a line
  double hit_latency, miss_latency;  // of a request
} cost_model;

cost_model cost_model_of(const hw_array *array, const cost_constants *constants);

// ---- main memory and L2 (memory.c)

// Requests for a row: bursts are naturally aligned; of the sizes that cover most of what is left the smallest is taken.
typedef struct cost_requests {
  double bursts, beats;
} cost_requests;
// On average over the places in a line at which rows begin that are `stride` bytes apart.
cost_requests cost_requests_of(const cost_model *m, int64_t bytes, int64_t stride);
// Lines that a row touches, on average over the same places.
double cost_lines_of(const cost_model *m, double bytes, int64_t stride);

// Cycles of main memory for a missed line, or without L2 for a request; for a line that is written back.
double cost_missed_line_cycles(const cost_model *m, const cost_requests *requests);
double cost_written_line_cycles(const cost_model *m);
// Cycles of main memory for one request at its peak rate.
double cost_request_cycles(const cost_model *m, double bytes);
// Cycles of main memory for `bytes` that miss one after the other and push out what was written.
double cost_missed_cycles(const cost_model *m, double bytes);
// Cycles of a fill at a share of the memory's peak rate, with the latency that products see.
double cost_fill_cycles(const cost_model *m, double bytes, double share);

// Victims are drawn at random: the share of what will be used again that other lines have pushed out when as many bytes
// or lines came as the cache's capacity times a number. Capacity 0: there is no cache.
double cost_lost(double others, double capacity);
// The same of what is swept, which comes round again after `others`: what hits pushes nothing out.
double cost_lost_in_turn(double swept, double others, double capacity);
// Of what is written, that which is pushed out before it is written again in the same place; `all` comes in between.
double cost_written_back(double written, double all, double capacity);

// ---- banks of main memory (banks.c)
//
// Neighbouring lines lie in neighbouring banks, so rows that lie a multiple of some lines apart visit only some of the
// banks, and a bank needs much longer for a line of another of its rows than the bus does.

// Bytes of a line of the L2; without L2 of a beat.
int64_t cost_line_bytes(const hw_array *array);

// Rows of one command, and what lies beside them.
typedef struct cost_bank_rows {
  int64_t bytes;   // of a row that one command moves
  int64_t stride;  // bytes from row to row
  int64_t pieces;  // commands side by side: the same rows, the columns behind
} cost_bank_rows;

// Banks that rows of one command visit, and that the rows of all pieces do.
int64_t cost_banks_of_command(const cost_model *m, const cost_bank_rows *rows);
int64_t cost_banks_of_pieces(const cost_model *m, const cost_bank_rows *rows);

// Cycles that main memory takes for a line that is written back, when lines that follow each other are spread so.
double cost_write_cycles(const cost_model *m, int64_t banks);
// Cycles of a line at the beginning that pushes out a written one, when lines are spread so.
double cost_first_write_cycles(const cost_model *m, int64_t banks);
// The share of the memory's peak rate at which rows are read.
double cost_read_share(const cost_model *m, double bytes, double stride);

// Rows of a store command, when products leave main memory so many cycles for each line: DIM; or no more than visit
// different banks, so that the piece beside them goes on with the next ones.
int64_t cost_store_rows(const cost_model *m, const cost_bank_rows *rows, double cycles_per_line);

// ---- single commands, as the scheduler plans them (load.c, store.c)

typedef struct cost_command {
  int64_t rows, columns, element_bytes;
  bool constant;  // a load that reads no memory: zeros, or one row for all
  bool cached;    // a load of bytes that the cache may keep
} cost_command;
int64_t cost_planned_load(const cost_model *m, const cost_command *load);
int64_t cost_planned_store(const cost_model *m, const cost_command *store);

// ---- loads (load.c)

// Rows of a fill.
typedef struct cost_rows {
  double count, bytes;  // contiguous bytes of each
  int64_t stride;       // between rows in memory
  double commands;
  double zeros;  // rows of padding
} cost_rows;

typedef struct cost_load {
  double unit;     // cycles of the load unit
  double data;     // of them moving data
  double memory;   // cycles of main memory
  double latency;  // from the last request to its data
} cost_load;
// Of the rows of a fill of which `missed` lines are not in the L2. Without L2 all are.
cost_load cost_load_of(const cost_model *m, const cost_rows *rows, double missed);

// Cycles of the load unit for rows of a bias, with one row for all of them.
double cost_bias_cycles(const cost_model *m, double rows, double columns);

// Cycles of the bus for bytes in rows of so many: what loads and stores take at least.
double cost_bus_cycles(const cost_model *m, double bytes, double row_bytes);

// ---- stores (store.c)

// Cycles of the store unit for a row of `blocks` column blocks that takes so many beats; of int32 or of int8.
double cost_store_row(const cost_model *m, double blocks, double beats, bool wide);
// Cycles of all rows of a layer with so many bytes, as far as the rate of the scale units and the bus goes.
double cost_store_cycles(const cost_model *m, double bytes, double row_bytes, bool wide);

// Cycles of the normaliser for a command over so many columns of a row, by the `norm` field of its local address.
int64_t cost_statistic_cycles(const cost_model *m, int64_t columns, uint32_t norm);

// ---- products (mesh.c)

// Rows that a product of so many takes the time of: those of a few take as long as more of them.
int64_t cost_product_rows(int64_t rows, int64_t dim);
// Cycles from a product to the next one with the same weights.
double cost_pair_cycles(const cost_model *m, double rows);

// Operands in the banks of the scratchpad (passes/buffers.c): each slot in banks of its own if there are enough; else
// inputs at the bottom and weights at the top, of each half of the memory if there are two turns.
enum { COST_WEIGHTS, COST_INPUTS, COST_OPERANDS, COST_BANKS_MAX = 64 };
typedef struct cost_slots {
  int64_t rows[COST_OPERANDS];  // of a slot
  int depth[COST_OPERANDS];     // slots
  bool unrolled;                // by the hardware's unrollers, which have a half of the memory each
} cost_slots;
typedef struct cost_places {
  bool apart;                                   // slots that are filled and slots that are read lie in different banks
  double share[COST_OPERANDS][COST_BANKS_MAX];  // of an operand's rows in a bank
  int banks;
} cost_places;

// Sets the slots of both operands to the number for which the compiler allots scratchpad rows: each slot gets banks of
// its own; an operand with two slots or more keeps at least two.
void cost_limit_slots(const cost_model *m, cost_slots *slots);
// Whether there are banks for each slot.
bool cost_has_own_banks(const cost_model *m, const cost_slots *slots);
cost_places cost_places_of(const cost_model *m, const cost_slots *slots);
// How often a row of weights and one of inputs lie in one bank.
double cost_bank_conflicts(const cost_places *places);
// How often a row that is loaded goes into a bank with one port from which a product reads.
double cost_bank_writes(const cost_model *m, const cost_places *places, int operand);

#endif
