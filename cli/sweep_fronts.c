// SPDX-License-Identifier: Apache-2.0
// Two fronts of a sweep: see sweep_fronts.h. Points as CSV or JSON, what they come to on stderr.
#include "cli/sweep_fronts.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/csv.h"
#include "base/name.h"
#include "search/report/fronts.h"

typedef struct fronts_output {
  const report_data *data;
  cJSON *points;  // NULL: CSV
  bool any;
} fronts_output;

static double percent(double part) { return isfinite(part) ? 100 * part : 0; }

static const char *front_of(const report_fronts_point *p) {
  if (p->on[0] && p->on[1]) return "both";
  return p->on[0] ? run_fidelity_names[RUN_FIDELITY_CYCLE] : run_fidelity_names[RUN_FIDELITY_FLOW];
}

static void write_csv(const fronts_output *out, const report_fronts *f, const report_fronts_point *p) {
  const report_point *point = &out->data->points[p->point];
  wf_csv_field(f->network, stdout);
  printf(",%zu,%s,%s,%.0f,%.0f,%.3f,%.9g,%.9g,%.3f,%.3f,", p->point, point->array, front_of(p), p->cycles[0],
         p->cycles[1], percent(p->cycles[1] / p->cycles[0] - 1), p->energy_pj[0], p->energy_pj[1],
         percent(p->energy_pj[1] / p->energy_pj[0] - 1), percent(p->off));
  wf_csv_field(point->parameters, stdout);
  putchar('\n');
}

static cJSON *json_of(const fronts_output *out, const report_fronts *f, const report_fronts_point *p) {
  const report_point *point = &out->data->points[p->point];
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", f->network);
  cli_json_count(object, "point", p->point);
  cJSON_AddStringToObject(object, "array", point->array);
  cJSON_AddStringToObject(object, "front", front_of(p));
  cJSON_AddNumberToObject(object, "cycles", p->cycles[0]);
  cJSON_AddNumberToObject(object, "flow_cycles", p->cycles[1]);
  cJSON_AddNumberToObject(object, "cycles_error_percent", percent(p->cycles[1] / p->cycles[0] - 1));
  cJSON_AddNumberToObject(object, "energy_pj", p->energy_pj[0]);
  cJSON_AddNumberToObject(object, "flow_energy_pj", p->energy_pj[1]);
  cJSON_AddNumberToObject(object, "energy_error_percent", percent(p->energy_pj[1] / p->energy_pj[0] - 1));
  cJSON_AddNumberToObject(object, "off_percent", percent(p->off));
  cJSON *parameters = cJSON_Parse(point->parameters);
  cJSON_AddItemToObject(object, "parameters", parameters == NULL ? cJSON_CreateNull() : parameters);
  return object;
}

static void write_network(fronts_output *out, const report_fronts *f) {
  if (!out->any && out->points == NULL)
    puts(
        "network,point,array,front,cycles,flow_cycles,cycles_error_percent,energy_pj,flow_energy_pj,"
        "energy_error_percent,off_percent,parameters");
  out->any = out->any || f->count > 0;
  for (size_t i = 0; i < f->count; i++) {
    if (out->points == NULL)
      write_csv(out, f, &f->points[i]);
    else
      cJSON_AddItemToArray(out->points, json_of(out, f, &f->points[i]));
  }
  char name[WF_NAME_LINE];
  fprintf(stderr,
          "%s: %zu points, cycles of flow %.2f %% off in the mean, %.2f %% at most; on the front of cycle %zu, of flow "
          "%zu, of both %zu; the others are at most %.2f %% off\n",
          wf_name_shown(f->network, name), f->compared, percent(f->mean_cycles), percent(f->worst_cycles), f->on[0],
          f->on[1], f->both, percent(f->worst_off));
}

static bool load(report_data data[2], const char *store, wf_diag *diag) {
  return report_load(&data[0], store, run_fidelity_names[RUN_FIDELITY_CYCLE], diag) &&
         report_load(&data[1], store, run_fidelity_names[RUN_FIDELITY_FLOW], diag);
}

cli_exit cli_sweep_fronts(const cli_common *common, const char *store, const char *network, wf_diag *diag) {
  report_data data[2] = {{0}};
  fronts_output out = {.data = &data[0], .points = common->json == NULL ? NULL : cJSON_CreateArray()};
  bool good = load(data, store, diag);
  for (size_t n = 0; good && n < data[0].network_count; n++) {
    if (network != NULL && strcmp(network, data[0].networks[n].name) != 0) continue;
    const report_fronts f = report_compare_fronts(&data[0], &data[1], n);
    write_network(&out, &f);
    wf_free(f.points);
  }
  for (unsigned engine = 0; engine < 2; engine++) report_release(&data[engine]);
  if (out.points != NULL) good = cli_write_json(common->json, out.points, diag) && good;
  if (!good) return CLI_BAD_INPUT;
  if (out.any) return CLI_OK;
  fprintf(stderr, "weft: no point is good on both engines\n  hint: weft sweep --fidelity adds those of the other\n");
  return CLI_CANNOT_BUILD;
}
