// SPDX-License-Identifier: Apache-2.0
// Hands the measurements of a sweep out and puts them into the store: see sweep.h.
//
// Points whose arrays get the same programs (compile_array_hash) are a group; groups stand in the order of their first
// points. A worker gets one layer on all points of a group, one request after the other, so that it compiles once; one
// that finds nothing else helps another. Large groups are parted, so that points are complete early. Two points with
// the same array, or two layers of the same dimensions, are one request. Programs go first: they take longest.
#include "search/sweep/sweep.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "compiler/compile.h"

enum { WAIT_MILLISECONDS = 500, LOST_MAX = 3, GROUP_POINTS = 16 };

// A layer, or a program.
typedef struct unique_layer {
  map_layer layer;
  uint32_t program;  // as in sweep_work_request
  uint64_t hash;
} unique_layer;

// A request that was lost with its worker.
typedef struct again {
  sweep_work_request request;
  struct again *next;
} again;

// A point in its group.
typedef struct grouped {
  uint64_t program_key;  // compile_array_hash
  size_t group;          // the first point of it
  size_t point;
} grouped;

// A layer on points of a group: `at` to `end` in runner.points.
typedef struct batch {
  size_t at, end, layer;
} batch;

// Hashes, with open addressing; 0 is no hash.
typedef struct hash_set {
  uint64_t *slots;
  size_t room;
} hash_set;

typedef struct runner {
  const sweep_spec *spec;
  const sweep_options *options;
  sweep_store *store;
  wf_diag *diag;
  sweep_pool *pool;
  sweep_policy_text policy;
  unique_layer *layers;
  size_t layer_count;
  hash_set arrays;  // that earlier points have
  grouped *points;  // those that are measured, by group: arrays that can be built and that no earlier point has
  size_t point_count;
  batch next;      // the first that no worker has
  batch *batches;  // by worker
  size_t batch_room;
  again *lost;
  sweep_progress progress;
  double start;
  bool broken;  // the store cannot be written
} runner;

// ---- what there is to do

// An empty set that `count` hashes fill at most to the half.
static hash_set make_set(size_t count) {
  hash_set set = {.room = 64};
  while (set.room < 2 * count) set.room *= 2;
  set.slots = wf_calloc(set.room, sizeof *set.slots);
  return set;
}

// Whether the hash is new in the set.
static bool add_hash(hash_set *set, uint64_t hash) {
  size_t at = hash & (set->room - 1);
  for (; set->slots[at] != 0; at = (at + 1) & (set->room - 1))
    if (set->slots[at] == hash) return false;
  set->slots[at] = hash;
  return true;
}

static void collect_programs(runner *r) {
  for (size_t n = 0; n < r->spec->program_count; n++)
    r->layers[r->layer_count++] =
        (unique_layer){.program = (uint32_t)n + 1, .hash = sweep_program_hash(r->spec, &r->spec->programs[n])};
}

static void collect_layers(runner *r) {
  size_t room = r->spec->program_count;
  for (size_t n = 0; n < r->spec->network_count; n++) room += r->spec->networks[n].count;
  hash_set known = make_set(room);
  r->layers = wf_calloc(room + 1, sizeof *r->layers);
  collect_programs(r);
  for (size_t n = 0; n < r->spec->network_count; n++) {
    for (size_t i = 0; i < r->spec->networks[n].count; i++) {
      unique_layer *next = &r->layers[r->layer_count];
      next->layer = layers_to_map(&r->spec->networks[n].layers[i]);
      next->hash = map_layer_hash(&next->layer);
      r->layer_count += add_hash(&known, next->hash);
    }
  }
  wf_free(known.slots);
}

static void write_parameters(const sweep_spec *spec, const hw_array *array, FILE *out) {
  const char *comma = "";
  if (spec->sample == SWEEP_LIST) fprintf(out, "\"array\":\"%s\"", array->name);
  for (size_t a = 0; a < spec->axis_count; a++) {
    for (int p = 0; p < spec->axes[a].param_count; p++) {
      const hw_param *param = spec->axes[a].params[p];
      const char *quote = param->kind == HW_PARAM_ENUM ? "\"" : "";
      char value[64];
      hw_param_text(param, hw_param_get(array, param), value, sizeof value);
      fprintf(out, "%s\"%s.%s\":%s%s%s", comma, param->section, param->name, quote, value, quote);
      comma = ",";
    }
  }
}

static char *parameters_of(const sweep_spec *spec, const hw_array *array) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  fputc('{', out);
  write_parameters(spec, array, out);
  fputc('}', out);
  fclose(out);
  return text;
}

// Why an array cannot be built, to be freed; empty: it can.
static char *impossible(const hw_array *array) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  const bool good = hw_array_check(array, NULL, &diag);
  fclose(out);
  if (good) text[0] = '\0';
  char *start = strstr(text, "error: ");
  start = start == NULL ? text : start + strlen("error: ");
  memmove(text, start, strlen(start) + 1);
  text[strcspn(text, "\n")] = '\0';
  if (!good && text[0] == '\0') snprintf(text, length, "refused");
  return text;
}

// Sees that the store has a point; false: there is nothing to be measured for it.
static bool enter_point(runner *r, size_t point, const hw_array *array) {
  char *reason = impossible(array);
  const bool measured = reason[0] == '\0' && add_hash(&r->arrays, hw_array_hash(array));
  if (!sweep_store_has_point(r->store, point)) {
    char *parameters = parameters_of(r->spec, array);
    sweep_store_point(r->store, point, array, parameters, reason);
    free(parameters);
  }
  free(reason);
  return measured;
}

static sweep_store_key key_of(const runner *r, const hw_array *array, size_t layer) {
  sweep_store_key key = {
      .array = hw_array_hash(array), .layer = r->layers[layer].hash, .fidelity = r->options->fidelity};
  snprintf(key.policy, sizeof key.policy, "%s", r->policy.text);
  return key;
}

static int by_key(const void *a, const void *b) {
  const grouped *x = a, *y = b;
  if (x->program_key != y->program_key) return x->program_key < y->program_key ? -1 : 1;
  return (x->point > y->point) - (x->point < y->point);
}

static int by_group(const void *a, const void *b) {
  const grouped *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return (x->point > y->point) - (x->point < y->point);
}

static void group_points(runner *r) {
  qsort(r->points, r->point_count, sizeof *r->points, by_key);
  for (size_t i = 0; i < r->point_count; i++) {
    const bool first = i == 0 || r->points[i].program_key != r->points[i - 1].program_key;
    r->points[i].group = first ? r->points[i].point : r->points[i - 1].group;
  }
  qsort(r->points, r->point_count, sizeof *r->points, by_group);
}

// Counts what there is to do and enters all points, in one transaction.
static bool survey(runner *r) {
  const size_t points = sweep_point_count(r->spec);
  r->arrays = make_set(points);
  r->points = wf_calloc(points + 1, sizeof *r->points);
  sweep_store_begin(r->store);
  sweep_store_fidelity(r->store, r->options->fidelity);
  for (size_t point = 0; point < points; point++) {
    const hw_array array = sweep_point(r->spec, point);
    if (!enter_point(r, point, &array)) continue;
    r->points[r->point_count++] = (grouped){.program_key = compile_array_hash(&array), .point = point};
    for (size_t layer = 0; layer < r->layer_count; layer++) {
      const sweep_store_key key = key_of(r, &array, layer);
      r->progress.total++;
      r->progress.done += sweep_store_has(r->store, &key);
    }
  }
  group_points(r);
  return sweep_store_commit(r->store, r->diag);
}

// ---- giving out

static bool next_lost(runner *r, sweep_work_request *request) {
  again *first = r->lost;
  if (first == NULL) return false;
  *request = first->request;
  r->lost = first->next;
  wf_free(first);
  return true;
}

// The next layer of a group, or the first of the next group.
static bool next_batch(runner *r, batch *b) {
  batch *next = &r->next;
  if (r->layer_count == 0 || next->at == r->point_count) return false;
  next->end = next->at;
  while (next->end < r->point_count && next->end < next->at + GROUP_POINTS &&
         r->points[next->end].group == r->points[next->at].group)
    next->end++;
  *b = *next;
  next->layer = (next->layer + 1) % r->layer_count;
  if (next->layer == 0) next->at = next->end;
  return true;
}

// The next request of a batch that the store has no answer to.
static bool next_of(const runner *r, batch *b, sweep_work_request *request) {
  while (b->at < b->end) {
    const hw_array array = sweep_point(r->spec, r->points[b->at++].point);
    const sweep_store_key key = key_of(r, &array, b->layer);
    if (sweep_store_has(r->store, &key)) continue;
    *request = (sweep_work_request){.id = b->layer,
                                    .array = array,
                                    .layer = r->layers[b->layer].layer,
                                    .program = r->layers[b->layer].program,
                                    .all_steps = r->spec->all_steps,
                                    .tune = r->spec->tune,
                                    .searched = r->spec->searched,
                                    .objective = (uint32_t)r->spec->objective,
                                    .fidelity = (uint32_t)r->options->fidelity};
    return true;
  }
  return false;
}

static batch *batch_of(runner *r, size_t worker) {
  const size_t before = r->batch_room;
  if (worker >= before) {
    r->batch_room = 2 * worker + 8;
    r->batches = wf_realloc(r->batches, r->batch_room, sizeof *r->batches);
    memset(r->batches + before, 0, (r->batch_room - before) * sizeof *r->batches);
  }
  return &r->batches[worker];
}

// The next request for a worker; false: there is none.
static bool next_request(runner *r, size_t worker, sweep_work_request *request) {
  if (next_lost(r, request)) return true;
  batch *own = batch_of(r, worker);
  do {
    if (next_of(r, own, request)) return true;
  } while (next_batch(r, own));
  for (size_t other = 0; other < r->batch_room; other++)
    if (next_of(r, &r->batches[other], request)) return true;
  return false;
}

static void note(runner *r) {
  r->progress.seconds = wf_seconds() - r->start;
  r->progress.workers = sweep_pool_workers(r->pool);
  if (r->options->progress != NULL) r->options->progress(r->options->context, &r->progress);
}

static void take(void *context, const sweep_work_request *request, const sweep_work_result *result) {
  runner *r = context;
  if (result->status == WORK_LOST) {
    again *one = WF_NEW(again);
    *one = (again){.request = *request, .next = r->lost};
    r->lost = one;
    return;
  }
  const sweep_store_key key = key_of(r, &request->array, (size_t)request->id);
  sweep_store_begin(r->store);
  sweep_store_add(r->store, &key, r->options->version, result);
  r->broken = !sweep_store_commit(r->store, r->diag) || r->broken;
  r->progress.done++;
  r->progress.fresh++;
  r->progress.failed += result->status != WORK_GOOD;
  r->progress.spared += result->known;
  r->progress.shared += result->shared;
  r->progress.compile_seconds += result->compile_seconds;
  r->progress.simulate_seconds += result->simulate_seconds;
}

static bool stopped(const runner *r) { return r->broken || wf_stop_wanted(r->options->stop); }

static void give_out(runner *r) {
  sweep_work_request request;
  size_t worker;
  while (!stopped(r) && (worker = sweep_pool_free_worker(r->pool)) != SWEEP_POOL_NONE &&
         next_request(r, worker, &request))
    sweep_pool_give(r->pool, &request);
}

static bool nothing_left(runner *r) {
  sweep_work_request request;
  if (stopped(r)) return true;
  if (!next_request(r, 0, &request)) return true;
  again *one = WF_NEW(again);
  *one = (again){.request = request, .next = r->lost};
  r->lost = one;
  return false;
}

static void admit(runner *r) {
  const int socket = r->options->join(r->options->context);
  if (socket >= 0) sweep_pool_add_remote(r->pool, socket);
}

// Until everything is done, the user stops it, or no worker is left.
static sweep_outcome work(runner *r) {
  for (;;) {
    give_out(r);
    note(r);
    if (sweep_pool_busy(r->pool) == 0 && nothing_left(r)) break;
    if (sweep_pool_workers(r->pool) == 0 && r->options->join_socket < 0) {
      wf_error(r->diag, wf_in_file(NULL), "no worker is left");
      return SWEEP_FAILED;
    }
    if (sweep_pool_wait(r->pool, WAIT_MILLISECONDS, r->options->join_socket, take, r)) admit(r);
  }
  if (r->broken) return SWEEP_FAILED;
  return r->progress.done == r->progress.total ? SWEEP_FINISHED : SWEEP_STOPPED;
}

sweep_outcome sweep_run(const sweep_spec *spec, sweep_store *s, const sweep_options *options, sweep_progress *progress,
                        wf_diag *diag) {
  runner r = {
      .spec = spec, .options = options, .store = s, .diag = diag, .policy = sweep_policy(spec), .start = wf_seconds()};
  const sweep_work_context context = {spec->programs, spec->program_count, spec->tech};
  r.pool = sweep_pool_create(options->jobs, spec->timeout, sweep_work_measure, &context);
  collect_layers(&r);
  const sweep_outcome outcome = survey(&r) ? work(&r) : SWEEP_FAILED;
  note(&r);
  *progress = r.progress;
  sweep_pool_destroy(r.pool);
  for (sweep_work_request request; next_lost(&r, &request);) continue;
  wf_free(r.arrays.slots);
  wf_free(r.points);
  wf_free(r.batches);
  wf_free(r.layers);
  return outcome;
}
