// SPDX-License-Identifier: Apache-2.0
// What searches for one network found, and its reports.
#ifndef API_ANSWER_H
#define API_ANSWER_H

#include <cjson/cJSON.h>

#include "api/private.h"
#include "search/descent/descent.h"
#include "search/exact/exact.h"
#include "search/layers/program.h"
#include "search/truth/program.h"

struct weft_answer {
  weft_array base;
  char *name;
  layers_network table;
  layers_program program;
  bool is_program;  // which the search simulates whole
  paper_constants constants;
  const char *constants_name;
  descent_goal goal;
  descent_options options;
  descent_result found;
  bool is_exact;
  exact_result exact;  // of a search that proves
  double seconds;      // that it took
  bool simulated;
  truth_options how;
  truth_result truth;
  truth_program whole;
};

// What the model found, by gradients or proven: sizes, cost, mappings of the layers.
paper_hardware api_answer_hardware(const weft_answer *answer);
paper_cost api_answer_cost(const weft_answer *answer);

// As text, as JSON, and as files in a folder (answer_report.c; of a simulated search truth_report.c).
void api_answer_print(const weft_answer *answer, FILE *out);
cJSON *api_answer_json(const weft_answer *answer);
bool api_answer_write(const weft_answer *answer, const char *directory, wf_diag *diag);
void api_truth_print(const weft_answer *answer, FILE *out);
cJSON *api_truth_json(const weft_answer *answer);
bool api_truth_write(const weft_answer *answer, const char *directory, wf_diag *diag);

#endif
