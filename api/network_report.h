// SPDX-License-Identifier: Apache-2.0
// What a run of a network has to tell behind the table of its steps: totals, and the whole as JSON and CSV.
#ifndef API_NETWORK_REPORT_H
#define API_NETWORK_REPORT_H

#include "api/job.h"
#include "api/sensitivity.h"
#include "base/json.h"

typedef struct api_network_report {
  const char *path;
  const api_job *job;
  const sim_engine_ops *engine;
  const run_network_result *result;
  const sim_flow_account *accounts;  // by step, from the start of the run; NULL: not asked for
  bool checked, timing_only;
} api_network_report;

void api_network_report_totals(const api_network_report *report, FILE *out);
// The first difference from the reference, if there was one.
void api_network_report_wrong(const api_network_report *report, FILE *out);
cJSON *api_network_report_json(const api_network_report *report);
void api_network_report_csv(const api_network_report *report, FILE *out);

#endif
