// SPDX-License-Identifier: Apache-2.0
// Races and deadlocks of programs, traces and programs with tokens. See weft.h.
#include "sim/races/races.h"

#include <errno.h>
#include <string.h>

#include "api/ending.h"
#include "base/alloc.h"
#include "isa/isa.h"

struct weft_races {
  weft_ending ending;
  races_report report;  // its pairs are a copy: the engine is gone
  races_pair *pairs;
  races_tokens *program;  // NULL: it has no tokens
  const races_tokens_report *tokens;
};

// ---- programs and traces

static void keep(void *context, const sim_engine *engine, uint64_t cycle) {
  (void)cycle;
  weft_races *r = context;
  races_report_of(engine, &r->report);
  r->pairs = wf_alloc(r->report.count + 1, sizeof *r->pairs);
  if (r->report.count != 0) memcpy(r->pairs, r->report.pairs, r->report.count * sizeof *r->pairs);
  r->report.pairs = r->pairs;
}

static bool tell(void *context, uint64_t instructions, uint64_t cycles) {
  weft_session *s = context;
  (void)cycles;
  api_progress(s, instructions, 0, "");
  return !wf_stop_wanted(&s->stop);
}

static unsigned ignored(const weft_races_options *o) {
  return (o->ignore_station ? RACES_STATION : 0u) | (o->ignore_fences ? RACES_FENCES : 0u) |
         (o->ignore_room ? RACES_ROOM : 0u);
}

static weft_status run(weft_session *s, weft_races *r, const char *path, const hw_array *array, FILE *nowhere,
                       const weft_races_options *o) {
  const sim_engine_options engine_options = {.ignored_orders = ignored(o)};
  const sim_run_config config = {.array = array,
                                 .engine = &sim_races_engine,
                                 .engine_options = &engine_options,
                                 .max_instructions = o->max_instructions,
                                 .any_array = o->any_array,
                                 .console = nowhere,
                                 .console_error = nowhere,
                                 .watch_context = r,
                                 .ended = keep,
                                 .progress = tell,
                                 .progress_context = s};
  const sim_run_result result = sim_run_file(&config, path, &s->diag);
  r->report.fences = result.port.fences;
  r->ending = api_ending_of(&result);
  return wf_stop_wanted(&s->stop) ? WEFT_CANCELLED : api_ended(&result);
}

static weft_status find_commands(weft_session *s, weft_races *r, const char *path, const hw_array *array,
                                 const weft_races_options *o) {
  FILE *nowhere = api_nowhere(&s->diag);
  if (nowhere == NULL) return WEFT_BAD_INPUT;
  const weft_status status = run(s, r, path, array, nowhere, o);
  fclose(nowhere);
  return status;
}

// ---- programs with tokens

static FILE *open_file(const char *path, wf_diag *diag) {
  FILE *in = fopen(path, "r");
  if (in == NULL) wf_error(diag, wf_in_file(path), "cannot open it: %s", strerror(errno));
  return in;
}

weft_status weft_races_tokens(weft_session *s, const char *path, bool *tokens) {
  if (!api_begin(s, "races") || !api_given(s, path, "the path") || !api_given(s, tokens, "the answer's place"))
    return WEFT_USAGE;
  FILE *in = open_file(path, &s->diag);
  *tokens = in != NULL && races_tokens_recognise(in);
  if (in != NULL) fclose(in);
  return api_end(s, in != NULL, WEFT_BAD_INPUT);
}

static weft_status find_tokens(weft_session *s, weft_races *r, const char *path) {
  FILE *in = open_file(path, &s->diag);
  if (in == NULL) return WEFT_BAD_INPUT;
  r->program = races_tokens_read(in, path, &s->diag);
  if (r->program != NULL) r->tokens = races_tokens_run(r->program);
  fclose(in);
  return r->program == NULL ? WEFT_BAD_INPUT : WEFT_OK;
}

// ---- either of them

weft_races *weft_races_find(weft_session *s, const char *path, const weft_array *array,
                            const weft_races_options *options) {
  weft_races_options o = {0};
  if (!api_begin(s, "races") || !api_given(s, path, "the path") || !api_take(s, options, &o, sizeof o)) return NULL;
  weft_races *r = WF_NEW(weft_races);
  weft_status status = WEFT_BAD_INPUT;
  if (array == NULL)
    status = find_tokens(s, r, path);
  else if (hw_array_check(&array->array, array->array.name, &s->diag))
    status = find_commands(s, r, path, &array->array, &o);
  if (api_end(s, status == WEFT_OK, status) == WEFT_OK) return r;
  weft_races_destroy(r);
  return NULL;
}

void weft_races_destroy(weft_races *r) {
  if (r == NULL) return;
  if (r->program != NULL) races_tokens_destroy(r->program);
  wf_free(r->pairs);
  wf_free(r);
}

static weft_races_facts facts_of(const weft_races *r) {
  if (r->tokens != NULL)
    return (weft_races_facts){.tokens = true,
                              .races = r->tokens->conflict_count,
                              .ordered = r->tokens->ordered,
                              .instructions = r->tokens->instructions,
                              .units = r->tokens->units};
  return (weft_races_facts){.ending = r->ending,
                            .races = r->report.races,
                            .ordered = r->report.ordered,
                            .commands = r->report.commands,
                            .primitives = r->report.primitives,
                            .fences = r->report.fences,
                            .hart_accesses = r->report.hart_accesses};
}

weft_status weft_races_describe(const weft_races *r, weft_races_facts *facts) {
  if (r == NULL) return WEFT_USAGE;
  const weft_races_facts full = facts_of(r);
  return api_give(&full, sizeof full, facts);
}

// ---- races

static size_t kept(const weft_races *r) {
  return r == NULL ? 0 : r->tokens != NULL ? r->tokens->conflict_count : r->report.count;
}

static weft_race pair_of(const races_pair *p) {
  return (weft_race){.place = races_place_names[p->place],
                     .bytes = p->place == RACES_MAIN_MEMORY,
                     .first = p->first,
                     .last = p->end - 1};
}

static weft_race conflict_of(const races_conflict *c) {
  return (weft_race){.place = c->memory, .first = c->first, .last = c->last};
}

weft_status weft_races_at(const weft_races *r, size_t index, weft_race *race) {
  if (index >= kept(r)) return WEFT_USAGE;
  const weft_race full =
      r->tokens != NULL ? conflict_of(&r->tokens->conflicts[index]) : pair_of(&r->report.pairs[index]);
  return api_give(&full, sizeof full, race);
}

static void fill_access(const races_access *a, weft_access *full) {
  *full = (weft_access){
      .unit = races_unit_names[a->unit], .writes = a->writes, .number = a->command.index, .pc = a->command.pc};
  if (a->unit == RACES_HART) return;
  full->of = a->command.insn->name;
  full->unrolled = a->command.insn != a->primitive.insn;
  _Static_assert(sizeof full->text >= ISA_TEXT_MAX, "commands have room");
  isa_print(a->primitive.insn, a->primitive.rs1, a->primitive.rs2, full->text, sizeof full->text);
}

static void fill_side(const races_side *side, weft_access *full) {
  *full = (weft_access){.unit = side->unit, .writes = side->writes, .number = side->number, .line = side->line};
}

weft_status weft_races_access(const weft_races *r, size_t index, bool later, weft_access *access) {
  weft_access full;
  if (index >= kept(r)) return WEFT_USAGE;
  if (r->tokens != NULL)
    fill_side(later ? &r->tokens->conflicts[index].b : &r->tokens->conflicts[index].a, &full);
  else
    fill_access(later ? &r->report.pairs[index].later : &r->report.pairs[index].earlier, &full);
  return api_give(&full, sizeof full, access);
}

weft_status weft_races_queue(const weft_races *r, size_t index, weft_token_queue *queue) {
  if (r == NULL || r->tokens == NULL || index >= r->tokens->queue_count) return WEFT_USAGE;
  const races_queue *from = &r->tokens->queues[index];
  const weft_token_queue full = {
      .from = from->from, .to = from->to, .room = from->room, .pushed = from->pushed, .popped = from->popped};
  return api_give(&full, sizeof full, queue);
}

weft_status weft_races_deadlock(const weft_races *r, size_t index, weft_deadlock *deadlock) {
  if (r == NULL || r->tokens == NULL || index >= r->tokens->stuck_count) return WEFT_USAGE;
  const races_stuck *from = &r->tokens->stuck[index];
  const weft_deadlock full = {.unit = from->at.unit,
                              .number = from->at.number,
                              .line = from->at.line,
                              .for_token = from->pops,
                              .from = from->from,
                              .to = from->to};
  return api_give(&full, sizeof full, deadlock);
}
