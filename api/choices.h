// SPDX-License-Identifier: Apache-2.0
// Kernels that were chosen by cost (runner/kernels.h), as text and as JSON.
#ifndef API_CHOICES_H
#define API_CHOICES_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "runner/kernels.h"

// A line for each layer that has another scheme than by the rules, behind the totals.
void api_choices_print(const run_kernels_result *result, FILE *out);
// Every layer with a choice, and what was tried.
void api_choices_json(const run_kernels_result *result, cJSON *document);

#endif
