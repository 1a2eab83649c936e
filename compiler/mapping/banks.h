// Rows in the banks of main memory. Neighbouring lines lie in neighbouring banks, so rows that lie a multiple of some
// lines apart visit only some of the banks, and a bank needs much longer for a line of another of its rows than the bus
// does.
#ifndef COMPILER_MAPPING_BANKS_H
#define COMPILER_MAPPING_BANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

int64_t banks_line_bytes(const hw_array *array);

// Rows of one command, and what lies beside them.
typedef struct banks_rows {
  int64_t bytes;   // of a row that one command moves
  int64_t stride;  // bytes from row to row
  int64_t pieces;  // commands side by side: the same rows, the columns behind
} banks_rows;

// Banks that rows of one command visit, and that the rows of all pieces do.
int64_t banks_of_command(const hw_array *array, const banks_rows *rows);
int64_t banks_of_pieces(const hw_array *array, const banks_rows *rows);

// Cycles that main memory takes for a line that is written back, when lines that follow each other are spread so.
double banks_write_cycles(const hw_array *array, int64_t banks);

// Rows of a store command, when products leave main memory so many cycles for each line: DIM; or no more than visit
// different banks, so that the piece beside them goes on with the next ones.
int64_t banks_store_rows(const hw_array *array, const banks_rows *rows, double cycles_per_line);

#endif
