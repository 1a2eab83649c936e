// SPDX-License-Identifier: Apache-2.0
// What the cycles of a run depend on: see sensitivity.h.
#include "api/sensitivity.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/thousands.h"

enum { LINE_WEIGHTS = 4, TENTH = 10 };

const sim_engine_ops *api_sensitivity_engine(const sim_engine_ops *engine, wf_diag *diag) {
  if (engine == &sim_flow_engine) return &sim_flow_recording_engine;
  wf_error(diag, wf_in_file(NULL), "engine %s does not know what its cycles depend on", engine->name);
  wf_hint(diag, "--sensitivity takes --engine %s", sim_flow_engine.name);
  return NULL;
}

sim_flow_account api_sensitivity_between(const sim_flow_account *from, const sim_flow_account *to) {
  sim_flow_account account = *to;
  for (unsigned n = 0; n < SIM_FLOW_WEIGHTS; n++) {
    account.cycles[n] -= from->cycles[n];
    account.edges[n] -= from->edges[n];
    account.released[n] -= from->released[n];
  }
  return account;
}

// ---- in order

typedef struct row {
  const sim_flow_weight *weight;
  int64_t cycles, saves;
  uint64_t edges;
} row;

// At first order: of a time a tenth of its cycles, of a depth what one more of it releases.
static row row_of(const sim_flow_account *account, unsigned n) {
  const sim_flow_weight *weight = sim_flow_weight_at(n);
  const int64_t cycles = account->cycles[n];
  return (row){.weight = weight,
               .cycles = cycles,
               .saves = weight->depth ? (int64_t)account->released[n] : cycles / TENTH,
               .edges = account->edges[n]};
}

static int by_saves(const void *x, const void *y) {
  const row *a = x, *b = y;
  if (a->saves != b->saves) return a->saves < b->saves ? 1 : -1;
  if (a->cycles != b->cycles) return a->cycles < b->cycles ? 1 : -1;
  return strcmp(a->weight->key, b->weight->key);
}

// Weights that the chain has; returns how many.
static unsigned sort(const sim_flow_account *account, row rows[SIM_FLOW_WEIGHTS]) {
  unsigned count = 0;
  for (unsigned n = 0; sim_flow_weight_at(n) != NULL; n++) {
    rows[count] = row_of(account, n);
    count += rows[count].cycles != 0 || rows[count].saves != 0;
  }
  qsort(rows, count, sizeof *rows, by_saves);
  return count;
}

static int64_t total(const sim_flow_account *account) {
  int64_t cycles = 0;
  for (unsigned n = 0; n < SIM_FLOW_WEIGHTS; n++) cycles += account->cycles[n];
  return cycles;
}

static double share(int64_t cycles, int64_t all) { return all == 0 ? 0 : 100 * (double)cycles / (double)all; }

// ---- text

void api_sensitivity_print(const sim_flow_account *account, FILE *out) {
  row rows[SIM_FLOW_WEIGHTS];
  const int64_t all = total(account);
  const unsigned count = sort(account, rows);
  fprintf(out, "\n%-18s %12s %7s %10s %9s  %s\n", "weight", "cycles", "%", "saves", "when", "what");
  for (unsigned n = 0; n < count; n++) {
    const row *r = &rows[n];
    fprintf(out, "%-18s %12lld %7.2f %10lld %9s  %s (%s)\n", r->weight->key, (long long)r->cycles,
            share(r->cycles, all), (long long)r->saves, r->weight->depth ? "one more" : "10 % less", r->weight->what,
            r->weight->parameters);
  }
  fprintf(out, "%-18s %12lld\n", "sum", (long long)all);
}

void api_sensitivity_print_line(const sim_flow_account *account, FILE *out) {
  row rows[SIM_FLOW_WEIGHTS];
  const int64_t all = total(account);
  const unsigned count = sort(account, rows);
  for (unsigned n = 0; n < count && n < LINE_WEIGHTS; n++) {
    const row *r = &rows[n];
    fprintf(out, "%s%s %.1f %%", n == 0 ? "" : ", ", r->weight->key,
            share(r->weight->depth ? r->saves : r->cycles, all));
    if (r->weight->depth) fprintf(out, " by one more");
  }
  fputc('\n', out);
}

// ---- JSON

void api_sensitivity_json(const sim_flow_account *account, cJSON *object) {
  row rows[SIM_FLOW_WEIGHTS];
  const int64_t all = total(account);
  const unsigned count = sort(account, rows);
  cJSON *list = cJSON_AddArrayToObject(object, "sensitivity");
  for (unsigned n = 0; n < count; n++) {
    const row *r = &rows[n];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "weight", r->weight->key);
    cJSON_AddStringToObject(item, "what", r->weight->what);
    cJSON_AddStringToObject(item, "parameters", r->weight->parameters);
    cJSON_AddNumberToObject(item, "cycles", (double)r->cycles);
    cJSON_AddNumberToObject(item, "percent", share(r->cycles, all));
    cJSON_AddNumberToObject(item, "edges", (double)r->edges);
    cJSON_AddNumberToObject(item, r->weight->depth ? "one_more_saves" : "ten_percent_less_saves", (double)r->saves);
    cJSON_AddItemToArray(list, item);
  }
}
