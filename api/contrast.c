// SPDX-License-Identifier: Apache-2.0
// One program on two engines with cycles, and where their records differ. See weft.h.
#include <string.h>

#include "api/ending.h"
#include "base/alloc.h"
#include "sim/records.h"

enum { SIDES = 2 };

typedef struct side {
  const sim_engine_ops *engine;
  uint64_t disturb;
  sim_records records;
  sim_run_result result;
} side;

struct weft_contrast {
  hw_array array;
  side sides[SIDES];
  bool equal, records_differ;
  sim_difference difference;
};

weft_status weft_engine_describe(size_t index, weft_engine *to) {
  const sim_engine_ops *engine = sim_engine_at(index);
  if (engine == NULL) return WEFT_USAGE;
  const weft_engine full = {.name = engine->name,
                            .summary = engine->summary,
                            .cycles = engine->timed,
                            .records = engine->set_events != NULL,
                            .data = !engine->timing_only};
  return api_give(&full, sizeof full, to);
}

const char *weft_engine_at(size_t index, bool *timed) {
  const sim_engine_ops *engine = sim_engine_at(index);
  if (engine != NULL && timed != NULL) *timed = engine->set_events != NULL;
  return engine == NULL ? NULL : engine->name;
}

// ---- runs

static bool choose(weft_session *s, const char *name, side *to) {
  to->engine = sim_engine_find(name);
  if (to->engine == NULL) return api_refuse(s, "this build has no engine %s", name), false;
  if (to->engine->set_events == NULL) return api_refuse(s, "engine %s has no cycles to compare", name), false;
  return true;
}

static sim_run_result run_side(const weft_contrast *c, side *s, const char *path, const weft_contrast_options *o,
                               FILE *nowhere, wf_diag *diag) {
  const sim_events events = sim_records_sink(&s->records);
  const sim_engine_options engine_options = {.jobs = o->jobs, .disturb = s->disturb, .quiet = true};
  const sim_run_config config = {.array = &c->array,
                                 .engine = s->engine,
                                 .engine_options = &engine_options,
                                 .any_array = o->any_array,
                                 .console = nowhere,
                                 .console_error = nowhere,
                                 .events = &events};
  return sim_run_file(&config, path, diag);
}

// A program may fail or fault, on both engines alike.
static weft_status run_both(weft_contrast *c, const char *path, const weft_contrast_options *o, wf_diag *diag) {
  FILE *nowhere = api_nowhere(diag);
  if (nowhere == NULL) return WEFT_BAD_INPUT;
  weft_status status = WEFT_OK;
  for (int i = 0; status == WEFT_OK && i < SIDES; i++) {
    c->sides[i].result = run_side(c, &c->sides[i], path, o, nowhere, diag);
    status = api_ended(&c->sides[i].result);
  }
  fclose(nowhere);
  return status;
}

static void compare(weft_contrast *c) {
  const side *a = &c->sides[0], *b = &c->sides[1];
  c->records_differ = sim_records_differ(&a->records, &b->records, &c->difference);
  c->equal = !c->records_differ && a->result.host.cycles == b->result.host.cycles &&
             a->result.status == b->result.status && a->result.replay_digest == b->result.replay_digest;
}

weft_contrast *weft_contrast_run(weft_session *s, const char *path, const weft_array *array,
                                 const weft_contrast_options *options) {
  weft_contrast_options o = {0};
  if (!api_begin(s, "contrast") || !api_given(s, path, "the path") || !api_given(s, array, "the array") ||
      !api_take(s, options, &o, sizeof o))
    return NULL;
  side first = {.disturb = o.first_disturb}, second = {.disturb = o.second_disturb};
  if (!choose(s, o.first == NULL ? "cycle" : o.first, &first) ||
      !choose(s, o.second == NULL ? "rtl" : o.second, &second))
    return NULL;
  weft_contrast *c = WF_NEW(weft_contrast);
  *c = (weft_contrast){.array = array->array, .sides = {first, second}};
  weft_status status = WEFT_BAD_INPUT;
  if (hw_array_check(&c->array, c->array.name, &s->diag)) status = run_both(c, path, &o, &s->diag);
  if (status == WEFT_OK) compare(c);
  if (api_end(s, status == WEFT_OK, status) == WEFT_OK) return c;
  weft_contrast_destroy(c);
  return NULL;
}

void weft_contrast_destroy(weft_contrast *c) {
  if (c == NULL) return;
  for (int i = 0; i < SIDES; i++) sim_records_free(&c->sides[i].records);
  wf_free(c);
}

// ---- results

// The command of a record as the side's own engine or the other one tells it.
static const sim_event *command_of(const weft_contrast *c, int which, uint32_t index) {
  const sim_event *own = sim_records_command(&c->sides[which].records, index);
  return own != NULL ? own : sim_records_command(&c->sides[1 - which].records, index);
}

weft_status weft_contrast_describe(const weft_contrast *c, weft_contrast_facts *facts) {
  if (c == NULL) return WEFT_USAGE;
  weft_contrast_facts full = {.equal = c->equal, .records_differ = c->records_differ};
  _Static_assert(sizeof full.text >= SIM_EVENT_TEXT, "events have room");
  if (c->records_differ) {
    const sim_difference *x = &c->difference;
    const int teller = command_of(c, 0, x->event.index) != NULL && x->found[0] ? 0 : 1;
    full.at = x->at;
    sim_event_text(&x->event, &c->sides[teller].records, c->array.isa.revision, full.text);
  }
  return api_give(&full, sizeof full, facts);
}

weft_status weft_contrast_side_of(const weft_contrast *c, bool second, weft_contrast_side *to) {
  if (c == NULL) return WEFT_USAGE;
  const side *from = &c->sides[second];
  weft_contrast_side full = {
      .engine = from->engine->name, .records = from->records.count, .cycles = from->result.host.cycles};
  if (c->records_differ) {
    full.found = c->difference.found[second];
    full.cycle = c->difference.cycles[second];
    if (full.found && c->difference.other_command)
      sim_event_command(sim_records_command(&from->records, c->difference.event.index), c->array.isa.revision,
                        full.command);
  }
  return api_give(&full, sizeof full, to);
}

static weft_status give_record(const weft_contrast *c, int which, const sim_event *e, weft_record *record) {
  weft_record full = {
      .cycle = e->cycle, .kind = sim_event_kind_name(e->kind), .number = e->index, .unit = sim_class_name(e->unit)};
  _Static_assert(sizeof full.command >= SIM_EVENT_TEXT, "commands have room");
  sim_event_command(command_of(c, which, e->index), c->array.isa.revision, full.command);
  return api_give(&full, sizeof full, record);
}

weft_status weft_contrast_record(const weft_contrast *c, bool second, size_t index, weft_record *record) {
  if (c == NULL || index >= c->sides[second].records.count) return WEFT_USAGE;
  return give_record(c, second, &c->sides[second].records.item[index], record);
}

weft_status weft_contrast_first(const weft_contrast *c, weft_record *record) {
  if (c == NULL || !c->records_differ) return WEFT_USAGE;
  return give_record(c, c->difference.found[0] ? 0 : 1, &c->difference.event, record);
}
