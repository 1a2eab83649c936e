// SPDX-License-Identifier: Apache-2.0
// Options of tuning: see tuning.h.
#include "cli/tuning.h"

#include <string.h>

enum { TUNE_MOST = 512 };

const wf_option tuning_option_rows[TUNING_OPTIONS] = {
    {"tune", WF_COUNT(tuning_options, count), "N",
     "simulate N mappings of each layer (at most 512) and take the best: the mapper's; of more than 64, some by bands"},
    {"with", WF_TEXT(tuning_options, with), "cycle|flow",
     "the engine that simulates them (default cycle); of flow's best eight, cycle takes one; of mixes (--fuse auto), "
     "cycle judges what flow leaves"},
    {"tune-objective", WF_TEXT(tuning_options, objective), "cycles|energy|edp",
     "what is best (default cycles), of mixes (--fuse auto), too"},
    {"schedules", WF_TEXT(tuning_options, schedules), "FILE",
     "a store of tuned mappings: taken for layers that are in it; with --tune those of layers like them are tried, and "
     "what is found is added"},
};

static bool has_energy(const weft_array *array) {
  weft_array_facts facts = {.size = sizeof facts};
  return weft_array_describe(array, &facts) == WEFT_OK && facts.energies;
}

// What is asked of trials that are not made would be dropped. NULL: nothing.
static const char *without_effect(const tuning_options *options, bool others) {
  if (options->count > 0 || others) return NULL;
  return options->with != NULL ? "--with" : options->objective != NULL ? "--tune-objective" : NULL;
}

static bool check(const tuning_options *options, bool others) {
  const char *unused = without_effect(options, others);
  if (unused != NULL)
    fprintf(stderr, "weft: error: %s has no effect without trials\n  hint: --tune N makes them\n", unused);
  const bool many = options->count > TUNE_MOST;
  if (many)
    fprintf(stderr, "weft: error: --tune %llu\n  hint: at most %d mappings of a layer\n",
            (unsigned long long)options->count, TUNE_MOST);
  return unused == NULL && !many;
}

static bool words_good(const tuning_options *options) {
  const char *with = options->with, *objective = options->objective;
  if (with != NULL && strcmp(with, "cycle") != 0 && strcmp(with, "flow") != 0) {
    cli_error(NULL, "no fidelity '%s'", with);
    cli_hint("one of cycle and flow");
    return false;
  }
  if (objective == NULL || strcmp(objective, "cycles") == 0 || strcmp(objective, "energy") == 0 ||
      strcmp(objective, "edp") == 0)
    return true;
  fprintf(stderr, "weft: error: --tune-objective %s\n  hint: one of cycles, energy, edp\n", objective);
  return false;
}

cli_exit tuning_check(const tuning_options *options, bool others, const weft_array *array) {
  if (!check(options, others) || !words_good(options)) return CLI_USAGE;
  if (options->objective == NULL || strcmp(options->objective, "cycles") == 0 || has_energy(array)) return CLI_OK;
  cli_error(NULL, "--tune-objective %s: the technology of array %s has no energies", options->objective,
            weft_array_name(array));
  return CLI_BAD_INPUT;
}
