// SPDX-License-Identifier: Apache-2.0
// `weft check`: pairs of accesses that nothing orders, of a program, a command trace or a program with tokens, and
// deadlocks of the last.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/thousands.h"
#include "cli/cli.h"
#include "cli/sim_report.h"
#include "sim/races/races.h"
#include "sim/run.h"

enum { DEFAULT_LIMIT = 20 };

typedef struct check_options {
  const char *ignore;
  uint64_t limit, max_instructions;
  bool any_array;
} check_options;

typedef struct check {
  const cli_common *common;
  const check_options *options;
  const char *path;
  hw_array array;
  unsigned ignored;
  races_report report;
  races_pair *pairs;  // of the report, which is the engine's
} check;

static uint64_t shown_of(const check *c, uint64_t count) {
  return c->options->limit == 0 || count < c->options->limit ? count : c->options->limit;
}

static void print_rest(const check *c, uint64_t count) {
  const uint64_t shown = shown_of(c, count);
  if (shown < count) printf("(and %" PRIu64 " more; --limit 0 shows all that are kept)\n", count - shown);
}

// ---- orders

static const struct {
  const char *name;
  races_order order;
} orders[] = {{"station", RACES_STATION}, {"fences", RACES_FENCES}, {"room", RACES_ROOM}};
enum { ORDERS = sizeof orders / sizeof *orders };

static bool find_order(const char *name, size_t length, unsigned *ignored) {
  for (int o = 0; o < ORDERS; o++)
    if (strlen(orders[o].name) == length && strncmp(orders[o].name, name, length) == 0) {
      *ignored |= orders[o].order;
      return true;
    }
  return false;
}

static bool choose_orders(const char *text, unsigned *ignored, wf_diag *diag) {
  for (const char *at = text; at != NULL;) {
    const char *comma = strchr(at, ',');
    const size_t length = comma == NULL ? strlen(at) : (size_t)(comma - at);
    if (!find_order(at, length, ignored)) {
      wf_error(diag, wf_in_file(NULL), "--ignore needs station, fences, room or several of them, not %s", text);
      return false;
    }
    at = comma == NULL ? NULL : comma + 1;
  }
  return true;
}

// ---- programs and traces: text

static const char *does(const races_access *a) { return a->writes ? "writes" : "reads"; }

static const char *text_of(const races_access *a, char text[ISA_TEXT_MAX]) {
  isa_print(a->primitive.insn, a->primitive.rs1, a->primitive.rs2, text, ISA_TEXT_MAX);
  return text;
}

static void print_access(const char *head, const races_access *a) {
  char text[ISA_TEXT_MAX];
  printf("  %s ", head);
  if (a->unit == RACES_HART) {
    printf("the hart at pc 0x%" PRIx64 ", behind %" PRIu64 " commands, %s\n", a->command.pc, a->command.index, does(a));
    return;
  }
  printf("command %" PRIu64, a->command.index);
  if (a->command.pc != 0) printf(" at pc 0x%" PRIx64, a->command.pc);
  if (a->command.insn != a->primitive.insn) printf(" (of %s)", a->command.insn->name);
  printf(", %s unit, %s: %s\n", races_unit_names[a->unit], does(a), text_of(a, text));
}

static void print_pair(const check *c, const races_pair *p) {
  const bool bytes = p->place == RACES_MAIN_MEMORY;
  printf(bytes ? "%s: race: %s 0x%" PRIx64 "..0x%" PRIx64 "\n" : "%s: race: %s rows %" PRIu64 "..%" PRIu64 "\n",
         c->path, races_place_names[p->place], p->first, p->end - 1);
  print_access("earlier", &p->earlier);
  print_access("later  ", &p->later);
}

static void print(const check *c) {
  const races_report *r = &c->report;
  char commands[WF_THOUSANDS], primitives[WF_THOUSANDS], hart[WF_THOUSANDS], ordered[WF_THOUSANDS];
  const uint64_t shown = shown_of(c, r->count);
  for (uint64_t i = 0; i < shown; i++) print_pair(c, &c->pairs[i]);
  print_rest(c, r->races);
  printf("%s commands, %s primitives, %" PRIu64 " fences, %s accesses of the hart; %s conflicts in order\n",
         wf_thousands(r->commands, commands), wf_thousands(r->primitives, primitives), r->fences,
         wf_thousands(r->hart_accesses, hart), wf_thousands(r->ordered, ordered));
  printf(r->races == 0 ? "no races\n" : r->races == 1 ? "1 race\n" : "%" PRIu64 " races\n", r->races);
}

// ---- programs and traces: JSON

static cJSON *json_access(const races_access *a) {
  cJSON *access = cJSON_CreateObject();
  cJSON_AddStringToObject(access, "unit", races_unit_names[a->unit]);
  cJSON_AddStringToObject(access, "does", does(a));
  cli_json_count(access, "command", a->command.index);
  if (a->command.pc != 0) cli_json_hash(access, "pc", a->command.pc);
  if (a->unit == RACES_HART) return access;
  char text[ISA_TEXT_MAX];
  cJSON_AddStringToObject(access, "of", a->command.insn->name);
  cJSON_AddStringToObject(access, "text", text_of(a, text));
  return access;
}

static cJSON *json_pair(const races_pair *p) {
  cJSON *pair = cJSON_CreateObject();
  cJSON_AddStringToObject(pair, "place", races_place_names[p->place]);
  cli_json_count(pair, "first", p->first);
  cli_json_count(pair, "last", p->end - 1);
  cJSON_AddItemToObject(pair, "earlier", json_access(&p->earlier));
  cJSON_AddItemToObject(pair, "later", json_access(&p->later));
  return pair;
}

static cJSON *json(const check *c) {
  const races_report *r = &c->report;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "file", c->path);
  cJSON_AddStringToObject(document, "array", c->array.name);
  cli_json_count(document, "commands", r->commands);
  cli_json_count(document, "primitives", r->primitives);
  cli_json_count(document, "fences", r->fences);
  cli_json_count(document, "hart_accesses", r->hart_accesses);
  cli_json_count(document, "ordered", r->ordered);
  cli_json_count(document, "races", r->races);
  cJSON *pairs = cJSON_AddArrayToObject(document, "pairs");
  const uint64_t shown = shown_of(c, r->count);
  for (uint64_t i = 0; i < shown; i++) cJSON_AddItemToArray(pairs, json_pair(&c->pairs[i]));
  return document;
}

// ---- programs and traces

static void keep(void *context, const sim_engine *engine, uint64_t cycle) {
  (void)cycle;
  check *c = context;
  races_report_of(engine, &c->report);
  c->pairs = wf_alloc(c->report.count + 1, sizeof *c->pairs);
  if (c->report.count != 0) memcpy(c->pairs, c->report.pairs, c->report.count * sizeof *c->pairs);
  c->report.pairs = c->pairs;
}

static cli_exit check_commands(check *c, wf_diag *diag) {
  if (!cli_load_array(c->common, &c->array, diag)) return CLI_BAD_INPUT;
  FILE *nowhere = fopen("/dev/null", "w");
  if (nowhere == NULL) {
    wf_error(diag, wf_in_file("/dev/null"), "cannot open it");
    return CLI_BAD_INPUT;
  }
  const sim_engine_options engine_options = {.ignored_orders = c->ignored};
  const sim_run_config config = {.array = &c->array,
                                 .engine = &sim_races_engine,
                                 .engine_options = &engine_options,
                                 .max_instructions = c->options->max_instructions,
                                 .any_array = c->options->any_array,
                                 .console = nowhere,
                                 .console_error = nowhere,
                                 .watch_context = c,
                                 .ended = keep};
  const sim_run_result result = sim_run_file(&config, c->path, diag);
  fclose(nowhere);
  const cli_exit ran = sim_report_exit(&result);
  c->report.fences = result.port.fences;
  if (ran == CLI_BAD_INPUT || ran == CLI_CANNOT_BUILD) return ran;
  if (cli_prints(c->common)) print(c);
  if (c->common->json != NULL && !cli_write_json(c->common->json, json(c), diag)) return CLI_BAD_INPUT;
  if (c->report.races != 0) return CLI_MISMATCH;
  return ran;
}

// ---- programs with tokens

static void print_conflict(const check *c, const races_conflict *x) {
  printf("%s:%u: race: 0x%02zx %s %s %s %" PRIu64 "..%" PRIu64 ", which 0x%02zx (line %u) %s %s: nothing orders them\n",
         c->path, x->b.line, x->b.number, x->b.unit, x->b.writes ? "writes" : "reads", x->memory, x->first, x->last,
         x->a.number, x->a.line, x->a.unit, x->a.writes ? "writes" : "reads");
}

static void print_stuck(const check *c, const races_stuck *s) {
  printf("%s:%u: deadlock: 0x%02zx %s waits for %s %s -> %s for ever\n", c->path, s->at.line, s->at.number, s->at.unit,
         s->pops ? "a token" : "room", s->from, s->to);
}

static void print_queue(const races_queue *q) {
  printf("queue %s -> %s: %" PRIu64 " pushed, %" PRIu64 " popped%s\n", q->from, q->to, q->pushed, q->popped,
         q->pushed == q->popped ? "" : ", the rest is left over");
}

static void print_tokens(const check *c, const races_tokens_report *r) {
  const uint64_t shown = shown_of(c, r->conflict_count);
  for (uint64_t i = 0; i < shown; i++) print_conflict(c, &r->conflicts[i]);
  print_rest(c, r->conflict_count);
  for (size_t i = 0; i < r->stuck_count; i++) print_stuck(c, &r->stuck[i]);
  for (size_t q = 0; q < r->queue_count; q++) print_queue(&r->queues[q]);
  printf("%zu instructions of %zu units; %" PRIu64 " conflicts in order\n", r->instructions, r->units, r->ordered);
  printf("%zu %s, %s\n", r->conflict_count, r->conflict_count == 1 ? "race" : "races",
         r->stuck_count == 0 ? "no deadlock" : "a deadlock");
}

static cJSON *json_side(const races_side *s) {
  cJSON *side = cJSON_CreateObject();
  cJSON_AddStringToObject(side, "unit", s->unit);
  cli_json_count(side, "number", s->number);
  cli_json_count(side, "line", s->line);
  return side;
}

static cJSON *json_conflict(const races_conflict *x) {
  cJSON *conflict = cJSON_CreateObject();
  const races_side *sides[] = {&x->a, &x->b};
  const char *const names[] = {"earlier", "later"};
  cJSON_AddStringToObject(conflict, "place", x->memory);
  cli_json_count(conflict, "first", x->first);
  cli_json_count(conflict, "last", x->last);
  for (int s = 0; s < 2; s++) {
    cJSON *side = json_side(sides[s]);
    cJSON_AddStringToObject(side, "does", sides[s]->writes ? "writes" : "reads");
    cJSON_AddItemToObject(conflict, names[s], side);
  }
  return conflict;
}

static cJSON *json_queue(const races_queue *q) {
  cJSON *queue = cJSON_CreateObject();
  cJSON_AddStringToObject(queue, "from", q->from);
  cJSON_AddStringToObject(queue, "to", q->to);
  if (q->room != 0) cli_json_count(queue, "room", q->room);
  cli_json_count(queue, "pushed", q->pushed);
  cli_json_count(queue, "popped", q->popped);
  return queue;
}

static cJSON *json_tokens(const check *c, const races_tokens_report *r) {
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "file", c->path);
  cli_json_count(document, "instructions", r->instructions);
  cli_json_count(document, "ordered", r->ordered);
  cli_json_count(document, "races", r->conflict_count);
  cJSON *pairs = cJSON_AddArrayToObject(document, "pairs"), *queues = cJSON_AddArrayToObject(document, "queues"),
        *stuck = cJSON_AddArrayToObject(document, "deadlock");
  const uint64_t shown = shown_of(c, r->conflict_count);
  for (uint64_t i = 0; i < shown; i++) cJSON_AddItemToArray(pairs, json_conflict(&r->conflicts[i]));
  for (size_t q = 0; q < r->queue_count; q++) cJSON_AddItemToArray(queues, json_queue(&r->queues[q]));
  for (size_t i = 0; i < r->stuck_count; i++) {
    cJSON *side = json_side(&r->stuck[i].at);
    cJSON_AddStringToObject(side, "waits_for", r->stuck[i].pops ? "token" : "room");
    cJSON_AddStringToObject(side, "from", r->stuck[i].from);
    cJSON_AddStringToObject(side, "to", r->stuck[i].to);
    cJSON_AddItemToArray(stuck, side);
  }
  return document;
}

static bool takes_no_array(const check *c, wf_diag *diag) {
  const char *given = c->common->array != NULL     ? "--array"
                      : c->common->isa != 0        ? "--isa"
                      : c->options->any_array      ? "--any-array"
                      : c->options->ignore != NULL ? "--ignore"
                                                   : NULL;
  if (given == NULL) return true;
  wf_error(diag, wf_in_file(c->path), "%s does not go with a program with tokens, which has no array", given);
  return false;
}

static cli_exit check_tokens(check *c, FILE *in, wf_diag *diag) {
  if (!takes_no_array(c, diag)) return CLI_USAGE;
  races_tokens *program = races_tokens_read(in, c->path, diag);
  if (program == NULL) return CLI_BAD_INPUT;
  const races_tokens_report *r = races_tokens_run(program);
  if (cli_prints(c->common)) print_tokens(c, r);
  const bool written = c->common->json == NULL || cli_write_json(c->common->json, json_tokens(c, r), diag);
  const bool good = r->conflict_count == 0 && r->stuck_count == 0;
  races_tokens_destroy(program);
  return !written ? CLI_BAD_INPUT : good ? CLI_OK : CLI_MISMATCH;
}

// ---- verb

static cli_exit check_file(check *c, wf_diag *diag) {
  if (!choose_orders(c->options->ignore, &c->ignored, diag)) return CLI_USAGE;
  FILE *in = fopen(c->path, "r");
  if (in == NULL) {
    wf_error(diag, wf_in_file(c->path), "cannot open it: %s", strerror(errno));
    return CLI_BAD_INPUT;
  }
  const bool tokens = races_tokens_recognise(in);
  const cli_exit code = tokens ? check_tokens(c, in, diag) : CLI_OK;
  fclose(in);
  return tokens ? code : check_commands(c, diag);
}

static const wf_option check_rows[] = {
    {"ignore", WF_TEXT(check_options, ignore), "ORDER[,..]",
     "take station, fences or room (what the station holds) not to order anything: what depends on it"},
    {"limit", WF_COUNT(check_options, limit), "N", "races to show (default 20; 0: all)"},
    {"max-instructions", WF_COUNT(check_options, max_instructions), "N", "stop the hart after N (0: no limit)"},
    {"any-array", WF_FLAG(check_options, any_array), NULL, "check even if the program was built for another array"},
};

cli_exit cli_check(int argc, char **argv) {
  check_options options = {.limit = DEFAULT_LIMIT};
  static const cli_usage usage = {
      .verb = "check",
      .synopsis = "PROG.elf|TRACE|TOKENS",
      .text =
          "Looks for races of a program, a command trace or a program with tokens (docs/races.md): pairs of\n"
          "accesses of the same bytes or rows, one of them a write, that nothing orders; and for deadlocks\n"
          "of tokens.\n"
          "Exit code: 0 there are none, 4 there are, others as of weft sim.",
      .options = {CLI_OPTIONS(check_rows, 0)},
      .min_arguments = 1,
      .max_arguments = 1,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, &options, &argc, argv, &common, &code)) return code;
  wf_diag diag = wf_diag_to(stderr);
  check c = {.common = &common, .options = &options, .path = argv[0]};
  code = check_file(&c, &diag);
  wf_free(c.pairs);
  return code;
}
