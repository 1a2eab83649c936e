// SPDX-License-Identifier: Apache-2.0
// How programs end.
#ifndef API_ENDING_H
#define API_ENDING_H

#include "api/private.h"
#include "sim/run.h"

weft_ending api_ending_of(const sim_run_result *result);

// Whether a run came to an end at all; else the reason was reported.
weft_status api_ended(const sim_run_result *result);

// A file that swallows what a program prints; NULL after the reason was reported.
FILE *api_nowhere(wf_diag *diag);

#endif
