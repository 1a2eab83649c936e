// SPDX-License-Identifier: Apache-2.0
// How programs end: see ending.h.
#include "api/ending.h"

weft_ending api_ending_of(const sim_run_result *result) {
  switch (result->status) {
    case SIM_RUN_MISMATCH:
      return WEFT_MISMATCH;
    case SIM_RUN_TRAP:
      return WEFT_TRAP;
    case SIM_RUN_ILLEGAL:
      return WEFT_ILLEGAL_COMMAND;
    case SIM_RUN_LOCAL:
      return WEFT_LOCAL_ADDRESS;
    case SIM_RUN_MEMORY:
      return WEFT_MEMORY_ACCESS;
    case SIM_RUN_LIMIT:
    case SIM_RUN_STUCK:
      return WEFT_LIMIT;
    case SIM_RUN_OK:
    case SIM_RUN_BAD_INPUT:
    case SIM_RUN_CANNOT_BUILD:
      break;
  }
  return result->hosted && result->host.exit_code != 0 ? WEFT_PROGRAM_FAILED : WEFT_ENDED;
}

weft_status api_ended(const sim_run_result *result) {
  return result->status == SIM_RUN_BAD_INPUT      ? WEFT_BAD_INPUT
         : result->status == SIM_RUN_CANNOT_BUILD ? WEFT_CANNOT_BUILD
                                                  : WEFT_OK;
}

FILE *api_nowhere(wf_diag *diag) {
  FILE *nowhere = fopen("/dev/null", "w");
  if (nowhere == NULL) wf_error(diag, wf_in_file("/dev/null"), "cannot open it");
  return nowhere;
}
