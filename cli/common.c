// SPDX-License-Identifier: Apache-2.0
// Options and arrays: see cli.h.
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "base/nearest.h"
#include "base/number.h"
#include "cli/cli.h"

enum { MAX_OPTIONS = 64 };

// An option of this call, and where its value goes.
typedef struct choice {
  const wf_option *option;
  void *value;
} choice;

typedef struct choices {
  choice all[MAX_OPTIONS];
  size_t count;
} choices;

// A name of one letter is a short option: -o FILE.
static bool is_short(const wf_option *option) { return option->name[1] == '\0'; }

static void print_option(const wf_option *option, const char *help) {
  char left[64];
  snprintf(left, sizeof left, "%s%s%s%s", is_short(option) ? "-" : "--", option->name,
           option->argument == NULL ? "" : " ", option->argument == NULL ? "" : option->argument);
  printf("  %-28s %s\n", left, help);
}

// What an option is for stands in front of its text; of these the help makes groups. The first one is of all others.
static const struct {
  const char *mark, *head;
} groups[] = {{"", "options:"}, {"networks: ", "of networks:"}, {"generated networks: ", "of generated networks:"}};
enum { GROUPS = sizeof groups / sizeof *groups };

static size_t group_of(const wf_option *option) {
  size_t group = GROUPS - 1;
  while (strncmp(option->help, groups[group].mark, strlen(groups[group].mark)) != 0) group--;
  return group;
}

static void print_group(const choices *c, size_t group) {
  bool empty = true;
  for (size_t i = 0; i < c->count; i++) {
    const wf_option *option = c->all[i].option;
    if (group_of(option) != group) continue;
    if (empty) printf("\n%s\n", groups[group].head);
    print_option(option, option->help + strlen(groups[group].mark));
    empty = false;
  }
}

static void print_help(const cli_usage *usage, const choices *c) {
  printf("usage: weft %s [OPTIONS] %s\n\n%s\n", usage->verb, usage->synopsis, usage->text);
  for (size_t group = 0; group < GROUPS; group++) print_group(c, group);
  if (usage->examples != NULL) printf("\nexamples:\n%s", usage->examples);
}

static cli_exit usage_error(const cli_usage *usage, const char *format, const char *what) {
  fputs("weft: error: ", stderr);
  char shown[WF_NAME_LINE];
  fprintf(stderr, format, wf_name_shown(what, shown));
  fprintf(stderr, "\n  hint: weft %s --help\n", usage->verb);
  return CLI_USAGE;
}

static bool parse_count(const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  *value = strtoull(text, &end, 0);
  return errno == 0 && end != text && *end == '\0' && *text != '-';
}

static bool store_option(const choice *c, const char *text) {
  switch (c->option->kind) {
    case WF_OPTION_FLAG:
      *(bool *)c->value = true;
      return true;
    case WF_OPTION_TEXT:
      *(const char **)c->value = text;
      return true;
    case WF_OPTION_COUNT:
      return parse_count(text, c->value);
    case WF_OPTION_POSITIVE:
      return parse_count(text, c->value) && *(uint64_t *)c->value != 0;
  }
  return false;
}

// What every verb takes.
typedef struct shared_values {
  cli_common common;
  uint64_t isa;
  const char *tech;
  bool help;
} shared_values;

static const wf_option tech_rows[] = {{"tech", WF_TEXT(shared_values, tech), "FILE",
                                       "technology table: energies and areas (default: that of chip.technology)"}};
static const wf_option shared[] = {
    {"array", WF_TEXT(shared_values, common.array), "NAME|FILE", "array description (default gemmini-default)"},
    {"isa", WF_COUNT(shared_values, isa), "1|2", "ISA revision (default: the array's)"},
    {"json", WF_TEXT(shared_values, common.json), "FILE|-", "write the result as JSON"},
    {"quiet", WF_FLAG(shared_values, common.quiet), NULL, "no progress and no report"},
    {"help", WF_FLAG(shared_values, help), NULL, "this text"},
    {"h", WF_FLAG(shared_values, help), NULL, "the same"},
};
enum { SHARED = sizeof shared / sizeof *shared, OF_ARRAYS = 2, OF_JSON = 2 };

static void add(choices *c, const wf_option *rows, size_t count, void *values) {
  assert(c->count + count <= MAX_OPTIONS);
  for (size_t i = 0; i < count; i++) c->all[c->count++] = (choice){&rows[i], (char *)values + rows[i].offset};
}

// The verb's options followed by the common ones.
static choices gather(const cli_usage *usage, void *values, shared_values *s) {
  choices c = {.count = 0};
  for (size_t i = 0; i < CLI_TABLES; i++)
    if (usage->options[i].count > 0)
      add(&c, usage->options[i].rows, usage->options[i].count, (char *)values + usage->options[i].place);
  if (usage->takes_tech) add(&c, tech_rows, 1, s);
  for (size_t i = usage->takes_array ? 0 : OF_ARRAYS; i < SHARED; i++)
    if (i != OF_JSON || !usage->no_json) add(&c, &shared[i], 1, s);
  return c;
}

// The table of long options and the string of short ones.
static void to_getopt(const choices *c, struct option *longs, char *shorts) {
  *shorts++ = ':';
  for (size_t i = 0; i < c->count; i++) {
    const wf_option *option = c->all[i].option;
    int argument = option->kind == WF_OPTION_FLAG ? no_argument : required_argument;
    longs[i] = (struct option){.name = option->name, .has_arg = argument};
    if (!is_short(option)) continue;
    *shorts++ = *option->name;
    if (argument == required_argument) *shorts++ = ':';
  }
  longs[c->count] = (struct option){0};
  *shorts = '\0';
}

static int find_short(const choices *c, int letter) {
  for (size_t i = 0; i < c->count; i++)
    if (is_short(c->all[i].option) && *c->all[i].option->name == letter) return (int)i;
  return -1;
}

// A name that begins with a dash is the usual reason.
static cli_exit unknown_letter(const cli_usage *usage, int letter) {
  const char text[] = {'-', (char)letter, '\0'};
  const cli_exit code = usage_error(usage, "unknown option %s", text);
  fputs("  hint: a file whose name begins with '-' is given as ./-NAME\n", stderr);
  return code;
}

// The nearest option of the verb.
static cli_exit unknown_option(const cli_usage *usage, const char *word, const choices *c) {
  const cli_exit code = usage_error(usage, "unknown option %s", word);
  char name[WF_WORD_MAX];
  word += strspn(word, "-");
  snprintf(name, sizeof name, "%.*s", (int)wf_min(strcspn(word, "="), sizeof name - 1), word);
  wf_nearest nearest = wf_nearest_start(name);
  for (size_t i = 0; i < c->count; i++)
    if (!is_short(c->all[i].option)) wf_nearest_offer(&nearest, c->all[i].option->name);
  if (nearest.best[0] != '\0') fprintf(stderr, "  hint: did you mean --%s?\n", nearest.best);
  return code;
}

static cli_exit parse_all(const cli_usage *usage, int argc, char **argv, const choices *c) {
  struct option longs[MAX_OPTIONS + 1];
  char shorts[2 * MAX_OPTIONS + 2];
  to_getopt(c, longs, shorts);
  opterr = 0;
  optind = 0;
  int index, got;
  while ((got = getopt_long(argc, argv, shorts, longs, &index)) != -1) {
    const char *word = argv[optind - 1];
    if (got == ':') return usage_error(usage, "option %s needs a value", word);
    if (got == '?' && optopt != 0) return unknown_letter(usage, optopt);
    if (got != 0) index = find_short(c, got);
    if (index < 0) return unknown_option(usage, word, c);
    const wf_option *option = c->all[index].option;
    if (!store_option(&c->all[index], optarg))
      return usage_error(
          usage,
          option->kind == WF_OPTION_POSITIVE ? "option --%s needs a number above 0" : "option --%s needs a number",
          option->name);
  }
  return CLI_OK;
}

bool cli_parse(const cli_usage *usage, void *values, int *argc, char **argv, cli_common *common, cli_exit *exit_code) {
  shared_values s = {.isa = 0};
  const choices c = gather(usage, values, &s);
  *exit_code = parse_all(usage, *argc, argv, &c);
  if (*exit_code != CLI_OK) return false;
  if (s.help) {
    print_help(usage, &c);
    return false;
  }
  if (s.isa > 2) *exit_code = usage_error(usage, "--%s is 1 or 2", "isa");
  size_t left = (size_t)(*argc - optind);
  if (left < usage->min_arguments) *exit_code = usage_error(usage, "missing argument: %s", usage->synopsis);
  if (left > usage->max_arguments)
    *exit_code = usage_error(usage, "too many arguments: %s", argv[optind + (int)usage->max_arguments]);
  if (*exit_code != CLI_OK) return false;
  if (!cli_may_write(s.common.json)) {
    *exit_code = CLI_BAD_INPUT;
    return false;
  }
  *common = s.common;
  common->tech_path = s.tech;
  common->isa = (unsigned)s.isa;
  memmove(argv, argv + optind, left * sizeof argv[0]);
  *argc = (int)left;
  return true;
}

// Of a technology table, where one is given; NULL after the messages were printed.
static weft_array *with_technology(const cli_common *common, weft_session *session, weft_array *array) {
  if (common->tech_path == NULL) return array;
  weft_array_technology(session, array, common->tech_path);
  if (cli_messages(session)) return array;
  weft_array_destroy(array);
  return NULL;
}

weft_array *cli_open_array(const cli_common *common, weft_session *session) {
  weft_array *array = weft_array_load(session, common->array == NULL ? "gemmini-default" : common->array);
  cli_messages(session);
  if (array == NULL) return NULL;
  if (common->isa != 0) weft_array_set(session, array, "isa.revision", common->isa == 1 ? "1" : "2");
  return with_technology(common, session, array);
}
