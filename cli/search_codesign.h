// SPDX-License-Identifier: Apache-2.0
// `weft search NET... --space FILE`: the joint search of the whole machine, its answer as text, JSON and files.
#ifndef CLI_SEARCH_CODESIGN_H
#define CLI_SEARCH_CODESIGN_H

#include "cli/cli.h"
#include "search/codesign/codesign.h"
#include "search/layers/program.h"

// Options of --space alone; those that it shares with other searches are in cmd_search.c.
typedef struct search_space_options {
  const char *space, *method, *weights, *front, *latency;
  uint64_t check_rtl;
} search_space_options;
extern const wf_option search_space_rows[];
enum { SEARCH_SPACE_ROWS = 6 };

// Shared options, as texts; NULL: not given.
typedef struct search_space_shared {
  const char *objective, *budget, *area, *power, *directory;
  uint64_t seed, threads;
  const layers_program_options *file;
} search_space_shared;

cli_exit search_by_space(const search_space_options *options, const search_space_shared *shared,
                         const cli_common *common, int count, char **names, wf_diag *diag);

// ---- the answer (codesign_answer.c)

// A network as `weft sim` runs it, on the array of the answer.
typedef struct codesign_whole {
  bool known;  // it is an ONNX file or a generated network
  double cycles, energy_uj;
  size_t mappings;  // that are not the mapper's
} codesign_whole;

// ---- layers of the answer on its hardware (codesign_rtl.c)

typedef struct codesign_hardware_layer {
  size_t layer;          // of the result
  uint64_t cycles, rtl;  // as the search says; as the Verilated hardware takes
  uint64_t wrong;        // bytes that are not the oracle's
  double seconds;
} codesign_hardware_layer;

typedef struct codesign_hardware {
  codesign_hardware_layer *layers;
  size_t count;
  size_t left;  // layers that would take longer than a minute, which are left out
} codesign_hardware;

// Builds the answer's hardware with Verilator and runs so many of its layers on it, with their mappings: the one with
// the fewest cycles, and others up to the longest that takes less than a minute. `jobs`: compilers at a time. False
// after an error was reported; release in any case.
bool codesign_hardware_check(const codesign_result *r, unsigned layers, unsigned jobs, bool quiet,
                             codesign_hardware *hardware, wf_diag *diag);
void codesign_hardware_release(codesign_hardware *hardware);
bool codesign_hardware_agrees(const codesign_hardware *h);  // in cycles and bytes
void codesign_hardware_print(const codesign_hardware *h, const codesign_result *r, FILE *out);
cJSON *codesign_hardware_json(const codesign_hardware *h, const codesign_result *r);

// ---- all of it

typedef struct codesign_answer {
  const codesign_options *options;
  const codesign_result *result;
  const codesign_whole *wholes;       // one for each network
  const codesign_hardware *hardware;  // NULL: not checked
} codesign_answer;

void codesign_answer_print(const codesign_answer *a, FILE *out);
cJSON *codesign_answer_json(const codesign_answer *a);
void codesign_answer_trace(const codesign_answer *a, FILE *out);  // CSV

#endif
