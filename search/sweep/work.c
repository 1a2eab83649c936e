// SPDX-License-Identifier: Apache-2.0
// Measures one layer, or one network program, on one array: see work.h.
#include "search/sweep/work.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runner/judge.h"
#include "runner/measure.h"
#include "runner/steps.h"
#include "runner/tune.h"
#include "search/predict/predict.h"

const char *const sweep_work_status_names[WORK_STATUS_COUNT] = {
#define X(NAME, text) text,
    WORK_STATUSES(X)
#undef X
};

// Room for every unit with every cause: names and numbers in quotes and with colons.
enum {
  UNITS = sizeof((sim_cycle_report){0}.unit) / sizeof((sim_cycle_report){0}.unit[0]),
  NAME_CHARS = 48,
  NUMBER_CHARS = 20,
  CAUSE_CHARS = NAME_CHARS + NUMBER_CHARS + 4
};
static_assert(UNITS * (NAME_CHARS + 6 + SIM_CYCLE_CAUSES * CAUSE_CHARS) + 3 <= WORK_UNITS, "units may be cut");

// {"execute": {"working": 12, ...}, ...}: causes without cycles are left out.
static void write_units(const sim_cycle_report *units, char text[WORK_UNITS]) {
  char *at = text;
  *at++ = '{';
  for (unsigned u = 0; u < units->units; u++) {
    const sim_cycle_unit_report *unit = &units->unit[u];
    const char *comma = "";
    at += sprintf(at, "%s\"%.*s\":{", u == 0 ? "" : ",", NAME_CHARS, unit->name);
    for (unsigned cause = 0; cause < unit->causes; cause++) {
      if (unit->cycles[cause] == 0) continue;
      at += sprintf(at, "%s\"%.*s\":%" PRIu64, comma, NAME_CHARS, unit->cause[cause], unit->cycles[cause]);
      comma = ",";
    }
    *at++ = '}';
  }
  memcpy(at, "}", 2);
}

static void write_mapping(const map_mapping *mapping, char text[WORK_MAPPING]) {
  FILE *out = fmemopen(text, WORK_MAPPING - 1, "w");
  assert(out != NULL);
  map_print(mapping, out);
  const bool whole = fclose(out) == 0;
  assert(whole);
  (void)whole;
}

// The first message of a diag: "file:line: error: text" without what comes before the text.
static void write_reason(const char *messages, char text[WORK_REASON]) {
  const char *start = strstr(messages, "error: ");
  start = start == NULL ? messages : start + strlen("error: ");
  snprintf(text, WORK_REASON, "%.*s", (int)strcspn(start, "\n"), start);
}

static sweep_work_status status_of(run_measure_status status) {
  static const sweep_work_status statuses[RUN_MEASURE_STATUSES] = {
      [RUN_MEASURE_GOOD] = WORK_GOOD, [RUN_MEASURE_CANNOT_MAP] = WORK_CANNOT_MAP, [RUN_MEASURE_FAULT] = WORK_FAULT};
  return statuses[status];
}

static void take(const run_measured *m, sweep_work_result *result) {
  result->status = (uint32_t)status_of(m->status);
  result->has_energy = m->has_energy;
  result->known = m->known;
  result->shared = m->shared;
  result->cycles = m->cycles;
  result->macs = m->macs;
  result->commands = m->commands;
  result->read_bytes = m->read_bytes;
  result->written_bytes = m->written_bytes;
  result->program_digest = m->program_digest;
  result->utilisation = m->utilisation;
  result->energy_pj = m->energy_pj;
  result->array_pj = m->array_pj;
  memcpy(result->part_pj, m->part_pj, sizeof result->part_pj);
  result->compile_seconds = m->compile_seconds;
  result->simulate_seconds = m->simulate_seconds;
  snprintf(result->bound, sizeof result->bound, "%s", m->bound);
  if (m->mapped) write_mapping(&m->mapping, result->mapping);
  write_units(&m->units, result->units);
}

void sweep_work_fail(sweep_work_result *result, uint64_t id, sweep_work_status status, const char *reason) {
  memset(result, 0, sizeof *result);
  result->id = id;
  result->status = (uint32_t)status;
  snprintf(result->reason, sizeof result->reason, "%s", reason);
  gethostname(result->host, sizeof result->host - 1);
}

static void measure(const sweep_work_memory *memory, const sweep_work_request *request, const layer_policy *policy,
                    sweep_work_result *result) {
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  sim_flow_account account = {.lost = 0};
  const run_measured m = run_measure(&(run_measure_request){.layer = &request->layer,
                                                            .array = &request->array,
                                                            .policy = *policy,
                                                            .known = memory->known,
                                                            .programs = memory->programs,
                                                            .fidelity = (run_fidelity)request->fidelity,
                                                            .account = request->accounted ? &account : NULL},
                                     &diag);
  fclose(out);
  sweep_work_fail(result, request->id, WORK_GOOD, "");
  take(&m, result);
  result->account = account;
  if (request->array_energy) result->energy_pj = result->array_pj;
  if (m.status != RUN_MEASURE_GOOD) write_reason(messages, result->reason);
  free(messages);
}

static double value_of(const sweep_work_request *request, const sweep_work_result *r) {
  if (r->status != WORK_GOOD) return INFINITY;
  return predict_value((descent_plain_objective)request->objective, (double)r->cycles, r->has_energy, r->energy_pj);
}

// What the model of the machine finds, after the mapper's best: none of it can make the result worse.
static void search(const sweep_work_memory *memory, const sweep_work_request *request, sweep_work_result *result) {
  enum { CLIMBS = 400, TRIED = 64 };
  predict_result found = predict_layer(&(predict_request){.layer = &request->layer,
                                                          .array = &request->array,
                                                          .objective = (descent_plain_objective)request->objective,
                                                          .tried = TRIED,
                                                          .climbs = CLIMBS,
                                                          .kept = request->searched});
  for (size_t i = 0; i < found.count && found.takes_mappings; i++) {
    sweep_work_result next;
    measure(memory, request, &(layer_policy){.mapping = &found.choices[i].mapping}, &next);
    next.compile_seconds += result->compile_seconds;
    next.simulate_seconds += result->simulate_seconds;
    if (value_of(request, &next) < value_of(request, result)) {
      *result = next;
    } else {
      result->compile_seconds = next.compile_seconds;
      result->simulate_seconds = next.simulate_seconds;
    }
  }
  predict_release(&found);
}

// ---- programs

// Figures of steps or of all of them, but for what is known only of steps.
static void take_figures(const run_step_result *r, const hw_array *array, sweep_work_result *to) {
  const sim_figures figures = sim_figures_of(&r->units, &r->hart, array);
  to->status = WORK_GOOD;
  to->cycles = r->cycles;
  to->macs = r->macs;
  to->commands = r->commands;
  to->read_bytes = r->units.bus_read_bytes;
  to->written_bytes = r->units.bus_written_bytes;
  to->has_energy = r->has_units && figures.has_energy;
  to->energy_pj = figures.energy_pj;
  to->array_pj = figures.array_pj;
  memcpy(to->part_pj, figures.part_pj, sizeof to->part_pj);
  to->utilisation = r->cycles == 0 ? 0 : (double)r->macs / ((double)r->cycles * (double)figures.processing_elements);
  write_units(&r->units, to->units);
}

static bool is_in_table(const network *net, const network_step *step) {
  const map_layer *layer = network_layer_of(net, step);
  const graph_op op = step->node->op;
  return layer != NULL && layer->kind != MAP_WINDOW && (op == GRAPH_OP_QCONV || op == GRAPH_OP_QMAT_MUL);
}

static void take_step(const network *net, const network_entry *entry, const run_step_result *r, sweep_work_step *to) {
  const network_step *step = &net->steps[entry->first];
  const bool on_host = step->place == GRAPH_ON_HOST;
  *to = (sweep_work_step){.on_host = on_host, .edge = step->edge, .shape = entry->shape, .count = entry->count};
  to->in_table = is_in_table(net, step);
  snprintf(to->name, sizeof to->name, "%s", step->name);
  snprintf(to->kernel, sizeof to->kernel, "%s", step->what);
  take_figures(r, net->options.array, &to->figures);
  if (on_host)
    snprintf(to->figures.bound, sizeof to->figures.bound, "the hart");
  else
    sim_figures_bound(&r->units, to->figures.bound);
  if (network_layer_of(net, step) != NULL) write_mapping(&net->kernels[step->kernel].mapping, to->figures.mapping);
}

static void take_steps(const network *net, const network_step_list *list, const run_steps_result *run,
                       sweep_work_result *result) {
  run_step_result all = {0};
  result->step_count = (uint32_t)list->count;
  result->steps = wf_calloc((size_t)list->count + 1, sizeof *result->steps);
  for (int e = 0; e < list->count; e++) {
    take_step(net, &list->entries[e], &run->entries[e], &result->steps[e]);
    run_steps_add(&all, &run->entries[e], 1);
  }
  take_figures(&all, net->options.array, result);
  sim_figures_bound(&all.units, result->bound);
}

static void take_array_energy(sweep_work_result *result) {
  result->energy_pj = result->array_pj;
  for (size_t i = 0; i < result->step_count; i++)
    result->steps[i].figures.energy_pj = result->steps[i].figures.array_pj;
}

static void run_program(const layers_form *form, const network *net, const sweep_work_request *request,
                        sweep_work_result *result, wf_diag *diag) {
  network_step_list list = network_list_steps(net);
  const run_steps_request steps = {.net = net,
                                   .list = &list,
                                   .inputs = (const void *const *)form->inputs,
                                   .values = form->values,
                                   .all = request->all_steps,
                                   .fidelity = (run_fidelity)request->fidelity};
  run_steps_result run;
  if (run_steps(&steps, &run, diag))
    take_steps(net, &list, &run, result);
  else
    result->status = WORK_FAULT;
  run_steps_release(&run);
  network_list_release(&list);
}

static network *create(const layers_form *form, const network_options *options, wf_diag *diag) {
  const run_tune_request request = {
      .placed = form->placed, .options = options, .inputs = (const void *const *)form->inputs, .values = form->values};
  return run_tune_network(&request, diag);
}

static void compile_and_run(const layers_program *program, const sweep_work_request *request, sweep_work_result *result,
                            wf_diag *diag) {
  const network_options options = {.array = &request->array,
                                   .tuning = run_tuning(request->tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES),
                                   .timing = true};
  const layers_form *form = layers_program_form(program, &request->array, diag);
  const double start = wf_thread_seconds();
  network *net = form == NULL ? NULL : create(form, &options, diag);
  const double compiled = wf_thread_seconds();
  result->compile_seconds = compiled - start;
  if (net == NULL) {
    result->status = WORK_CANNOT_MAP;
    return;
  }
  run_program(form, net, request, result, diag);
  result->simulate_seconds = wf_thread_seconds() - compiled;
  network_destroy(net);
}

static void measure_program(const layers_program *program, const sweep_work_request *request,
                            sweep_work_result *result) {
  char *messages = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&messages, &length);
  wf_diag diag = wf_diag_to(out);
  sweep_work_fail(result, request->id, WORK_GOOD, "");
  compile_and_run(program, request, result, &diag);
  fclose(out);
  if (request->array_energy) take_array_energy(result);
  if (result->status != WORK_GOOD) write_reason(messages, result->reason);
  free(messages);
}

// ---- both

void sweep_work_release(sweep_work_result *result) {
  wf_free(result->steps);
  result->steps = NULL;
  result->step_count = 0;
}

static void measure_layer(const sweep_work_memory *memory, const sweep_work_request *request,
                          sweep_work_result *result) {
  const layer_policy policy = {.mapping = request->mapped ? &request->mapping : NULL,
                               .tuning = run_tuning(request->tune, RUN_FIDELITY_CYCLE, COMPILE_CYCLES)};
  measure(memory, request, &policy, result);
  if (request->searched > 0 && result->status == WORK_GOOD) search(memory, request, result);
}

// A pointer of another machine's process is none here.
void sweep_work_measure(const sweep_work_context *context, const sweep_work_memory *memory,
                        const sweep_work_request *request, sweep_work_result *result) {
  const double start = wf_seconds();
  sweep_work_request own = *request;
  if (context != NULL && context->tech != NULL) own.array.tech = context->tech;
  if (request->program != 0)
    measure_program(&context->programs[request->program - 1], &own, result);
  else
    measure_layer(memory, &own, result);
  result->wall_seconds = wf_seconds() - start;
}
