// SPDX-License-Identifier: Apache-2.0
// The report of a simulation: the same facts as a table for people and as JSON for programs (keys in docs/cli.md).
#ifndef CLI_SIM_REPORT_H
#define CLI_SIM_REPORT_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "api/sensitivity.h"
#include "cli/cli.h"
#include "sim/run.h"

typedef struct sim_report {
  const char *path;
  const hw_array *array;
  const sim_engine_ops *engine;
  const char *accelerator;  // of engine systemc; NULL: the default, or another engine
  bool timing_only;         // no data was moved: nothing of it is reported
  const sim_run_result *result;
  const sim_flow_account *sensitivity;  // NULL: not asked for
  int exit;                             // of the command
} sim_report;

// The exit code of a command that ran this.
cli_exit sim_report_exit(const sim_run_result *result);

void sim_report_print(const sim_report *report, FILE *out);
cJSON *sim_report_json(const sim_report *report);

#endif
