// SPDX-License-Identifier: Apache-2.0
// The options of verbs that tune by trials: --tune, --with, --tune-objective.
#ifndef CLI_TUNING_H
#define CLI_TUNING_H

#include "cli/cli.h"

typedef struct tuning_options {
  uint64_t count;
  const char *with, *objective;
  const char *schedules;  // a store; NULL: none
} tuning_options;

enum { TUNING_OPTIONS = 4 };
extern const wf_option tuning_option_rows[TUNING_OPTIONS];

// What the options ask of trials on an array, before there are any; `others`: the verb makes some without --tune, too.
// Returns an exit code, after errors were reported.
cli_exit tuning_check(const tuning_options *options, bool others, const weft_array *array);

#endif
