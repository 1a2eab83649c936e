// SPDX-License-Identifier: Apache-2.0
// Two fronts of a sweep: see sweep_fronts.h. Points as CSV or JSON, what they come to on stderr.
#include "cli/sweep_fronts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"

typedef struct fronts_output {
  const weft_fronts *fronts;
  cJSON *points;  // NULL: CSV
  bool any;
} fronts_output;

static double percent(double part) { return isfinite(part) ? 100 * part : 0; }

static const char *front_of(const weft_front_point *p) {
  if (p->on_cycle && p->on_flow) return "both";
  return p->on_cycle ? "cycle" : "flow";
}

static void write_csv(const char *network, const weft_front_point *p) {
  cli_csv_field(network);
  printf(",%" PRIu64 ",%s,%s,%.0f,%.0f,%.3f,%.9g,%.9g,%.3f,%.3f,", p->point, p->array, front_of(p), p->cycles,
         p->flow_cycles, percent(p->flow_cycles / p->cycles - 1), p->energy_pj, p->flow_energy_pj,
         percent(p->flow_energy_pj / p->energy_pj - 1), percent(p->off));
  cli_csv_field(p->parameters);
  putchar('\n');
}

static cJSON *json_of(const char *network, const weft_front_point *p) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "network", network);
  wf_json_count(object, "point", p->point);
  cJSON_AddStringToObject(object, "array", p->array);
  cJSON_AddStringToObject(object, "front", front_of(p));
  cJSON_AddNumberToObject(object, "cycles", p->cycles);
  cJSON_AddNumberToObject(object, "flow_cycles", p->flow_cycles);
  cJSON_AddNumberToObject(object, "cycles_error_percent", percent(p->flow_cycles / p->cycles - 1));
  cJSON_AddNumberToObject(object, "energy_pj", p->energy_pj);
  cJSON_AddNumberToObject(object, "flow_energy_pj", p->flow_energy_pj);
  cJSON_AddNumberToObject(object, "energy_error_percent", percent(p->flow_energy_pj / p->energy_pj - 1));
  cJSON_AddNumberToObject(object, "off_percent", percent(p->off));
  cJSON *parameters = cJSON_Parse(p->parameters);
  cJSON_AddItemToObject(object, "parameters", parameters == NULL ? cJSON_CreateNull() : parameters);
  return object;
}

static void write_summary(const weft_front *f) {
  char name[CLI_NAME];
  fprintf(stderr,
          "%s: %" PRIu64
          " points, cycles of flow %.2f %% off in the mean, %.2f %% at most; on the front of cycle %" PRIu64
          ", of flow %" PRIu64 ", of both %" PRIu64 "; the others are at most %.2f %% off\n",
          cli_shown(f->network, name), f->compared, percent(f->mean_error), percent(f->worst_error), f->on_cycle,
          f->on_flow, f->on_both, percent(f->worst_off));
}

static void write_network(fronts_output *out, size_t network, const weft_front *f) {
  weft_front_point point = {.size = sizeof point};
  if (!out->any && out->points == NULL)
    puts(
        "network,point,array,front,cycles,flow_cycles,cycles_error_percent,energy_pj,flow_energy_pj,"
        "energy_error_percent,off_percent,parameters");
  out->any = out->any || f->points > 0;
  for (size_t i = 0; weft_fronts_point(out->fronts, network, i, &point) == WEFT_OK; i++) {
    if (out->points == NULL)
      write_csv(f->network, &point);
    else
      cJSON_AddItemToArray(out->points, json_of(f->network, &point));
  }
  write_summary(f);
}

// Of all networks, or of one.
static void write_networks(fronts_output *out, const char *network) {
  weft_front front = {.size = sizeof front};
  for (size_t n = 0; weft_fronts_network(out->fronts, n, &front) == WEFT_OK; n++)
    if (network == NULL || strcmp(network, front.network) == 0) write_network(out, n, &front);
}

cli_exit cli_sweep_fronts(const cli_common *common, const char *store, const char *network) {
  weft_session *session = weft_session_create();
  weft_fronts *fronts = weft_fronts_compare(session, store);
  bool good = cli_messages(session);
  fronts_output out = {.fronts = fronts, .points = common->json == NULL ? NULL : cJSON_CreateArray()};
  write_networks(&out, network);
  good = cli_put_json(common, out.points) == CLI_OK && good;
  weft_fronts_destroy(fronts);
  weft_session_destroy(session);
  if (!good) return CLI_BAD_INPUT;
  if (out.any) return CLI_OK;
  fprintf(stderr, "weft: no point is good on both engines\n  hint: weft sweep --fidelity adds those of the other\n");
  return CLI_CANNOT_BUILD;
}
