// SPDX-License-Identifier: Apache-2.0
// What another value of an axis is worth at first order: engine flow's account of a point says what the latency does
// (weights.def), the cost table what the area does. See codesign_change_at.
#include <math.h>
#include <string.h>

#include "hw/cost.h"
#include "search/codesign/internal.h"

static const struct {
  const char *weight, *parameter;
  bool depth;
  double exponent;
} rows[] = {
#define TIME(weight, parameter, exponent) {weight, parameter, false, exponent},
#define DEPTH(weight, parameter) {weight, parameter, true, 0},
#include "search/codesign/weights.def"
#undef TIME
#undef DEPTH
};

enum { ROWS = sizeof rows / sizeof *rows };

// A chain shortens by what it has at most; nine tenths are far beyond first order.
static const double least_share = 0.1;

static const hw_param *param_of(size_t row) { return hw_param_find(rows[row].parameter); }

// The number of a weight by its key.
static unsigned weight_of(const char *key) {
  unsigned n = 0;
  while (strcmp(sim_flow_weight_at(n)->key, key) != 0) n++;
  return n;
}

// Cycles that a row adds when its parameter changes.
static double cycles_of(size_t row, const codesign_account *account, double from, double to) {
  const unsigned weight = weight_of(rows[row].weight);
  if (rows[row].depth) return -account->saves[weight] * (to - from);
  return from <= 0 || to <= 0 ? 0 : account->cycles[weight] * (pow(to / from, rows[row].exponent) - 1);
}

static void add_parameter(const codesign_site *site, const hw_array *changed, const hw_param *param,
                          codesign_change *change, double *cycles, double *most) {
  const double from = hw_param_get(&site->array, param), to = hw_param_get(changed, param);
  for (size_t row = 0; row < ROWS; row++) {
    if (param_of(row) != param) continue;
    const double more = cycles_of(row, &site->account, from, to);
    change->known = true;
    *cycles += more;
    if (fabs(more) <= *most) continue;
    *most = fabs(more);
    change->weight = rows[row].weight;
  }
}

bool codesign_axis_known(const sweep_axis *axis) {
  for (int p = 0; p < axis->param_count; p++)
    for (size_t row = 0; row < ROWS; row++)
      if (param_of(row) == axis->params[p]) return true;
  return false;
}

// How often the numbers of an axis are halved, at most: what is not waited for today may be when there is less of it.
static double halvings(const sweep_axis *axis, const hw_array *from, const hw_array *to) {
  double most = 0;
  for (int p = 0; p < axis->param_count; p++) {
    const double old = hw_param_get(from, axis->params[p]), new = hw_param_get(to, axis->params[p]);
    if (old > 0 && new > 0) most = fmax(most, log2(old / new));
  }
  return most;
}

bool codesign_account_says(const codesign_options *options, const codesign_site *site, const codesign_point *point,
                           codesign_account_word *word) {
  const codesign_space *space = options->space;
  *word = (codesign_account_word){.cycles = site->cost[CODESIGN_FLOW].cycles};
  for (size_t a = 0; a < space->axis_count; a++) {
    const sweep_axis *axis = &space->axes[a];
    codesign_change change = {.axis = a, .at = point->at[a]};
    hw_array changed = site->array;
    double cycles = 0, most = 0;
    if (site->point.at[a] == point->at[a]) continue;
    sweep_axis_set(axis, point->at[a], &changed);
    for (int p = 0; p < axis->param_count; p++) add_parameter(site, &changed, axis->params[p], &change, &cycles, &most);
    if (!change.known) return false;
    word->cycles += cycles;
    word->moved += fabs(cycles) / site->cost[CODESIGN_FLOW].cycles;
    word->halvings += halvings(axis, &site->array, &changed);
    word->axes++;
  }
  word->cycles = fmax(word->cycles, least_share * site->cost[CODESIGN_FLOW].cycles);
  return true;
}

static void add_slope(const codesign_site *site, const hw_array *changed, const hw_param *param,
                      codesign_change *change, double *cycles) {
  if (!codesign_has_slope(site, param)) return;
  change->known = true;
  *cycles += codesign_slope_cycles(site, param, hw_param_get(&site->array, param), hw_param_get(changed, param));
}

static void judge(codesign_rung rung, const codesign_options *options, const codesign_site *site,
                  codesign_change *change) {
  const sweep_axis *axis = &options->space->axes[change->axis];
  hw_array changed = site->array;
  double cycles = 0, most = 0;
  sweep_axis_set(axis, change->at, &changed);
  for (int p = 0; p < axis->param_count; p++) {
    if (rung == CODESIGN_MODEL)
      add_slope(site, &changed, axis->params[p], change, &cycles);
    else
      add_parameter(site, &changed, axis->params[p], change, &cycles, &most);
  }
  const double share = fmax(cycles / site->cost[rung].cycles, least_share - 1);
  change->latency = (1 + share) * site->array.chip.clock_mhz / changed.chip.clock_mhz - 1;
  change->area = hw_cost_of(&changed).total.value * 1e-6 / site->area_mm2 - 1;
  change->value = codesign_exponent(options->objective, 0) * log1p(change->latency) +
                  codesign_exponent(options->objective, 2) * log1p(change->area);
  change->value = expm1(change->value);
}

bool codesign_change_by(codesign_rung rung, const codesign_options *options, const codesign_site *site, size_t index,
                        codesign_change *change) {
  const codesign_space *space = options->space;
  for (size_t a = 0; a < space->axis_count; a++) {
    const size_t others = space->axes[a].value_count - 1;
    if (index >= others) {
      index -= others;
      continue;
    }
    *change = (codesign_change){.axis = a, .at = index < site->point.at[a] ? index : index + 1};
    judge(rung, options, site, change);
    return true;
  }
  return false;
}

bool codesign_change_at(const codesign_options *options, const codesign_site *site, size_t index,
                        codesign_change *change) {
  return codesign_change_by(CODESIGN_FLOW, options, site, index, change);
}
