// SPDX-License-Identifier: Apache-2.0
// `weft check`: pairs of accesses that nothing orders, of a program, a command trace or a program with tokens, and
// deadlocks of the last.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

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
  weft_session *session;
  weft_array *array;  // NULL of a program with tokens
  weft_races *races;
  weft_races_facts facts;
} check;

// Race `index`, if it is to be shown.
static bool race_at(const check *c, size_t index, weft_race *race) {
  race->size = sizeof *race;
  return (c->options->limit == 0 || index < c->options->limit) && weft_races_at(c->races, index, race) == WEFT_OK;
}

static weft_access side_of(const check *c, size_t index, bool later) {
  weft_access access = {.size = sizeof access};
  weft_races_access(c->races, index, later, &access);
  return access;
}

static const char *does(const weft_access *a) { return a->writes ? "writes" : "reads"; }

static void print_rest(const check *c, uint64_t count) {
  const uint64_t limit = c->options->limit, shown = limit == 0 || count < limit ? count : limit;
  if (shown < count) printf("(and %" PRIu64 " more; --limit 0 shows all that are kept)\n", count - shown);
}

// ---- orders

static bool find_order(const char *name, size_t length, weft_races_options *o) {
  const struct {
    const char *name;
    bool *ignored;
  } orders[] = {{"station", &o->ignore_station}, {"fences", &o->ignore_fences}, {"room", &o->ignore_room}};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
    if (strlen(orders[i].name) == length && strncmp(orders[i].name, name, length) == 0)
      return *orders[i].ignored = true;
  return false;
}

static bool choose_orders(const char *text, weft_races_options *o) {
  for (const char *at = text; at != NULL;) {
    const char *comma = strchr(at, ',');
    const size_t length = comma == NULL ? strlen(at) : (size_t)(comma - at);
    if (!find_order(at, length, o)) {
      cli_error(NULL, "--ignore needs station, fences, room or several of them, not %s", text);
      return false;
    }
    at = comma == NULL ? NULL : comma + 1;
  }
  return true;
}

// ---- programs and traces: text

static void print_access(const char *head, const weft_access *a) {
  printf("  %s ", head);
  if (a->of == NULL) {
    printf("the hart at pc 0x%" PRIx64 ", behind %" PRIu64 " commands, %s\n", a->pc, a->number, does(a));
    return;
  }
  printf("command %" PRIu64, a->number);
  if (a->pc != 0) printf(" at pc 0x%" PRIx64, a->pc);
  if (a->unrolled) printf(" (of %s)", a->of);
  printf(", %s unit, %s: %s\n", a->unit, does(a), a->text);
}

static void print_pair(const check *c, size_t index, const weft_race *race) {
  const weft_access earlier = side_of(c, index, false), later = side_of(c, index, true);
  printf(race->bytes ? "%s: race: %s 0x%" PRIx64 "..0x%" PRIx64 "\n" : "%s: race: %s rows %" PRIu64 "..%" PRIu64 "\n",
         c->path, race->place, race->first, race->last);
  print_access("earlier", &earlier);
  print_access("later  ", &later);
}

static void print(const check *c) {
  const weft_races_facts *f = &c->facts;
  char commands[CLI_THOUSANDS], primitives[CLI_THOUSANDS], hart[CLI_THOUSANDS], ordered[CLI_THOUSANDS];
  weft_race race;
  for (size_t i = 0; race_at(c, i, &race); i++) print_pair(c, i, &race);
  print_rest(c, f->races);
  printf("%s commands, %s primitives, %" PRIu64 " fences, %s accesses of the hart; %s conflicts in order\n",
         cli_thousands(f->commands, commands), cli_thousands(f->primitives, primitives), f->fences,
         cli_thousands(f->hart_accesses, hart), cli_thousands(f->ordered, ordered));
  printf(f->races == 0 ? "no races\n" : f->races == 1 ? "1 race\n" : "%" PRIu64 " races\n", f->races);
}

// ---- programs and traces: JSON

static cJSON *json_access(const weft_access *a) {
  cJSON *access = cJSON_CreateObject();
  cJSON_AddStringToObject(access, "unit", a->unit);
  cJSON_AddStringToObject(access, "does", does(a));
  wf_json_count(access, "command", a->number);
  if (a->pc != 0) wf_json_hash(access, "pc", a->pc);
  if (a->of == NULL) return access;
  cJSON_AddStringToObject(access, "of", a->of);
  cJSON_AddStringToObject(access, "text", a->text);
  return access;
}

static cJSON *json_place(const weft_race *race) {
  cJSON *pair = cJSON_CreateObject();
  cJSON_AddStringToObject(pair, "place", race->place);
  wf_json_count(pair, "first", race->first);
  wf_json_count(pair, "last", race->last);
  return pair;
}

static cJSON *json_pair(const check *c, size_t index, const weft_race *race) {
  const weft_access earlier = side_of(c, index, false), later = side_of(c, index, true);
  cJSON *pair = json_place(race);
  cJSON_AddItemToObject(pair, "earlier", json_access(&earlier));
  cJSON_AddItemToObject(pair, "later", json_access(&later));
  return pair;
}

static cJSON *json(const check *c) {
  const weft_races_facts *f = &c->facts;
  weft_race race;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "file", c->path);
  cJSON_AddStringToObject(document, "array", weft_array_name(c->array));
  wf_json_count(document, "commands", f->commands);
  wf_json_count(document, "primitives", f->primitives);
  wf_json_count(document, "fences", f->fences);
  wf_json_count(document, "hart_accesses", f->hart_accesses);
  wf_json_count(document, "ordered", f->ordered);
  wf_json_count(document, "races", f->races);
  cJSON *pairs = cJSON_AddArrayToObject(document, "pairs");
  for (size_t i = 0; race_at(c, i, &race); i++) cJSON_AddItemToArray(pairs, json_pair(c, i, &race));
  return document;
}

// ---- programs with tokens: text

static void print_conflict(const check *c, size_t index, const weft_race *race) {
  const weft_access a = side_of(c, index, false), b = side_of(c, index, true);
  printf("%s:%" PRIu32 ": race: 0x%02" PRIx64 " %s %s %s %" PRIu64 "..%" PRIu64 ", which 0x%02" PRIx64 " (line %" PRIu32
         ") %s %s: nothing orders them\n",
         c->path, b.line, b.number, b.unit, does(&b), race->place, race->first, race->last, a.number, a.line, a.unit,
         does(&a));
}

static void print_deadlock(const check *c, const weft_deadlock *d) {
  printf("%s:%" PRIu32 ": deadlock: 0x%02" PRIx64 " %s waits for %s %s -> %s for ever\n", c->path, d->line, d->number,
         d->unit, d->for_token ? "a token" : "room", d->from, d->to);
}

static void print_queue(const weft_token_queue *q) {
  printf("queue %s -> %s: %" PRIu64 " pushed, %" PRIu64 " popped%s\n", q->from, q->to, q->pushed, q->popped,
         q->pushed == q->popped ? "" : ", the rest is left over");
}

static bool waits_for_ever(const check *c) {
  weft_deadlock d = {.size = sizeof d};
  return weft_races_deadlock(c->races, 0, &d) == WEFT_OK;
}

static void print_tokens(const check *c) {
  const weft_races_facts *f = &c->facts;
  weft_race race;
  weft_deadlock d = {.size = sizeof d};
  weft_token_queue q = {.size = sizeof q};
  for (size_t i = 0; race_at(c, i, &race); i++) print_conflict(c, i, &race);
  print_rest(c, f->races);
  for (size_t i = 0; weft_races_deadlock(c->races, i, &d) == WEFT_OK; i++) print_deadlock(c, &d);
  for (size_t i = 0; weft_races_queue(c->races, i, &q) == WEFT_OK; i++) print_queue(&q);
  printf("%" PRIu64 " instructions of %" PRIu64 " units; %" PRIu64 " conflicts in order\n", f->instructions, f->units,
         f->ordered);
  printf("%" PRIu64 " %s, %s\n", f->races, f->races == 1 ? "race" : "races",
         waits_for_ever(c) ? "a deadlock" : "no deadlock");
}

// ---- programs with tokens: JSON

static cJSON *json_side(const char *unit, uint64_t number, uint32_t line) {
  cJSON *side = cJSON_CreateObject();
  cJSON_AddStringToObject(side, "unit", unit);
  wf_json_count(side, "number", number);
  wf_json_count(side, "line", line);
  return side;
}

static cJSON *json_conflict(const check *c, size_t index, const weft_race *race) {
  cJSON *conflict = json_place(race);
  for (int later = 0; later < 2; later++) {
    const weft_access a = side_of(c, index, later != 0);
    cJSON *side = json_side(a.unit, a.number, a.line);
    cJSON_AddStringToObject(side, "does", does(&a));
    cJSON_AddItemToObject(conflict, later != 0 ? "later" : "earlier", side);
  }
  return conflict;
}

static cJSON *json_queue(const weft_token_queue *q) {
  cJSON *queue = cJSON_CreateObject();
  cJSON_AddStringToObject(queue, "from", q->from);
  cJSON_AddStringToObject(queue, "to", q->to);
  if (q->room != 0) wf_json_count(queue, "room", q->room);
  wf_json_count(queue, "pushed", q->pushed);
  wf_json_count(queue, "popped", q->popped);
  return queue;
}

static cJSON *json_deadlock(const weft_deadlock *d) {
  cJSON *side = json_side(d->unit, d->number, d->line);
  cJSON_AddStringToObject(side, "waits_for", d->for_token ? "token" : "room");
  cJSON_AddStringToObject(side, "from", d->from);
  cJSON_AddStringToObject(side, "to", d->to);
  return side;
}

static cJSON *json_tokens(const check *c) {
  weft_race race;
  weft_deadlock d = {.size = sizeof d};
  weft_token_queue q = {.size = sizeof q};
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "file", c->path);
  wf_json_count(document, "instructions", c->facts.instructions);
  wf_json_count(document, "ordered", c->facts.ordered);
  wf_json_count(document, "races", c->facts.races);
  cJSON *pairs = cJSON_AddArrayToObject(document, "pairs"), *queues = cJSON_AddArrayToObject(document, "queues"),
        *stuck = cJSON_AddArrayToObject(document, "deadlock");
  for (size_t i = 0; race_at(c, i, &race); i++) cJSON_AddItemToArray(pairs, json_conflict(c, i, &race));
  for (size_t i = 0; weft_races_queue(c->races, i, &q) == WEFT_OK; i++) cJSON_AddItemToArray(queues, json_queue(&q));
  for (size_t i = 0; weft_races_deadlock(c->races, i, &d) == WEFT_OK; i++)
    cJSON_AddItemToArray(stuck, json_deadlock(&d));
  return document;
}

// ---- the verb

static bool takes_no_array(const check *c) {
  const char *given = c->common->array != NULL     ? "--array"
                      : c->common->isa != 0        ? "--isa"
                      : c->options->any_array      ? "--any-array"
                      : c->options->ignore != NULL ? "--ignore"
                                                   : NULL;
  if (given == NULL) return true;
  cli_error(c->path, "%s does not go with a program with tokens, which has no array", given);
  return false;
}

static cli_exit find_races(check *c, const weft_races_options *options) {
  c->races = weft_races_find(c->session, c->path, c->array, options);
  cli_messages(c->session);
  c->facts = (weft_races_facts){.size = sizeof c->facts};
  weft_races_describe(c->races, &c->facts);
  return c->races != NULL ? CLI_OK : (cli_exit)weft_session_status(c->session);
}

static cli_exit check_commands(check *c, const weft_races_options *options) {
  c->array = cli_open_array(c->common, c->session);
  if (c->array == NULL) return CLI_BAD_INPUT;
  const cli_exit code = find_races(c, options);
  if (code != CLI_OK) return code;
  if (cli_prints(c->common)) print(c);
  if (cli_put_json(c->common, c->common->json == NULL ? NULL : json(c)) != CLI_OK) return CLI_BAD_INPUT;
  return c->facts.races != 0 ? CLI_MISMATCH : (cli_exit)c->facts.ending;
}

static cli_exit check_tokens(check *c, const weft_races_options *options) {
  if (!takes_no_array(c)) return CLI_USAGE;
  const cli_exit code = find_races(c, options);
  if (code != CLI_OK) return code;
  if (cli_prints(c->common)) print_tokens(c);
  if (cli_put_json(c->common, c->common->json == NULL ? NULL : json_tokens(c)) != CLI_OK) return CLI_BAD_INPUT;
  return c->facts.races == 0 && !waits_for_ever(c) ? CLI_OK : CLI_MISMATCH;
}

static cli_exit check_file(check *c) {
  bool tokens;
  weft_races_options options = {
      .size = sizeof options, .max_instructions = c->options->max_instructions, .any_array = c->options->any_array};
  if (!choose_orders(c->options->ignore, &options)) return CLI_USAGE;
  weft_races_tokens(c->session, c->path, &tokens);
  if (!cli_messages(c->session)) return CLI_BAD_INPUT;
  return tokens ? check_tokens(c, &options) : check_commands(c, &options);
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
  check c = {.common = &common, .options = &options, .path = argv[0], .session = weft_session_create()};
  code = check_file(&c);
  weft_races_destroy(c.races);
  weft_array_destroy(c.array);
  weft_session_destroy(c.session);
  return code;
}
