// SPDX-License-Identifier: Apache-2.0
// What the joint search found: text, JSON, trace. See joint.h.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "api/joint.h"
#include "base/csv.h"
#include "base/json.h"
#include "base/name.h"
#include "base/thousands.h"
#include "hw/cost.h"

enum { AXIS_TEXT = 256, VALUE_TEXT = 96 };

static const codesign_site *best_of(const api_joint_answer *a) { return &a->result->sites[a->result->best]; }

// The space's base where engine cycle ran it; NULL: it did not.
static const codesign_site *base_of(const api_joint_answer *a) {
  const codesign_site *base = &a->result->sites[0];
  return !base->failed && base->rungs == CODESIGN_RUNGS ? base : NULL;
}

const codesign_whole *api_joint_whole(const api_joint_answer *a, size_t number) {
  const codesign_whole *wholes = a->result->wholes;
  return wholes != NULL && wholes[number].known ? &wholes[number] : NULL;
}

static double value_of(const api_joint_answer *a, const codesign_site *site, codesign_rung rung) {
  return codesign_value(a->options->objective, site->cost[rung]);
}

static double macs_of(const codesign_result *r) {
  double sum = 0;
  for (size_t i = 0; i < r->layer_count; i++) sum += r->layers[i].times * r->layers[i].macs;
  return sum;
}

static double utilisation(const codesign_result *r, const codesign_site *site) {
  const double dim = hw_derive(&site->array).dim;
  return macs_of(r) / (site->cost[CODESIGN_CYCLE].cycles * dim * dim);
}

// ---- why

// What is known of another value of an axis: from engine cycle, from engine flow at first order, or from the model.
typedef enum { BY_CYCLE, BY_FLOW, BY_MODEL, BY_AREA, NOT_BUILT } source;
static const char *const source_texts[] = {"simulated", "engine flow, first order", "the ladder's expectation",
                                           "not looked at", "cannot be built, or breaks a constraint"};

typedef struct alternative {
  codesign_change change;
  source by;
  double latency, energy, area, value;  // relative changes; energy of sites alone
} alternative;

static const codesign_site *site_of(const codesign_result *r, const codesign_point *point) {
  for (size_t i = 0; i < r->count; i++)
    if (codesign_point_equal(&r->sites[i].point, point)) return &r->sites[i];
  return NULL;
}

static alternative judge(const api_joint_answer *a, const codesign_change *change) {
  const codesign_site *best = best_of(a);
  const double own = value_of(a, best, CODESIGN_CYCLE);
  codesign_point point = best->point;
  hw_array array;
  alternative alt = {.change = *change, .by = change->known ? BY_FLOW : BY_AREA, .latency = change->latency};
  point.at[change->axis] = (uint16_t)change->at;
  alt.area = change->area;
  alt.value = change->value;
  if (!codesign_space_array(a->options->space, &point, &array)) alt.by = NOT_BUILT;
  const codesign_site *site = site_of(a->result, &point);
  if (site == NULL || site->failed) return alt;
  if (site->rungs == CODESIGN_RUNGS) {
    const codesign_cost *there = &site->cost[CODESIGN_CYCLE], *here = &best->cost[CODESIGN_CYCLE];
    alt.by = BY_CYCLE;
    alt.latency = there->ms / here->ms - 1;
    alt.energy = there->energy_uj / here->energy_uj - 1;
    alt.value = value_of(a, site, CODESIGN_CYCLE) / own - 1;
  } else if (site->rungs > 0 && !a->options->front &&
             codesign_within(&a->options->bounds, site->cost[site->rungs - 1])) {
    alt.by = BY_MODEL;
    alt.value = exp(site->mean) / own - 1;
  }
  return alt;
}

static void print_share(double share, const char *what, FILE *out) {
  if (fabs(share) < 5e-5)
    fprintf(out, "as much %s", what);
  else
    fprintf(out, "%.*f %% %s %s", fabs(share) < 0.01 ? 2 : 1, 100 * fabs(share), share < 0 ? "less" : "more", what);
}

// "dma.bus_bits is 128; 64: 12.1 % more time, 1.0 % less area, edap 11.0 % more (engine flow, first order; bus)".
static void print_alternative(const api_joint_answer *a, const alternative *alt, FILE *out) {
  char value[VALUE_TEXT];
  codesign_axis_value(&a->options->space->axes[alt->change.axis], alt->change.at, value, sizeof value);
  fprintf(out, "      %s: ", value);
  if (alt->by == NOT_BUILT) {
    fprintf(out, "%s\n", source_texts[alt->by]);
    return;
  }
  if (alt->by == BY_CYCLE || alt->by == BY_FLOW) print_share(alt->latency, "time, ", out);
  if (alt->by == BY_CYCLE) print_share(alt->energy, "energy, ", out);
  print_share(alt->area, "area", out);
  if (alt->by != BY_AREA) {
    fputs(", ", out);
    print_share(alt->value, codesign_objective_names[a->options->objective], out);
  }
  fprintf(out, " (%s", source_texts[alt->by]);
  if (alt->by == BY_FLOW && alt->change.weight != NULL) fprintf(out, "; %s", alt->change.weight);
  fputs(")\n", out);
}

// The values next to that of the answer.
static void print_why(const api_joint_answer *a, FILE *out) {
  const codesign_site *best = best_of(a);
  codesign_change change;
  size_t last = SIZE_MAX;
  fputs("  why: the values beside those of the answer\n", out);
  for (size_t n = 0; codesign_change_at(a->options, best, n, &change); n++) {
    const int away = (int)change.at - (int)best->point.at[change.axis];
    if (away < -1 || away > 1) continue;
    const sweep_axis *axis = &a->options->space->axes[change.axis];
    char name[AXIS_TEXT], value[VALUE_TEXT];
    codesign_axis_name(axis, name, sizeof name);
    codesign_axis_value(axis, best->point.at[change.axis], value, sizeof value);
    if (change.axis != last) fprintf(out, "    %s is %s\n", name, value);
    last = change.axis;
    const alternative alt = judge(a, &change);
    print_alternative(a, &alt, out);
  }
}

// ---- text

static void print_cost(const char *what, const api_joint_answer *a, const codesign_site *site, FILE *out) {
  const codesign_cost *c = &site->cost[CODESIGN_CYCLE];
  const hw_cost area = hw_cost_of(&site->array);
  fprintf(out,
          "  %-7s %.4e cycles, %.4g ms, %.5g uJ, %.3f mm2 (%.2f to %.2f), %.4g mW, %.1f %% of the PEs busy, %s %.4e\n",
          what, c->cycles, c->ms, c->energy_uj, c->area_mm2, area.total.low * 1e-6, area.total.high * 1e-6,
          c->energy_uj / c->ms, 100 * utilisation(a->result, site), codesign_objective_names[a->options->objective],
          value_of(a, site, CODESIGN_CYCLE));
}

static void print_effort(const api_joint_answer *a, FILE *out) {
  const codesign_result *r = a->result;
  fprintf(out, "  of %.3g points: %zu by the model, %zu by engine flow, %zu by engine cycle; %.1f s of processors\n",
          codesign_space_points(a->options->space), r->tried[CODESIGN_MODEL], r->tried[CODESIGN_FLOW],
          r->tried[CODESIGN_CYCLE], r->seconds);
  fprintf(out, "  %s; the chance that a point which was looked at is better by more than 1 %% is taken to be %.2g %%\n",
          r->settled ? "settled" : "the budget is spent, or nothing is left to look at", 100 * r->chance);
}

static void print_axes(const api_joint_answer *a, FILE *out) {
  const codesign_space *space = a->options->space;
  fprintf(out, "  %-52s %12s %12s\n", "parameter", "base", "answer");
  for (size_t i = 0; i < space->axis_count; i++) {
    char name[AXIS_TEXT], base[VALUE_TEXT], best[VALUE_TEXT];
    codesign_axis_name(&space->axes[i], name, sizeof name);
    codesign_axis_value(&space->axes[i], a->result->sites[0].point.at[i], base, sizeof base);
    codesign_axis_value(&space->axes[i], best_of(a)->point.at[i], best, sizeof best);
    fprintf(out, "  %-52s %12s %12s\n", name, base, best);
  }
}

static void print_area(const api_joint_answer *a, FILE *out) {
  const hw_cost cost = hw_cost_of(&best_of(a)->array);
  fputs("  area:", out);
  for (int p = 0; p < HW_COST_PARTS; p++)
    if (cost.part[p].value > 0)
      fprintf(out, "%s %s %.1f %%", p == 0 ? "" : ",", hw_cost_part_names[p],
              100 * cost.part[p].value / cost.total.value);
  fputc('\n', out);
}

static void print_clock(const api_joint_answer *a, FILE *out) {
  const hw_array *array = &best_of(a)->array;
  const hw_cost_path path = hw_cost_longest_path(array);
  fprintf(out, "  clock: %u MHz; the longest path, in %s, allows %.0f MHz (%.0f to %.0f)\n",
          (unsigned)array->chip.clock_mhz, path.unit, 1e3 / path.ns.value, 1e3 / path.ns.high, 1e3 / path.ns.low);
}

static void print_front(const api_joint_answer *a, FILE *out) {
  const codesign_result *r = a->result;
  if (!a->options->front) return;
  fprintf(out, "  front of %s and %s, hypervolume %.4f\n", codesign_objective_names[a->options->objective],
          codesign_objective_names[a->options->second], r->hypervolume);
  for (size_t i = 0; i < r->front_count; i++) {
    const codesign_cost *c = &r->sites[r->front[i]].cost[CODESIGN_CYCLE];
    fprintf(out, "    point %zu: %.4e and %.4e (%.4g ms, %.5g uJ, %.3f mm2)\n", r->front[i],
            codesign_value(a->options->objective, *c), codesign_value(a->options->second, *c), c->ms, c->energy_uj,
            c->area_mm2);
  }
}

// Networks as `weft sim` runs them.
static void print_wholes(const api_joint_answer *a, FILE *out) {
  for (size_t n = 0; n < a->options->network_count; n++) {
    const codesign_whole *whole = api_joint_whole(a, n);
    char name[WF_NAME_LINE], cycles[WF_THOUSANDS];
    if (whole == NULL) continue;
    const truth_program_run *run = &whole->run;
    fprintf(out, "  %s, every step: %s cycles, %.5g uJ, with %zu mappings of its own",
            wf_name_shown(a->options->networks[n].table->name, name), wf_thousands((uint64_t)run->cost.cycles, cycles),
            run->cost.energy_uj, run->mappings.count);
    if (run->mixes > 0)
      fprintf(out, ", %u mixes, %.3g MB kept in the scratchpad; without mixes %s cycles, %.5g uJ", run->mixes,
              (double)run->kept_bytes * 1e-6, wf_thousands((uint64_t)run->apart.cycles, cycles), run->apart.energy_uj);
    fputc('\n', out);
  }
}

// Of the search with mixes: what they and the choice by them have brought.
static void print_mixes(const api_joint_answer *a, FILE *out) {
  const codesign_objective objective = a->options->objective;
  const codesign_site *first = &a->result->sites[a->result->whole_first];
  const codesign_cost *c = &best_of(a)->whole;
  if (a->options->fuse == NETWORK_FUSE_OFF) return;
  fprintf(out, "  whole networks, of %zu points: %.4g ms, %.5g uJ, %s %.4e; without mixes %.4e\n",
          a->result->whole_tried, c->ms, c->energy_uj, codesign_objective_names[objective],
          codesign_value(objective, *c), codesign_value(objective, best_of(a)->apart));
  fprintf(out,
          "  %.2f times less than point %zu, which is best layer by layer, without mixes: %.4e (with mixes %.4e)\n",
          codesign_value(objective, first->apart) / codesign_value(objective, *c), a->result->whole_first,
          codesign_value(objective, first->apart), codesign_value(objective, first->whole));
}

static void print_layers(const api_joint_answer *a, FILE *out) {
  const codesign_site *best = best_of(a);
  const double pes = (double)hw_derive(&best->array).dim * hw_derive(&best->array).dim;
  fprintf(out, "  %-26s %7s %12s %7s %8s %7s  mapping\n", "layer", "times", "cycles", "util %", "model %", "flow %");
  for (size_t i = 0; i < a->result->layer_count; i++) {
    const codesign_layer *layer = &a->result->layers[i];
    const double cycles = best->layers[CODESIGN_CYCLE][i].cycles;
    char text[WF_THOUSANDS];
    fputs("  ", out);
    wf_name_column(layer->name, 26, false, out);
    fprintf(out, " %7g %12s %7.2f %+8.1f %+7.2f  %s\n", layer->times, wf_thousands((uint64_t)cycles, text),
            100 * layer->macs / (cycles * pes), 100 * (best->layers[CODESIGN_MODEL][i].cycles / cycles - 1),
            100 * (best->layers[CODESIGN_FLOW][i].cycles / cycles - 1),
            best->mapped[i] ? "the model's" : "the mapper's");
  }
}

void api_joint_print(const api_joint_answer *a, FILE *out) {
  const codesign_site *base = base_of(a);
  for (size_t n = 0; n < a->options->network_count; n++) {
    char name[WF_NAME_LINE];
    fprintf(out, "%s%s", n == 0 ? "" : " + ", wf_name_shown(a->options->networks[n].table->name, name));
    if (a->options->networks[n].weight != 1) fprintf(out, " x %g", a->options->networks[n].weight);
  }
  fprintf(out, ": %s %.4e %s", codesign_objective_names[a->options->objective], value_of(a, best_of(a), CODESIGN_CYCLE),
          codesign_objective_units[a->options->objective]);
  if (base != NULL)
    fprintf(out, ", %.2f times less than the base",
            value_of(a, base, CODESIGN_CYCLE) / value_of(a, best_of(a), CODESIGN_CYCLE));
  fputc('\n', out);
  if (base != NULL) print_cost("base", a, base, out);
  print_cost("answer", a, best_of(a), out);
  print_wholes(a, out);
  print_mixes(a, out);
  print_effort(a, out);
  print_axes(a, out);
  print_area(a, out);
  print_clock(a, out);
  print_front(a, out);
  print_why(a, out);
  print_layers(a, out);
  if (a->hardware != NULL) api_joint_hardware_print(a->hardware, a->result, out);
}

// ---- JSON

static void add_cost(cJSON *object, const api_joint_answer *a, const codesign_site *site) {
  const codesign_cost *c = &site->cost[CODESIGN_CYCLE];
  const hw_cost area = hw_cost_of(&site->array);
  cJSON_AddNumberToObject(object, "cycles", c->cycles);
  cJSON_AddNumberToObject(object, "ms", c->ms);
  cJSON_AddNumberToObject(object, "energy_uj", c->energy_uj);
  cJSON_AddNumberToObject(object, "area_mm2", c->area_mm2);
  cJSON_AddNumberToObject(object, "area_mm2_low", area.total.low * 1e-6);
  cJSON_AddNumberToObject(object, "area_mm2_high", area.total.high * 1e-6);
  cJSON_AddNumberToObject(object, "clock_mhz_most", hw_cost_clock_mhz(&site->array));
  cJSON_AddNumberToObject(object, "utilisation", utilisation(a->result, site));
  cJSON_AddNumberToObject(object, "value", value_of(a, site, CODESIGN_CYCLE));
}

static cJSON *axes_json(const api_joint_answer *a, const codesign_site *site) {
  cJSON *object = cJSON_CreateObject();
  for (size_t i = 0; i < a->options->space->axis_count; i++) {
    const sweep_axis *axis = &a->options->space->axes[i];
    for (int p = 0; p < axis->param_count; p++) {
      char name[AXIS_TEXT], value[VALUE_TEXT];
      snprintf(name, sizeof name, "%s.%s", axis->params[p]->section, axis->params[p]->name);
      hw_param_text(axis->params[p], hw_param_get(&site->array, axis->params[p]), value, sizeof value);
      cJSON_AddStringToObject(object, name, value);
    }
  }
  return object;
}

static cJSON *site_json(const api_joint_answer *a, const codesign_site *site) {
  cJSON *object = cJSON_CreateObject();
  add_cost(object, a, site);
  wf_json_hash(object, "array_hash", hw_array_hash(&site->array));
  cJSON_AddItemToObject(object, "parameters", axes_json(a, site));
  return object;
}

static cJSON *why_json(const api_joint_answer *a) {
  cJSON *list = cJSON_CreateArray();
  codesign_change change;
  for (size_t n = 0; codesign_change_at(a->options, best_of(a), n, &change); n++) {
    const sweep_axis *axis = &a->options->space->axes[change.axis];
    const alternative alt = judge(a, &change);
    char name[AXIS_TEXT], value[VALUE_TEXT];
    codesign_axis_name(axis, name, sizeof name);
    codesign_axis_value(axis, change.at, value, sizeof value);
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "parameter", name);
    cJSON_AddStringToObject(object, "value", value);
    cJSON_AddStringToObject(object, "by", source_texts[alt.by]);
    if (alt.by == BY_CYCLE || alt.by == BY_FLOW) cJSON_AddNumberToObject(object, "latency", alt.latency);
    if (alt.by == BY_CYCLE) cJSON_AddNumberToObject(object, "energy", alt.energy);
    cJSON_AddNumberToObject(object, "area", alt.area);
    if (alt.by <= BY_MODEL) cJSON_AddNumberToObject(object, "objective", alt.value);
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static cJSON *layers_json(const api_joint_answer *a) {
  cJSON *list = cJSON_CreateArray();
  const codesign_site *best = best_of(a);
  for (size_t i = 0; i < a->result->layer_count; i++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "layer", a->result->layers[i].name);
    cJSON_AddNumberToObject(object, "times", a->result->layers[i].times);
    wf_json_count(object, "cycles", (uint64_t)best->layers[CODESIGN_CYCLE][i].cycles);
    cJSON_AddNumberToObject(object, "energy_uj", best->layers[CODESIGN_CYCLE][i].energy_uj);
    cJSON_AddNumberToObject(object, "model_cycles", best->layers[CODESIGN_MODEL][i].cycles);
    cJSON_AddNumberToObject(object, "flow_cycles", best->layers[CODESIGN_FLOW][i].cycles);
    cJSON_AddBoolToObject(object, "own_mapping", best->mapped[i]);
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

static void add_whole(cJSON *object, const truth_program_run *run) {
  wf_json_count(object, "cycles", (uint64_t)run->cost.cycles);
  cJSON_AddNumberToObject(object, "energy_uj", run->cost.energy_uj);
  if (run->mixes == 0) return;
  wf_json_count(object, "mixes", run->mixes);
  wf_json_count(object, "kept_bytes", run->kept_bytes);
  wf_json_count(object, "cycles_without_mixes", (uint64_t)run->apart.cycles);
  cJSON_AddNumberToObject(object, "energy_uj_without_mixes", run->apart.energy_uj);
}

static cJSON *whole_json(const api_joint_answer *a) {
  const codesign_cost *c = &best_of(a)->whole;
  const codesign_site *first = &a->result->sites[a->result->whole_first];
  cJSON *object = cJSON_CreateObject();
  wf_json_count(object, "points", a->result->whole_tried);
  cJSON_AddNumberToObject(object, "cycles", c->cycles);
  cJSON_AddNumberToObject(object, "ms", c->ms);
  cJSON_AddNumberToObject(object, "energy_uj", c->energy_uj);
  cJSON_AddNumberToObject(object, "value", codesign_value(a->options->objective, *c));
  cJSON_AddNumberToObject(object, "value_without_mixes", codesign_value(a->options->objective, best_of(a)->apart));
  cJSON_AddNumberToObject(object, "first_value", codesign_value(a->options->objective, first->whole));
  cJSON_AddNumberToObject(object, "first_value_without_mixes", codesign_value(a->options->objective, first->apart));
  return object;
}

cJSON *api_joint_json(const api_joint_answer *a) {
  const codesign_result *r = a->result;
  cJSON *object = cJSON_CreateObject();
  cJSON *networks = cJSON_AddArrayToObject(object, "networks");
  for (size_t n = 0; n < a->options->network_count; n++) {
    cJSON *one = cJSON_CreateObject();
    cJSON_AddStringToObject(one, "name", a->options->networks[n].table->name);
    cJSON_AddNumberToObject(one, "weight", a->options->networks[n].weight);
    if (api_joint_whole(a, n) != NULL) add_whole(one, &api_joint_whole(a, n)->run);
    cJSON_AddItemToArray(networks, one);
  }
  cJSON_AddStringToObject(object, "objective", codesign_objective_names[a->options->objective]);
  cJSON_AddStringToObject(object, "method", codesign_method_names[a->options->method]);
  wf_json_count(object, "seed", a->options->seed);
  cJSON_AddNumberToObject(object, "points", codesign_space_points(a->options->space));
  for (int rung = 0; rung < CODESIGN_RUNGS; rung++)
    cJSON_AddNumberToObject(object, codesign_rung_names[rung], (double)r->tried[rung]);
  cJSON_AddNumberToObject(object, "seconds", r->seconds);
  cJSON_AddBoolToObject(object, "settled", r->settled);
  cJSON_AddNumberToObject(object, "chance", r->chance);
  if (base_of(a) != NULL) cJSON_AddItemToObject(object, "base", site_json(a, base_of(a)));
  cJSON_AddItemToObject(object, "answer", site_json(a, best_of(a)));
  if (a->options->fuse != NETWORK_FUSE_OFF) cJSON_AddItemToObject(object, "whole", whole_json(a));
  if (a->options->front) {
    cJSON_AddStringToObject(object, "pareto", codesign_objective_names[a->options->second]);
    cJSON_AddNumberToObject(object, "hypervolume", r->hypervolume);
    cJSON *front = cJSON_AddArrayToObject(object, "front");
    for (size_t i = 0; i < r->front_count; i++) cJSON_AddItemToArray(front, site_json(a, &r->sites[r->front[i]]));
  }
  cJSON_AddItemToObject(object, "why", why_json(a));
  cJSON_AddItemToObject(object, "layers", layers_json(a));
  if (a->hardware != NULL) cJSON_AddItemToObject(object, "rtl", api_joint_hardware_json(a->hardware, a->result));
  return object;
}

// ---- the trace: what went up, why, and what came out

void api_joint_trace(const api_joint_answer *a, FILE *out) {
  const codesign_result *r = a->result;
  fputs("event,point,rung,expected,spread,value,best,spent,seconds", out);
  for (size_t i = 0; i < a->options->space->axis_count; i++) {
    char name[AXIS_TEXT];
    codesign_axis_name(&a->options->space->axes[i], name, sizeof name);
    fputc(',', out);
    wf_csv_field(name, out);
  }
  fputc('\n', out);
  for (size_t e = 0; e < r->event_count; e++) {
    const codesign_event *event = &r->events[e];
    fprintf(out, "%zu,%zu,%s,", e, event->site, event->whole ? "network" : codesign_rung_names[event->rung]);
    if (isfinite(event->mean)) fprintf(out, "%.6g", exp(event->mean));
    fprintf(out, ",%.3g,", event->spread);
    if (isfinite(event->value)) fprintf(out, "%.6g", event->value);
    fputc(',', out);
    if (isfinite(event->best)) fprintf(out, "%.6g", event->best);
    fprintf(out, ",%.2f,%.2f", event->spent, event->seconds);
    for (size_t i = 0; i < a->options->space->axis_count; i++) {
      char value[VALUE_TEXT];
      codesign_axis_value(&a->options->space->axes[i], r->sites[event->site].point.at[i], value, sizeof value);
      fputc(',', out);
      wf_csv_field(value, out);
    }
    fputc('\n', out);
  }
}
