// SPDX-License-Identifier: Apache-2.0
// The elaborated hardware as yosys writes it (RTLIL): which modules there are, how many of each, what memory they hold.
#ifndef HW_EXPORT_DESIGN_H
#define HW_EXPORT_DESIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_DESIGN_NAME = 96 };

typedef struct hw_design_child {
  size_t module;
  unsigned count;
} hw_design_child;

typedef struct hw_design_module {
  char *raw;                  // "$paramod$0123...\pe": as in the file
  char base[HW_DESIGN_NAME];  // "pe"
  char name[HW_DESIGN_NAME];  // "pe_0", or "pe" without parameters: after renaming
  hw_design_child *children;
  size_t child_count;
  uint64_t memory_bits;  // of its own memories
  unsigned instances;    // below the top; 0: not reached
} hw_design_module;

typedef struct hw_design {
  hw_design_module *modules;
  size_t count;
} hw_design;

// Reads the file and writes it with short module names. False: a file cannot be read or written, or has no module
// `top`.
bool hw_design_read(hw_design *design, const char *in_path, const char *out_path, const char *top);
void hw_design_free(hw_design *design);

// Index of the module with that raw name; design->count: none.
size_t hw_design_find(const hw_design *design, const char *raw);

#endif
