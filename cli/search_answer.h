// SPDX-License-Identifier: Apache-2.0
// What a search found: the same text and JSON for every method.
#ifndef CLI_SEARCH_ANSWER_H
#define CLI_SEARCH_ANSWER_H

#include "cli/cli.h"
#include "hw/array.h"
#include "search/model/paper.h"

typedef struct search_answer search_answer;
struct search_answer {
  const layers_network *network;
  const paper_constants *constants;
  const char *constants_name, *method;
  const char *remark;  // about the figures
  paper_hardware hardware;
  paper_cost cost;
  const paper_mapping *mappings;
  const hw_array *base;  // what the hardware leaves open is that of this array
  double seconds;
  const void *how;  // what print_how and add_how know
  void (*print_how)(const search_answer *answer, FILE *out);
  void (*add_how)(const search_answer *answer, cJSON *object);
};

void search_print(const search_answer *answer, FILE *out);
cJSON *search_json(const search_answer *answer);
// The array with memories and a side of at least what was found; its name says for which network. False: none can be
// built.
bool search_array(const search_answer *answer, hw_array *array);
// NET.txt, NET.json and, of an array that can be built, NET.yaml in a folder, which is made if it is not there.
bool search_write(const search_answer *answer, const char *directory, wf_diag *diag);

#endif
