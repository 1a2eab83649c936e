// SPDX-License-Identifier: Apache-2.0
// What compilations ask of stores of tuned mappings, and what tuning adds to them.
#ifndef API_SCHEDULES_H
#define API_SCHEDULES_H

#include "api/private.h"
#include "runner/tune.h"
#include "search/schedules/schedules.h"

// The choices of tuning; false after the call was refused. `array` has energies if they are the objective.
bool api_tuning(weft_session *session, uint32_t count, const char *with, const char *objective, const hw_array *array,
                compile_tuning *tuning);

// One compilation's questions to a store; NULL: there is none, and nothing is done.
typedef struct api_asking {
  weft_schedules *store;
  schedules_lookup lookup;
} api_asking;

// `tuning` asks the store from then on, until api_asking_end.
void api_asking_begin(api_asking *asking, weft_schedules *store, const hw_array *array, compile_tuning *tuning);
// What tuning found for a network, and for a kernel.
void api_asking_add_network(api_asking *asking, const char *origin, const run_tune_result *tuned);
void api_asking_add_kernel(api_asking *asking, const char *origin, const compile_result *result);
void api_asking_end(api_asking *asking);

#endif
