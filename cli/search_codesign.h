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
} search_space_options;
extern const wf_option search_space_rows[];
enum { SEARCH_SPACE_ROWS = 5 };

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

typedef struct codesign_answer {
  const codesign_options *options;
  const codesign_result *result;
  const codesign_whole *wholes;  // one for each network
} codesign_answer;

void codesign_answer_print(const codesign_answer *a, FILE *out);
cJSON *codesign_answer_json(const codesign_answer *a);
void codesign_answer_trace(const codesign_answer *a, FILE *out);  // CSV

#endif
