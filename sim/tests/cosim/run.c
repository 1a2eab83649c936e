// SPDX-License-Identifier: Apache-2.0
// Running one program on one engine, and comparing two runs: see cosim.h.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "isa/isa.h"
#include "sim/gen/judge.h"
#include "sim/records.h"
#include "sim/tests/cosim/cosim.h"

enum { PATIENCE = 50000, START_CYCLE = 1 };

typedef struct run {
  arch_memory *memory;
  arch_fault fault;
  uint64_t cycles;
  bool recorded;
  sim_records records;
  uint64_t *responses;  // by item
} run;

// Every other command by the host's own loop, as of one with other things to do.
static bool push(sim_engine *engine, const arch_command *command, uint64_t *cycle, uint64_t *response) {
  if (command->index % 2 == 0) {
    const sim_push_result result = sim_engine_push(engine, cycle, command, response);
    ++*cycle;
    return result == SIM_PUSH_DONE;
  }
  for (;;) {
    sim_push_result result = engine->ops->push(engine, *cycle, command, response);
    if (result != SIM_PUSH_FULL) {
      ++*cycle;
      return result == SIM_PUSH_DONE;
    }
    *cycle = sim_engine_await_room(engine, *cycle, UINT64_MAX);
  }
}

static void run_items(sim_engine *engine, const sim_gen_program *program, run *r) {
  uint64_t cycle = START_CYCLE;
  bool good = true;
  for (size_t i = 0; good && i < program->count; i++) {
    const sim_gen_item *item = &program->items[i];
    cycle += item->delay;
    if (item->fence)
      cycle = engine->ops->drain(engine, cycle);
    else
      good = push(engine, &item->command, &cycle, &r->responses[i]);
  }
  r->cycles = engine->ops->drain(engine, cycle);
  r->fault = *engine->ops->fault(engine);
}

// False: the engine could not be made.
static bool run_program(const sim_engine_ops *ops, const cosim_setup *setup, const sim_gen_program *program, run *r) {
  const sim_engine_options options = {
      .disturb = setup->disturb, .garbage = setup->garbage, .patience = PATIENCE, .quiet = false};
  wf_diag diag = wf_diag_to(stderr);
  *r = (run){.memory = arch_memory_create(program->image_bytes),
             .responses = wf_calloc(program->count + 1, sizeof *r->responses)};
  if (r->memory == NULL) return false;
  memcpy(r->memory->bytes, program->image, program->image_bytes);
  sim_engine *engine = sim_engine_create(ops, program->array, r->memory, &options, &diag);
  if (engine == NULL) return false;
  r->recorded = ops->set_events != NULL;
  const sim_events sink = sim_records_sink(&r->records);
  if (r->recorded) ops->set_events(engine, &sink);
  run_items(engine, program, r);
  ops->destroy(engine);
  return true;
}

static void end_run(run *r) {
  arch_memory_destroy(r->memory);
  sim_records_free(&r->records);
  wf_free(r->responses);
}

// ---- comparison

static bool same_memory(const sim_gen_program *program, const run *a, const run *b, char text[COSIM_TEXT]) {
  size_t wrong = 0, first = 0;
  for (size_t i = program->image_bytes; i-- > 0;) {
    if (a->memory->bytes[i] == b->memory->bytes[i]) continue;
    first = i;
    wrong++;
  }
  if (wrong != 0)
    snprintf(text, COSIM_TEXT, "%zu bytes of memory differ, the first at 0x%" PRIx64 ": 0x%02x, should be 0x%02x",
             wrong, ARCH_MEMORY_BASE + first, a->memory->bytes[first], b->memory->bytes[first]);
  return wrong == 0;
}

static bool returns(const sim_gen_item *item) { return !item->fence && item->command.returns; }

// Values of counters: of engines with cycles only.
static bool same_responses(const sim_gen_program *program, const run *a, const run *b, char text[COSIM_TEXT]) {
  for (size_t i = 0; i < program->count; i++) {
    const sim_gen_item *item = &program->items[i];
    if (!returns(item) || a->responses[i] == b->responses[i]) continue;
    char command[ISA_TEXT_MAX];
    isa_print(item->command.insn, item->command.rs1, item->command.rs2, command, sizeof command);
    snprintf(text, COSIM_TEXT, "command %zu, %.200s, returns %" PRIu64 ", should be %" PRIu64, i, command,
             a->responses[i], b->responses[i]);
    return false;
  }
  return true;
}

static bool same_events(const sim_gen_program *program, const run *a, const run *b, char text[COSIM_TEXT]) {
  sim_difference d;
  if (!sim_records_differ(&a->records, &b->records, &d)) {
    if (a->cycles == b->cycles) return true;
    snprintf(text, COSIM_TEXT, "all records are equal, but it is idle after %" PRIu64 " cycles, should be %" PRIu64,
             a->cycles, b->cycles);
    return false;
  }
  char event[SIM_EVENT_TEXT], got[32] = "never", want[32] = "never";
  unsigned revision = program->array->isa.revision;
  sim_event_text(&d.event, d.found[1] ? &b->records : &a->records, revision, event);
  if (d.found[0]) snprintf(got, sizeof got, "in cycle %" PRIu64, d.cycles[0]);
  if (d.found[1]) snprintf(want, sizeof want, "in cycle %" PRIu64, d.cycles[1]);
  snprintf(text, COSIM_TEXT, "%.300s %s, should be %s%s", event, got, want,
           d.other_command ? ", not this command" : "");
  return false;
}

typedef struct expected {
  uint64_t primitives, completions;
} expected;

// Every command that the program makes is allocated, issued and done once, in this order; some are done when issued.
static bool complete_events(const run *r, expected want, char text[COSIM_TEXT]) {
  uint64_t primitives = want.primitives, done = 0;
  uint8_t *stage = wf_calloc(primitives + 1, 1);
  bool good = true;
  for (size_t i = 0; good && i < r->records.count; i++) {
    const sim_event *e = &r->records.item[i];
    good = e->index < primitives && stage[e->index] == (uint8_t)e->kind;
    if (good) stage[e->index]++;
    if (!good) {
      snprintf(text, COSIM_TEXT,
               "%s of %" PRIu32 " in cycle %" PRIu64 " comes out of turn or too often (%" PRIu64 " commands)",
               sim_event_kind_name(e->kind), e->index, e->cycle, primitives);
    }
  }
  for (uint64_t n = 0; good && n < primitives; n++) {
    good = stage[n] >= 2;
    done += stage[n] == 3;
    if (!good) snprintf(text, COSIM_TEXT, "command %" PRIu64 " of %" PRIu64 " was never issued", n, primitives);
  }
  if (good && done != want.completions) {
    good = false;
    snprintf(text, COSIM_TEXT, "%" PRIu64 " commands completed, should be %" PRIu64, done, want.completions);
  }
  wf_free(stage);
  return good;
}

static expected count_primitives(const sim_gen_program *program) {
  char why[GEN_WHY];
  sim_gen_judge *judge = sim_gen_judge_create(program->array, program->image_bytes);
  for (size_t i = 0; i < program->count; i++) sim_gen_judge_item(judge, &program->items[i], why);
  expected want = {sim_gen_judge_primitives(judge), sim_gen_judge_completions(judge)};
  sim_gen_judge_destroy(judge);
  return want;
}

// What was under way when the engine stopped: issued commands that are not done, and how many were not issued.
static void tell_unfinished(const run *r, char *text, size_t size) {
  uint32_t allocated = 0, issued = 0;
  size_t used = 0;
  for (size_t i = 0; i < r->records.count; i++) {
    const sim_event *e = &r->records.item[i];
    allocated += e->kind == SIM_EVENT_ALLOC;
    if (e->kind != SIM_EVENT_ISSUE) continue;
    issued++;
    size_t later = i + 1;
    while (later < r->records.count &&
           (r->records.item[later].kind != SIM_EVENT_DONE || r->records.item[later].index != e->index))
      later++;
    if (later == r->records.count && used < size)
      used += (size_t)snprintf(text + used, size - used, " %" PRIu32, e->index);
  }
  if (used < size) snprintf(text + used, size - used, "; %" PRIu32 " of %" PRIu32 " issued", issued, allocated);
}

static bool no_fault(const sim_engine_ops *ops, const run *r, char text[COSIM_TEXT]) {
  if (r->fault.kind == ARCH_FAULT_NONE) return true;
  snprintf(text, COSIM_TEXT, "engine %s: command %" PRIu64 ": %s", ops->name, r->fault.command.index, r->fault.text);
  if (r->recorded && r->fault.kind == ARCH_FAULT_STUCK) {
    size_t used = strlen(text);
    snprintf(text + used, COSIM_TEXT - used, " (issued and not done:");
    used = strlen(text);
    tell_unfinished(r, text + used, COSIM_TEXT - used);
    used = strlen(text);
    snprintf(text + used, COSIM_TEXT - used, ")");
  }
  return false;
}

static void append(char text[COSIM_TEXT], const char *between, const char *more) {
  size_t used = strlen(text);
  snprintf(text + used, COSIM_TEXT - used, "%s%s", between, more);
}

// Cycles first: where they differ, what memory holds and whether the engine ends is the consequence.
static bool compare(const cosim_setup *setup, const sim_gen_program *program, const run *a, const run *b, expected want,
                    char text[COSIM_TEXT]) {
  char more[COSIM_TEXT];
  if (!no_fault(setup->against, b, text)) return false;
  bool timed = a->recorded && b->recorded;
  bool same = !timed || same_events(program, a, b, text);
  if (!no_fault(setup->engine, a, more) || !same_memory(program, a, b, more)) {
    if (same) memcpy(text, more, COSIM_TEXT);
    if (!same) append(text, "; ", more);
    return false;
  }
  if (!same || (timed && !same_responses(program, a, b, text))) return false;
  return !(a->recorded && !complete_events(a, want, text));
}

// ---- what the hardware did before

static uint64_t digest_records(const sim_records *records) {
  uint64_t hash = WF_HASH_START;
  for (size_t i = 0; i < records->count; i++) {
    const sim_event *e = &records->item[i];
    const uint64_t words[] = {(uint64_t)e->kind << 40 | (uint64_t)e->unit << 32 | e->index, e->cycle, e->rs1, e->rs2,
                              e->funct};
    hash = wf_hash(hash, words, sizeof words);
  }
  return hash;
}

static cosim_digest digest_of(const sim_gen_program *program, const run *r) {
  uint64_t timing = digest_records(&r->records);
  for (size_t i = 0; i < program->count; i++)
    if (returns(&program->items[i])) timing = wf_hash(timing, &r->responses[i], sizeof r->responses[i]);
  return (cosim_digest){
      .memory = wf_hash(WF_HASH_START, r->memory->bytes, program->image_bytes), .records = timing, .cycles = r->cycles};
}

static const char hardware[] = "rtl";
static bool is_hardware(const sim_engine_ops *ops) { return strcmp(ops->name, hardware) == 0; }

// True if one engine is the hardware, which has run this program, and the other does the same. False proves nothing.
static bool agrees_as_before(const cosim_setup *setup, const sim_gen_program *program, cosim_totals *totals) {
  cosim_digest before, now;
  if (setup->memo == NULL || is_hardware(setup->engine) == is_hardware(setup->against)) return false;
  if (!cosim_memo_find(setup->memo, setup, program, &before)) return false;
  const sim_engine_ops *other = is_hardware(setup->engine) ? setup->against : setup->engine;
  run r = {0};
  bool same = run_program(other, setup, program, &r) && r.fault.kind == ARCH_FAULT_NONE;
  if (same) now = digest_of(program, &r);
  same = same && now.memory == before.memory;
  if (same && r.recorded) same = now.records == before.records && now.cycles == before.cycles;
  end_run(&r);
  if (same && totals != NULL) {
    totals->remembered++;
    totals->cycles += before.cycles;
  }
  return same;
}

static void remember(const cosim_setup *setup, const sim_gen_program *program, const run *a, const run *b) {
  const run *r = is_hardware(setup->engine) ? a : is_hardware(setup->against) ? b : NULL;
  if (setup->memo == NULL || r == NULL) return;
  cosim_digest digest = digest_of(program, r);
  cosim_memo_add(setup->memo, setup, program, &digest);
}

static bool agrees_now(const cosim_setup *setup, const sim_gen_program *program, expected want, cosim_totals *totals,
                       char text[COSIM_TEXT]) {
  run a = {0}, b = {0};
  bool good = run_program(setup->against, setup, program, &b) && run_program(setup->engine, setup, program, &a);
  if (good)
    good = compare(setup, program, &a, &b, want, text);
  else
    snprintf(text, COSIM_TEXT, "an engine cannot be made");
  if (good) remember(setup, program, &a, &b);
  if (totals != NULL) totals->cycles += is_hardware(setup->against) ? b.cycles : a.cycles;
  end_run(&a);
  end_run(&b);
  return good;
}

bool cosim_agree(const cosim_setup *setup, const sim_gen_program *program, cosim_totals *totals,
                 char text[COSIM_TEXT]) {
  expected want = count_primitives(program);
  if (totals != NULL) {
    totals->programs++;
    totals->commands += program->count;
    totals->primitives += want.primitives;
  }
  return agrees_as_before(setup, program, totals) || agrees_now(setup, program, want, totals, text);
}
