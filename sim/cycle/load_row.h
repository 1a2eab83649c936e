// SPDX-License-Identifier: Apache-2.0
// The stages of the load path and what travels between them. See hw/rtl/weft_load_path.sv and the modules named below.
//
// Time. Nothing here is stepped register by register: each stage tells from which cycle on it can give or take a row,
// and a row is moved on as soon as these cycles are known, which may lie ahead. Only the writes at the end of the path
// are asked for in their very cycle, because the banks decide.
//
// Rows are described once, by the merger, in a ring of descriptions; stages hold pointers to them. The bytes of a row
// stay where the bus put them until the row is written; only scaled rows have bytes of their own.
#ifndef SIM_CYCLE_LOAD_ROW_H
#define SIM_CYCLE_LOAD_ROW_H

#include <stdbool.h>
#include <stdint.h>

// A row on its way to local memory: bytes[0] belongs to lane `first` (of an int32 row: to byte `first`), `count` of
// them are written. With `repeats` the same row goes to the `repeats` rows after `row` too.
typedef struct cycle_row {
  const uint8_t *bytes;  // NULL in timing-only mode
  uint32_t row, scale;
  uint16_t first, count, repeats, cols, answer;
  uint8_t pixel_repeats, cmd;
  bool is_acc, accumulate, last;
} cycle_row;

// A row, or a repeat of it, behind the input register.
typedef struct cycle_item {
  const cycle_row *row;
  const uint8_t *bytes;
  uint64_t ready;  // earliest cycle in which it can leave
  uint32_t to;     // local row
  bool last;
} cycle_item;

#endif
