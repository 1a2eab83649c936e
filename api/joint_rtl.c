// SPDX-License-Identifier: Apache-2.0
// Layers of the answer on its own hardware: see joint.h.
#include <inttypes.h>
#include <stdlib.h>

#include "api/joint.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/number.h"
#include "base/thousands.h"
#include "compiler/layer/layer.h"
#include "runner/oracle.h"

#define PATIENCE 60.0  // seconds that a layer may take

typedef struct checker {
  const codesign_result *result;
  const codesign_site *site;
  const sim_engine_ops *engine;
  sim_engine_options options;
  api_joint_hardware *hardware;
  double rate;  // cycles of the hardware in a second
  weft_session *session;
  wf_diag *diag;  // its
} checker;

static bool tell_building(void *context, const char *what) {
  const checker *c = context;
  char *text = wf_format("hardware of array %s: %s", c->site->array.name, what);
  api_progress(c->session, 0, 0, text);
  wf_free(text);
  return !wf_stop_wanted(&c->session->stop);
}

// ---- one layer

static bool judge(const checker *c, const compile_result *program, api_joint_hardware_layer *l) {
  const run_config config = {.engine = c->engine, .options = &c->options};
  run_oracle o;
  run_oracle_verdict verdict;
  bool good = run_oracle_fill(&o, program, 1, c->diag) && run_oracle_expect(&o, program, c->diag);
  const double start = wf_seconds();
  good = good && run_oracle_judge(&o, program, &config, &verdict, c->diag);
  l->seconds = wf_seconds() - start;
  run_oracle_release(&o);
  if (!good) return false;
  l->rtl = verdict.run.cycles;
  l->wrong = verdict.wrong;
  return true;
}

// Compiled as the search did; a hint says which layer failed.
static bool check_layer(checker *c, size_t layer) {
  const codesign_layer *of = &c->result->layers[layer];
  api_joint_hardware *h = c->hardware;
  api_joint_hardware_layer *l = &h->layers[h->count];
  *l = (api_joint_hardware_layer){.layer = layer, .cycles = (uint64_t)c->site->layers[CODESIGN_CYCLE][layer].cycles};
  char *text =
      wf_format("layer %s, %" PRIu64 " cycles, on the Verilated hardware (%zu)", of->name, l->cycles, h->count + 1);
  api_progress(c->session, 0, 0, text);
  wf_free(text);
  const layer_policy policy = {.mapping = c->site->mapped[layer] ? &c->site->mappings[layer] : NULL, .straight = true};
  compile_result program;
  const bool good = layer_compile(&of->layer, &c->site->array, &policy, &program, c->diag) && judge(c, &program, l);
  compile_release(&program);
  if (!good) wf_hint(c->diag, "layer %s of the answer, on engine %s", of->name, c->engine->name);
  h->count += good;
  return good;
}

// ---- which layers

static bool is_checked(const api_joint_hardware *h, size_t layer) {
  for (size_t i = 0; i < h->count; i++)
    if (h->layers[i].layer == layer) return true;
  return false;
}

static double cycles_of(const checker *c, size_t layer) { return c->site->layers[CODESIGN_CYCLE][layer].cycles; }

// All layers, those with few cycles first.
static size_t *order_of(const checker *c) {
  const size_t count = c->result->layer_count;
  size_t *order = WF_NEW_ARRAY(count + 1, size_t);
  for (size_t i = 0; i < count; i++) {
    size_t at = i;
    for (; at > 0 && cycles_of(c, order[at - 1]) > cycles_of(c, i); at--) order[at] = order[at - 1];
    order[at] = i;
  }
  return order;
}

// The layer with the fewest cycles is run first: its cycles per second say which layers end within PATIENCE, and of
// these the others are taken, evenly spread from few cycles to many.
static bool check_layers(checker *c, unsigned wanted) {
  size_t *order = order_of(c), can = 1;
  bool good = check_layer(c, order[0]);
  if (good) c->rate = (double)c->hardware->layers[0].rtl / wf_max(c->hardware->layers[0].seconds, 1e-3);
  while (good && can < c->result->layer_count && cycles_of(c, order[can]) <= PATIENCE * c->rate) can++;
  for (size_t n = 1; n < wanted && good; n++) {
    const size_t layer = order[(can - 1) * n / (wanted - 1)];
    if (!is_checked(c->hardware, layer)) good = check_layer(c, layer);
  }
  c->hardware->left = c->result->layer_count - can;
  wf_free(order);
  return good;
}

// Builds the hardware, so that no layer's seconds have that in them.
static bool build(const checker *c) {
  arch_memory *memory = arch_memory_create((uint64_t)c->site->array.memory.capacity_mib << 20);
  sim_engine *engine =
      memory == NULL ? NULL : sim_engine_create(c->engine, &c->site->array, memory, &c->options, c->diag);
  if (engine != NULL) engine->ops->destroy(engine);
  arch_memory_destroy(memory);
  return engine != NULL;
}

bool api_joint_hardware_check(const codesign_result *r, unsigned layers, weft_session *session,
                              api_joint_hardware *hardware) {
  enum { COMPILERS = 2 };
  *hardware = (api_joint_hardware){.layers = WF_NEW_ARRAY(layers + 1, api_joint_hardware_layer)};
  checker c = {.result = r,
               .site = &r->sites[r->best],
               .engine = sim_engine_find("rtl"),
               .options = {.jobs = COMPILERS, .tell = tell_building},
               .hardware = hardware,
               .session = session,
               .diag = &session->diag};
  c.options.tell_context = &c;
  if (c.engine == NULL) {
    wf_error(c.diag, wf_in_file(NULL), "--check-rtl: this build has no engine rtl");
    return false;
  }
  return build(&c) && check_layers(&c, layers);
}

void api_joint_hardware_release(api_joint_hardware *hardware) {
  wf_free(hardware->layers);
  *hardware = (api_joint_hardware){0};
}

// ---- what came out

static bool is_equal(const api_joint_hardware_layer *l) { return l->rtl == l->cycles && l->wrong == 0; }

bool api_joint_hardware_agrees(const api_joint_hardware *h) {
  for (size_t i = 0; i < h->count; i++)
    if (!is_equal(&h->layers[i])) return false;
  return true;
}

void api_joint_hardware_print(const api_joint_hardware *h, const codesign_result *r, FILE *out) {
  fprintf(out, "  on the Verilated hardware, %zu layers left out that take longer than a minute:\n", h->left);
  for (size_t i = 0; i < h->count; i++) {
    const api_joint_hardware_layer *l = &h->layers[i];
    char said[WF_THOUSANDS], took[WF_THOUSANDS];
    fprintf(out, "    %s: %s cycles, %s said; %s bytes, %.1f s\n", r->layers[l->layer].name, wf_thousands(l->rtl, took),
            l->rtl == l->cycles ? "as" : wf_thousands(l->cycles, said), l->wrong == 0 ? "the oracle's" : "WRONG",
            l->seconds);
  }
}

cJSON *api_joint_hardware_json(const api_joint_hardware *h, const codesign_result *r) {
  cJSON *list = cJSON_CreateArray();
  for (size_t i = 0; i < h->count; i++) {
    const api_joint_hardware_layer *l = &h->layers[i];
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "layer", r->layers[l->layer].name);
    wf_json_count(object, "cycles", l->cycles);
    wf_json_count(object, "rtl_cycles", l->rtl);
    wf_json_count(object, "wrong_bytes", l->wrong);
    cJSON_AddBoolToObject(object, "equal", is_equal(l));
    cJSON_AddItemToArray(list, object);
  }
  return list;
}
