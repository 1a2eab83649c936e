// SPDX-License-Identifier: Apache-2.0
// What a run of a network has to tell behind the table of its steps: totals, and the whole as JSON and CSV.
#ifndef CLI_NETWORK_REPORT_H
#define CLI_NETWORK_REPORT_H

#include "api/job.h"
#include "api/sensitivity.h"
#include "cli/cli.h"

typedef struct network_report {
  const char *path;
  const api_job *job;
  const sim_engine_ops *engine;
  const run_network_result *result;
  const sim_flow_account *accounts;  // by step, from the start of the run; NULL: not asked for
  bool checked, timing_only;
} network_report;

void network_report_totals(const network_report *report, FILE *out);
// The first difference from the reference, if there was one.
void network_report_wrong(const network_report *report, FILE *out);
cJSON *network_report_json(const network_report *report);
void network_report_csv(const network_report *report, FILE *out);

#endif
