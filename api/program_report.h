// SPDX-License-Identifier: Apache-2.0
// The report of a simulation: the same facts as a table for people and as JSON for programs (keys in docs/cli.md).
#ifndef API_PROGRAM_REPORT_H
#define API_PROGRAM_REPORT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "api/sensitivity.h"
#include "sim/run.h"

typedef struct api_program_report {
  const char *path;
  const hw_array *array;
  const sim_engine_ops *engine;
  const char *accelerator;  // of engine systemc; NULL: the default, or another engine
  bool timing_only;         // no data was moved: nothing of it is reported
  const sim_run_result *result;
  const sim_flow_account *sensitivity;  // NULL: not asked for
  int exit;                             // of the command
} api_program_report;

void api_program_text(const api_program_report *report, FILE *out);
cJSON *api_program_json(const api_program_report *report);

#endif
