// SPDX-License-Identifier: Apache-2.0
// Options of tuning: see tuning.h.
#include "cli/tuning.h"

#include <string.h>

#include "hw/tech.h"
#include "runner/judge.h"

const wf_option tuning_option_rows[TUNING_OPTIONS] = {
    {"tune", WF_COUNT(tuning_options, count), "N",
     "simulate N mappings of each layer (at most 512) and take the best: the mapper's; of more than 64, some by bands"},
    {"with", WF_TEXT(tuning_options, with), "cycle|flow",
     "the engine that simulates them (default cycle); of flow's best eight, cycle takes one; of mixes (--fuse auto), "
     "cycle judges what flow leaves"},
    {"tune-objective", WF_TEXT(tuning_options, objective), "cycles|energy|edp", "what is best (default cycles)"},
    {"schedules", WF_TEXT(tuning_options, schedules), "FILE",
     "a store of tuned mappings: taken for layers that are in it; with --tune those of layers like them are tried, and "
     "what is found is added"},
};

static bool set_objective(const char *name, compile_objective *objective) {
  for (int o = 0; o < COMPILE_OBJECTIVE_COUNT; o++) {
    if (strcmp(name, compile_objective_names[o]) != 0) continue;
    *objective = (compile_objective)o;
    return true;
  }
  fprintf(stderr, "weft: error: --tune-objective %s\n  hint: one of cycles, energy, edp\n", name);
  return false;
}

static bool has_energy(const hw_array *array) {
  hw_tech tech;
  hw_tech_of(&tech, array);
  return tech.has.energy_pj;
}

// What is asked of trials that are not made would be dropped. NULL: nothing.
static const char *without_effect(const tuning_options *options, tuning_others others) {
  if (options->count > 0) return NULL;
  if (options->with != NULL && others == TUNING_NO_OTHERS) return "--with";
  return options->objective != NULL && others != TUNING_OTHERS ? "--tune-objective" : NULL;
}

static bool check(const tuning_options *options, tuning_others others) {
  const char *unused = without_effect(options, others);
  if (unused != NULL)
    fprintf(stderr, "weft: error: %s has no effect without trials\n  hint: --tune N makes them\n", unused);
  const bool many = options->count > MAP_BEST_MAX;
  if (many)
    fprintf(stderr, "weft: error: --tune %llu\n  hint: at most %d mappings of a layer\n",
            (unsigned long long)options->count, MAP_BEST_MAX);
  return unused == NULL && !many;
}

cli_exit tuning_open(const tuning_options *options, tuning_others others, const hw_array *array, compile_tuning *tuning,
                     wf_diag *diag) {
  run_fidelity with = RUN_FIDELITY_CYCLE;
  compile_objective objective = COMPILE_CYCLES;
  if (!check(options, others)) return CLI_USAGE;
  if (options->with != NULL && !run_fidelity_named(options->with, &with, diag)) return CLI_USAGE;
  if (options->objective != NULL && !set_objective(options->objective, &objective)) return CLI_USAGE;
  if (objective != COMPILE_CYCLES && !has_energy(array)) {
    wf_error(diag, wf_in_file(NULL), "--tune-objective %s: the technology of array %s has no energies",
             options->objective, array->name);
    return CLI_BAD_INPUT;
  }
  *tuning = run_tuning((unsigned)options->count, with, objective);
  return CLI_OK;
}
