// SPDX-License-Identifier: Apache-2.0
// See search_descent.h.
#include "cli/search_descent.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "base/thousands.h"

bool search_parse_objective(const char *text, descent_plain_objective *objective) {
  for (int n = 0; n < PLAIN_OBJECTIVES; n++)
    if (strcmp(descent_plain_objective_names[n], text) == 0) return *objective = (descent_plain_objective)n, true;
  return false;
}

bool search_parse_positive(const char *text, double *value) {
  if (text == NULL) return true;
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == '\0' && isfinite(*value) && *value > 0;
}

bool search_parse_budget(const char *text, descent_options *options) {
  char *end;
  if (!isdigit((unsigned char)*text)) return false;
  const double value = strtod(text, &end);
  if (!isfinite(value) || value <= 0) return false;
  if (strcmp(end, "s") == 0) return options->max_seconds = value, true;
  if (*end != '\0' || value > 1e15 || value != floor(value)) return false;
  options->max_evaluations = (uint64_t)value;
  return true;
}

static void print_progress(void *context, const char *text) {
  (void)context;
  fputs("weft: ", stderr);
  wf_name_write(WF_NAME_TERMINAL, text, stderr);
  fputc('\n', stderr);
}

static void print_effort(const search_answer *a, FILE *out) {
  const search_descent_result *r = a->how;
  char gradients[WF_THOUSANDS], evaluations[WF_THOUSANDS];
  fprintf(out, "  for %s, seed %llu: %s evaluations with gradients, %s without, %.2f s; %.4e before polishing\n",
          descent_plain_objective_names[r->options.goal.objective], (unsigned long long)r->options.seed,
          wf_thousands(r->found.gradients, gradients), wf_thousands(r->found.evaluations, evaluations), a->seconds,
          r->found.rounded);
  const descent_plain_silicon silicon = descent_plain_silicon_of(&r->options.goal);
  fprintf(out, "  %.3f mm2 of PEs and memories, %.1f mW at %g MHz\n", descent_plain_area_mm2(&silicon, &a->hardware),
          descent_plain_power_mw(&silicon, a->cost), silicon.clock_mhz);
}

static void effort_json(const search_answer *a, cJSON *object) {
  const search_descent_result *r = a->how;
  cJSON_AddStringToObject(object, "objective", descent_plain_objective_names[r->options.goal.objective]);
  cli_json_count(object, "seed", r->options.seed);
  cli_json_count(object, "gradients", r->found.gradients);
  cli_json_count(object, "evaluations", r->found.evaluations);
  cJSON_AddNumberToObject(object, "rounded", r->found.rounded);
  const descent_plain_silicon silicon = descent_plain_silicon_of(&r->options.goal);
  cJSON_AddNumberToObject(object, "area_mm2", descent_plain_area_mm2(&silicon, &a->hardware));
  cJSON_AddNumberToObject(object, "power_mw", descent_plain_power_mw(&silicon, a->cost));
  cJSON_AddNumberToObject(object, "clock_mhz", silicon.clock_mhz);
}

bool search_by_descent(const layers_network *network, const descent_options *options, const cli_common *common,
                       search_descent_result *result, search_answer *a) {
  result->options = *options;
  result->options.goal.network = network;
  if (!common->quiet) result->options.progress = print_progress;
  if (!descent_search(&result->options, &result->found)) return false;
  a->method = "descent";
  a->remark = "found by gradients";
  a->hardware = result->found.hardware;
  a->cost = result->found.cost;
  a->mappings = result->found.mappings;
  a->seconds = result->found.seconds;
  a->how = result;
  a->print_how = print_effort;
  a->add_how = effort_json;
  return true;
}
