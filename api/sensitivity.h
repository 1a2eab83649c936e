// SPDX-License-Identifier: Apache-2.0
// --sensitivity: what the cycles of a run on engine flow depend on, as text and as JSON. docs/flow-engine.md says what
// the weights are and how far they can be trusted.
#ifndef API_SENSITIVITY_H
#define API_SENSITIVITY_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/diag.h"
#include "sim/flow/flow.h"

// The engine that records in place of flow; NULL after an error was reported: another one was asked for.
const sim_engine_ops *api_sensitivity_engine(const sim_engine_ops *engine, wf_diag *diag);

// What the cycles between two moments went to.
sim_flow_account api_sensitivity_between(const sim_flow_account *from, const sim_flow_account *to);

// A table of all weights, most first.
void api_sensitivity_print(const sim_flow_account *account, FILE *out);
// The first weights in one line: "mesh 91.2 %, dram-data 3.0 %, ...".
void api_sensitivity_print_line(const sim_flow_account *account, FILE *out);
// Key sensitivity: a list of weights, most first.
void api_sensitivity_json(const sim_flow_account *account, cJSON *object);

#endif
