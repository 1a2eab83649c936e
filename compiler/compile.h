// SPDX-License-Identifier: Apache-2.0
// The compiler as a whole: from a kernel's text (or an IR's) to commands for one array.
#ifndef COMPILER_COMPILE_H
#define COMPILER_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "compiler/block/block.h"
#include "compiler/command/command.h"
#include "compiler/lang/lang.h"
#include "compiler/mapping/mapping.h"
#include "hw/array.h"

typedef enum { COMPILE_KERNEL, COMPILE_BLOCK, COMPILE_COMMAND, COMPILE_LANGUAGES } compile_language;
extern const char *const compile_language_names[COMPILE_LANGUAGES];  // "kernel", "block", "command"

// What a pass left: one of the two is NULL.
typedef struct compile_stage {
  const char *pass;
  const block_program *block;
  const command_program *commands;
} compile_stage;

// What a program takes with warm caches.
typedef struct compile_verdict {
  uint64_t cycles;
  bool has_energy;  // the array's technology knows it
  double energy_pj;
} compile_verdict;

// runner/judge.h has judges that ask an engine. False after an error was reported.
typedef bool (*compile_judge)(const command_program *program, compile_verdict *verdict, wf_diag *diag);

// X(NAME, text): what is least in the best program.
#define COMPILE_OBJECTIVES(X) \
  X(CYCLES, "cycles")         \
  X(ENERGY, "energy")         \
  X(EDP, "edp") /* energy x cycles */
typedef enum {
#define X(NAME, text) COMPILE_##NAME,
  COMPILE_OBJECTIVES(X)
#undef X
      COMPILE_OBJECTIVE_COUNT
} compile_objective;
extern const char *const compile_objective_names[COMPILE_OBJECTIVE_COUNT + 1];  // NULL behind the last
// The less the better; INFINITY: the energy is asked for and not known.
double compile_value(compile_objective objective, const compile_verdict *verdict);
// What a part of a whole adds to its value, in cycles: where energy counts, that of the whole is worth the whole's
// cycles, so that for the product of both a share of either counts alike. The value of a sum is the sum of values.
double compile_part_value(compile_objective objective, const compile_verdict *whole, const compile_verdict *part);

// Tuning by trials: programs are made and judged, and the best is taken.
typedef struct compile_tuning {
  unsigned count;        // of mappings that are tried; 0, 1: none is
  compile_judge judge;   // needed for autotune and count
  compile_judge screen;  // a quicker judge, which looks at all of them; NULL: `judge` does
  unsigned confirmed;    // with a screen: so many of the best, and the mapper's first, are left to `judge`
  compile_objective objective;
  // Adds mappings that are known for a layer to those in a list; returns how many there are then. Tuning tries them;
  // else the first of them is taken, if there is one. NULL: none is known.
  size_t (*known)(void *context, const map_layer *layer, map_mapping *list, size_t count, size_t room);
  void *known_context;
} compile_tuning;

typedef struct compile_request {
  const char *file;  // its name, for messages
  const char *text;
  size_t length;
  compile_language from;
  const hw_array *array;
  const char *kernel;  // NULL: the only one of the file
  lang_args arguments;
  const map_layer *layer;      // what the kernel computes with these arguments; NULL: its program shows it
  const map_mapping *mapping;  // NULL: the heuristic mapper's
  // What a tensor of the kernel always holds, int8: products with blocks of zeros are left out. NULL: not known.
  const char *known_tensor;
  const int8_t *known;
  const char *packed_tensor;  // that holds int4, two a byte; NULL: none
  block_style style;          // of the heuristic mapping
  bool autotune;              // the kernel's configurations are judged and the best is taken
  compile_tuning tuning;
  const cost_constants *costs;  // by which commands are placed; NULL: cost_fitted
  bool straight;                // the commands need no loops: quicker for a caller that runs them once
  bool for_c;  // they become C: few stores that follow a pattern are better than many that suit main memory
  // Called after each pass; may be NULL.
  void (*after)(void *context, const compile_stage *stage);
  void *context;
} compile_request;

typedef struct compile_result {
  lang_file *file;  // of a kernel, else NULL; owns `instance`
  lang_instance *instance;
  block_program *block;  // as lowered or read; NULL when commands were read
  command_program *commands;
  bool mapped;  // the program is a layer: `layer` is set, and `mapping` is one of it
  map_layer layer;
  map_mapping mapping;
  int config;             // of the kernel, that autotuning took; -1: none
  uint64_t tuned_cycles;  // of the configuration or mapping that tuning took; 0: none
} compile_result;

// False after errors were reported. Release the result in any case.
bool compile(const compile_request *request, compile_result *result, wf_diag *diag);
void compile_release(compile_result *result);

// The mappings that tuning tries, at most tuning->count: the mapper's first, those that are known, the mapper's next,
// and of many, and where the mapper has no more, mappings by bands. Returns how many there are.
size_t compile_list_mappings(const compile_tuning *tuning, const map_layer *layer, const hw_array *array,
                             const int64_t *fixed, block_style style, map_mapping *list);

// The array as the compiler sees it: parameters that no program depends on (unread.def) at their defaults. Arrays for
// which it is the same get the same programs, unless a judge tunes them.
hw_array compile_array(const hw_array *array);
uint64_t compile_array_hash(const hw_array *array);
// The program of a kernel with all buffers in their rows, before it is expanded; the caller destroys it. NULL after
// errors were reported. Release the result in any case.
block_program *compile_placed(const compile_request *request, compile_result *result, wf_diag *diag);

// The names of the passes in order; NULL past the end.
const char *compile_pass_name(size_t index);

#endif
