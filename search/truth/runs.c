// SPDX-License-Identifier: Apache-2.0
// See runs.h.
#include "search/truth/runs.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/tasks.h"
#include "hw/tech.h"
#include "search/truth/runs_file.h"

enum { WAIT_MILLISECONDS = 1000 };

typedef struct known {
  truth_runs_key key;
  sweep_work_result *result;
  paper_cost rest;  // of a program
} known;

struct truth_runs {
  sweep_work_context context;
  sweep_pool *pool;
  known *known;  // in the order in which they were asked
  size_t count, room;
  size_t *places;  // by digest: 1 and the place in `known`, 0: empty; at most half full
  size_t places_room;
  truth_runs_file *file;  // NULL: none
};

truth_runs *truth_runs_create(unsigned jobs, double timeout, sweep_pool_work *work, const sweep_work_context *context) {
  truth_runs *r = WF_NEW(truth_runs);
  if (context != NULL) r->context = *context;
  r->pool = sweep_pool_create(jobs != 0 ? jobs : wf_processors(), timeout, work, &r->context);
  return r;
}

void truth_runs_destroy(truth_runs *r) {
  sweep_pool_destroy(r->pool);
  truth_runs_file_close(r->file);
  for (size_t i = 0; i < r->count; i++) wf_free(r->known[i].result);
  wf_free(r->known);
  wf_free(r->places);
  wf_free(r);
}

// What says something of the layer, and not of how it was measured.
static bool is_lasting(const sweep_work_result *result) {
  return result->status == WORK_GOOD || result->status == WORK_CANNOT_MAP || result->status == WORK_FAULT;
}

// Steps of a program that no layer of its table stands for.
static paper_cost rest_of(const sweep_work_result *result) {
  paper_cost rest = {0};
  for (size_t i = 0; i < result->step_count; i++) {
    if (result->steps[i].in_table) continue;
    rest.cycles += (double)result->steps[i].figures.cycles;
    rest.energy_uj += result->steps[i].figures.energy_pj * 1e-6;
  }
  return rest;
}

static void take(void *context, const sweep_work_request *request, const sweep_work_result *result) {
  truth_runs *r = context;
  known *k = &r->known[request->id];
  k->rest = rest_of(result);
  *k->result = *result;
  k->result->steps = NULL;
  k->result->step_count = 0;
  if (request->program == 0 && r->file != NULL && is_lasting(result)) truth_runs_file_add(r->file, &k->key, result);
}

static bool is_same(const truth_runs_key *a, const truth_runs_key *b) {
  return a->array == b->array && a->layer == b->layer && a->mapping == b->mapping && a->tune == b->tune &&
         a->fidelity == b->fidelity;
}

// Where the index has a measurement, or would have it.
static size_t *find(const truth_runs *r, const truth_runs_key *key) {
  size_t at = wf_hash(WF_HASH_START, key, sizeof *key) & (r->places_room - 1);
  while (r->places[at] != 0 && !is_same(&r->known[r->places[at] - 1].key, key)) at = (at + 1) & (r->places_room - 1);
  return &r->places[at];
}

static void grow(truth_runs *r) {
  r->room = r->room == 0 ? 256 : 2 * r->room;
  r->known = wf_realloc(r->known, r->room, sizeof *r->known);
  wf_free(r->places);
  r->places_room = 2 * r->room;
  r->places = WF_NEW_ARRAY(r->places_room, size_t);
  for (size_t i = 0; i < r->count; i++) *find(r, &r->known[i].key) = i + 1;
}

// The place of a measurement, and whether it is new.
static size_t place_of(truth_runs *r, const truth_runs_key *key, bool *fresh) {
  if (r->count == r->room) grow(r);
  size_t *at = find(r, key);
  *fresh = *at == 0;
  if (!*fresh) return *at - 1;
  r->known[r->count] = (known){.key = *key, .result = WF_NEW(sweep_work_result)};
  *at = ++r->count;
  return r->count - 1;
}

// Energies are results, too: a technology table of one's own, and another account, make another array of it.
static uint64_t array_hash(const sweep_work_request *request) {
  const hw_tech *tech = request->array.tech;
  const uint64_t hash = hw_array_hash(&request->array) ^ !request->array_energy;
  return tech == NULL ? hash : wf_hash(hash, tech, sizeof *tech);
}

// One that is new is given to the pool.
static size_t ask(truth_runs *r, sweep_work_request *request) {
  const truth_runs_key key = {
      .array = array_hash(request),
      .layer = request->program != 0 ? r->context.programs[request->program - 1].hash : map_layer_hash(&request->layer),
      .mapping = request->mapped ? map_hash(&request->mapping) : 0,
      .tune = request->tune,
      .fidelity = request->fidelity | request->accounted << 8};
  bool fresh;
  const size_t place = place_of(r, &key, &fresh);
  if (!fresh) return place;
  request->id = place;
  while (!sweep_pool_has_free(r->pool)) sweep_pool_wait(r->pool, WAIT_MILLISECONDS, -1, take, r);
  sweep_pool_give(r->pool, request);
  return place;
}

bool truth_runs_keep(truth_runs *r, const char *path, wf_diag *diag) {
  r->file = truth_runs_file_open(path, diag);
  if (r->file == NULL) return false;
  truth_runs_key key;
  sweep_work_result *result = WF_NEW(sweep_work_result);
  while (truth_runs_file_next(r->file, &key, result)) {
    bool fresh;
    const size_t place = place_of(r, &key, &fresh);
    *r->known[place].result = *result;
  }
  wf_free(result);
  return true;
}

void truth_runs_ask(truth_runs *r, sweep_work_request *requests, size_t count, const sweep_work_result **results) {
  size_t *places = WF_NEW_ARRAY(count + 1, size_t);
  for (size_t n = 0; n < count; n++) places[n] = ask(r, &requests[n]);
  while (sweep_pool_busy(r->pool) > 0) sweep_pool_wait(r->pool, WAIT_MILLISECONDS, -1, take, r);
  for (size_t n = 0; n < count; n++) results[n] = r->known[places[n]].result;
  wf_free(places);
}

static void add_up(const layers_network *network, truth_runs_network *run) {
  run->cost = run->rest;
  for (size_t i = 0; i < network->count; i++) {
    const sweep_work_result *m = &run->layers[i];
    if (run->good && (m->status != WORK_GOOD || !m->has_energy)) {
      run->good = false;
      run->failed = network->layers[i].name;
      run->reason = m->status != WORK_GOOD ? m->reason : "the array's technology has no energies";
    }
    run->cost.cycles += (double)network->layers[i].count * (double)m->cycles;
    run->cost.energy_uj += (double)network->layers[i].count * m->energy_pj * 1e-6;
  }
}

static void take_program(const truth_runs *r, const layers_network *network, size_t place, truth_runs_network *run) {
  run->good = true;
  run->rest = (paper_cost){0};
  if (r->context.program_count == 0) return;
  const known *k = &r->known[place];
  run->rest = k->rest;
  run->good = k->result->status == WORK_GOOD && k->result->has_energy;
  if (run->good) return;
  run->failed = network->name;
  run->reason = k->result->status != WORK_GOOD ? k->result->reason : "the array's technology has no energies";
}

void truth_runs_measure(truth_runs *r, const layers_network *network, unsigned tune, truth_runs_network *list,
                        size_t count) {
  size_t *places = WF_NEW_ARRAY(count * network->count, size_t), *programs = WF_NEW_ARRAY(count + 1, size_t);
  for (size_t n = 0; n < count && r->context.program_count > 0; n++)
    programs[n] =
        ask(r, &(sweep_work_request){
                   .array = list[n].array, .program = 1, .tune = tune, .array_energy = !list[n].whole_energy});
  for (size_t n = 0; n < count; n++)
    for (size_t i = 0; i < network->count; i++) {
      sweep_work_request request = {.array = list[n].array,
                                    .layer = layers_to_map(&network->layers[i]),
                                    .tune = tune,
                                    .array_energy = !list[n].whole_energy};
      request.mapped = list[n].mappings != NULL && list[n].mapped[i];
      if (request.mapped) request.mapping = list[n].mappings[i];
      places[n * network->count + i] = ask(r, &request);
    }
  while (sweep_pool_busy(r->pool) > 0) sweep_pool_wait(r->pool, WAIT_MILLISECONDS, -1, take, r);
  for (size_t n = 0; n < count; n++) {
    for (size_t i = 0; i < network->count; i++) list[n].layers[i] = *r->known[places[n * network->count + i]].result;
    take_program(r, network, programs[n], &list[n]);
    add_up(network, &list[n]);
  }
  wf_free(programs);
  wf_free(places);
}
