// SPDX-License-Identifier: Apache-2.0
// `weft array list|show|check|diff|params|cost`, through libweft.
#include <inttypes.h>
#include <string.h>

#include "api/include/weft/weft.h"
#include "base/json.h"
#include "cli/cli.h"

enum { VALUE_TEXT = 64 };

typedef struct action {
  const char *name;
  size_t min_arguments, max_arguments;
  cli_exit (*run)(const cli_common *common, weft_session *session, int argc, char **argv);
} action;

// ---- parameters

// The value of a parameter that the array has.
static uint32_t value_of(weft_session *s, const weft_array *array, const weft_parameter *p) {
  uint32_t value = 0;
  weft_array_get(s, array, p->name, &value);
  return value;
}

static const char *text_of(weft_session *s, const weft_array *array, const char *parameter, char text[VALUE_TEXT]) {
  text[0] = '\0';
  weft_array_get_text(s, array, parameter, text, VALUE_TEXT);
  return text;
}

// The object of the parameter's section, and the parameter's name in it.
static cJSON *section_of(cJSON *document, const char *parameter, const char **name) {
  char section[VALUE_TEXT];
  const size_t length = strcspn(parameter, ".");
  snprintf(section, sizeof section, "%.*s", (int)length, parameter);
  *name = parameter + length + 1;
  cJSON *object = cJSON_GetObjectItem(document, section);
  return object == NULL ? cJSON_AddObjectToObject(document, section) : object;
}

static void add_parameter(cJSON *document, weft_session *s, const weft_array *array, const weft_parameter *p) {
  char text[VALUE_TEXT];
  const char *name;
  cJSON *section = section_of(document, p->name, &name);
  if (strcmp(p->kind, "flag") == 0)
    cJSON_AddBoolToObject(section, name, value_of(s, array, p) != 0);
  else if (strcmp(p->kind, "choice") == 0)
    cJSON_AddStringToObject(section, name, text_of(s, array, p->name, text));
  else
    cJSON_AddNumberToObject(section, name, value_of(s, array, p));
}

static cJSON *array_json(weft_session *s, const weft_array *array) {
  weft_parameter p = {.size = sizeof p};
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "name", weft_array_name(array));
  cJSON_AddStringToObject(document, "description", weft_array_description(array));
  wf_json_hash(document, "hash", weft_array_hash(array));
  for (size_t i = 0; weft_parameter_at(i, &p) == WEFT_OK; i++) add_parameter(document, s, array, &p);
  return document;
}

// ---- what follows from them

static const struct derived_row {
  const char *name;
  size_t offset;
} derived_rows[] = {
#define ROW(field) \
  { #field, offsetof(weft_array_facts, field) }
    ROW(dim),
    ROW(sp_rows),
    ROW(sp_bank_rows),
    ROW(acc_rows),
    ROW(acc_bank_rows),
    ROW(row_bits),
    ROW(sp_row_bytes),
    ROW(acc_row_bytes),
    ROW(max_block_len),
    ROW(max_block_len_acc),
    ROW(max_cols),
    ROW(max_cols_acc),
    ROW(mesh_latency),
    ROW(max_matmuls),
    ROW(load_commands_tracked),
    ROW(store_commands_tracked),
#undef ROW
};
enum { DERIVED = sizeof derived_rows / sizeof *derived_rows };

static weft_array_facts facts_of(const weft_array *array) {
  weft_array_facts facts = {.size = sizeof facts};
  weft_array_describe(array, &facts);
  return facts;
}

static uint32_t derived_value(const weft_array_facts *facts, const struct derived_row *row) {
  uint32_t value;
  memcpy(&value, (const char *)facts + row->offset, sizeof value);
  return value;
}

static void print_derived(const weft_array *array) {
  const weft_array_facts facts = facts_of(array);
  printf("\n# hash %016" PRIx64 "; derived:\n", weft_array_hash(array));
  for (size_t i = 0; i < DERIVED; i++)
    printf("#   %-22s %" PRIu32 "\n", derived_rows[i].name, derived_value(&facts, &derived_rows[i]));
}

static cJSON *derived_json(const weft_array *array) {
  const weft_array_facts facts = facts_of(array);
  cJSON *object = cJSON_CreateObject();
  for (size_t i = 0; i < DERIVED; i++)
    cJSON_AddNumberToObject(object, derived_rows[i].name, derived_value(&facts, &derived_rows[i]));
  return object;
}

// ---- actions

// The array of the only argument, if there is one, else that of --array.
static weft_array *chosen(const cli_common *common, weft_session *s, int argc, char **argv) {
  cli_common with = *common;
  if (argc == 1) with.array = argv[0];
  return cli_open_array(&with, s);
}

static weft_array *load(weft_session *s, const char *name) {
  weft_array *array = weft_array_load(s, name);
  cli_messages(s);
  return array;
}

static void print_array(weft_session *s, const weft_array *array) {
  char *yaml = weft_array_yaml(s, array);
  if (yaml != NULL) fputs(yaml, stdout);
  weft_free(yaml);
  print_derived(array);
}

static cli_exit show(const cli_common *common, weft_session *s, int argc, char **argv) {
  weft_array *array = chosen(common, s, argc, argv);
  if (array == NULL) return CLI_BAD_INPUT;
  cJSON *document = common->json == NULL ? NULL : array_json(s, array);
  if (document == NULL)
    print_array(s, array);
  else
    cJSON_AddItemToObject(document, "derived", derived_json(array));
  weft_array_destroy(array);
  return cli_put_json(common, document);
}

// The longest name of a built-in array.
static int name_width(void) {
  size_t width = strlen("name");
  for (size_t i = 0; weft_array_shipped(i) != NULL; i++)
    if (strlen(weft_array_shipped(i)) > width) width = strlen(weft_array_shipped(i));
  return (int)width;
}

static uint32_t kib_of(weft_session *s, const weft_array *array, const char *parameter) {
  uint32_t kib = 0;
  weft_array_get(s, array, parameter, &kib);
  return kib;
}

static void list_row(weft_session *s, const weft_array *array) {
  char flow[VALUE_TEXT];
  printf("%-*s %4" PRIu32 "  %-5s %9" PRIu32 " %9" PRIu32 "  %016" PRIx64 "  %s\n", name_width(),
         weft_array_name(array), facts_of(array).dim, text_of(s, array, "mesh.dataflow", flow),
         kib_of(s, array, "scratchpad.capacity_kib"), kib_of(s, array, "accumulator.capacity_kib"),
         weft_array_hash(array), weft_array_description(array));
}

static cli_exit list(const cli_common *common, weft_session *s, int argc, char **argv) {
  (void)argc;
  (void)argv;
  cJSON *document = common->json == NULL ? NULL : cJSON_CreateArray();
  if (document == NULL)
    printf("%-*s %4s  %-5s %9s %9s  %-16s  %s\n", name_width(), "name", "dim", "flow", "spad KiB", "acc KiB", "hash",
           "description");
  for (size_t i = 0; weft_array_shipped(i) != NULL; i++) {
    weft_array *array = load(s, weft_array_shipped(i));
    if (array == NULL) return CLI_BAD_INPUT;
    if (document == NULL)
      list_row(s, array);
    else
      cJSON_AddItemToArray(document, array_json(s, array));
    weft_array_destroy(array);
  }
  return cli_put_json(common, document);
}

static cli_exit check(const cli_common *common, weft_session *s, int argc, char **argv) {
  cli_exit code = CLI_OK;
  for (int i = 0; i < argc; i++) {
    weft_array *array = load(s, argv[i]);
    if (array == NULL)
      code = CLI_BAD_INPUT;
    else if (cli_prints(common))
      printf("%s: good, hash %016" PRIx64 "\n", argv[i], weft_array_hash(array));
    weft_array_destroy(array);
  }
  return code;
}

// Prints, or adds to the document, a parameter in which the arrays differ; whether they do.
static bool differ(weft_session *s, const weft_array *a, const weft_array *b, const weft_parameter *p,
                   cJSON *document) {
  if (value_of(s, a, p) == value_of(s, b, p)) return false;
  char from[VALUE_TEXT], to[VALUE_TEXT];
  text_of(s, a, p->name, from);
  text_of(s, b, p->name, to);
  if (document == NULL) {
    printf("%-32s %12s -> %-12s %s\n", p->name, from, to, p->unit);
    return true;
  }
  cJSON *row = cJSON_CreateObject();
  cJSON_AddStringToObject(row, "parameter", p->name);
  cJSON_AddStringToObject(row, "from", from);
  cJSON_AddStringToObject(row, "to", to);
  cJSON_AddItemToArray(document, row);
  return true;
}

static cli_exit diff_arrays(const cli_common *common, weft_session *s, const weft_array *a, const weft_array *b) {
  cJSON *document = common->json == NULL ? NULL : cJSON_CreateArray();
  weft_parameter p = {.size = sizeof p};
  bool any = false;
  for (size_t i = 0; weft_parameter_at(i, &p) == WEFT_OK; i++) any = differ(s, a, b, &p, document) || any;
  if (document == NULL && !any && !common->quiet) puts("no difference");
  return cli_put_json(common, document);
}

static cli_exit diff(const cli_common *common, weft_session *s, int argc, char **argv) {
  (void)argc;
  weft_array *a = load(s, argv[0]), *b = load(s, argv[1]);
  const cli_exit code = a == NULL || b == NULL ? CLI_BAD_INPUT : diff_arrays(common, s, a, b);
  weft_array_destroy(a);
  weft_array_destroy(b);
  return code;
}

static cli_exit params(const cli_common *common, weft_session *s, int argc, char **argv) {
  (void)common;
  (void)argc;
  (void)argv;
  char *page = weft_parameter_reference(s);
  if (page != NULL) fputs(page, stdout);
  weft_free(page);
  return cli_messages(s) ? CLI_OK : CLI_BAD_INPUT;
}

// ---- what an array costs

static void print_area(const weft_area *area, double total) {
  printf("%-24s %12.0f %12.0f %12.0f %7.2f\n", area->part, area->um2, area->low_um2, area->high_um2,
         100 * area->um2 / total);
}

static void print_areas(const weft_array *array) {
  weft_area all = {.size = sizeof all}, area = {.size = sizeof area};
  weft_array_area(array, 0, &all);
  printf("%-24s %12s %12s %12s %7s\n", "area of, um2 in 40 nm", "", "low", "high", "%");
  for (size_t i = 1; weft_array_area(array, i, &area) == WEFT_OK; i++) print_area(&area, all.um2);
  print_area(&all, all.um2);
}

// The longest path and the clock that it allows.
static double longest_path(const weft_array *array, weft_unit_path *longest) {
  weft_unit_path path = {.size = sizeof path};
  *longest = (weft_unit_path){.unit = ""};
  for (size_t i = 0; weft_array_path(array, i, &path) == WEFT_OK; i++)
    if (path.ns > longest->ns) *longest = path;
  return 1e3 / longest->ns;
}

static void print_paths(const weft_array *array) {
  weft_unit_path path = {.size = sizeof path}, longest;
  printf("\n%-24s %12s %12s %12s\n", "longest path, ns in 40 nm", "", "low", "high");
  for (size_t i = 0; weft_array_path(array, i, &path) == WEFT_OK; i++)
    printf("%-24s  %12.3f %12.3f %12.3f\n", path.unit, path.ns, path.low_ns, path.high_ns);
  const double clock = longest_path(array, &longest);
  printf("%s allows %.0f MHz (%.0f to %.0f)\n", longest.unit, clock, 1e3 / longest.high_ns, 1e3 / longest.low_ns);
}

static void print_cost(const weft_array *array) {
  weft_area_term term = {.size = sizeof term};
  weft_area_unknown unknown = {.size = sizeof unknown};
  print_areas(array);
  print_paths(array);
  puts("\nfigures:");
  for (size_t i = 0; weft_array_area_term(array, i, &term) == WEFT_OK; i++)
    printf("  %-22s %10.1f um2 x %8.6g %-16s %s; %s\n", term.part, term.um2, term.number, term.counted, term.what,
           term.source);
  puts("\nnot known, and nothing here:");
  for (size_t i = 0; weft_array_area_unknown(i, &unknown) == WEFT_OK; i++)
    printf("  %-40s %s\n", unknown.what, unknown.parameters);
}

static cJSON *area_json(const weft_area *area) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "part", area->part);
  cJSON_AddNumberToObject(object, "um2", area->um2);
  cJSON_AddNumberToObject(object, "low_um2", area->low_um2);
  cJSON_AddNumberToObject(object, "high_um2", area->high_um2);
  return object;
}

static cJSON *term_json(const weft_area_term *term) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "part", term->part);
  cJSON_AddNumberToObject(object, "um2", term->um2);
  cJSON_AddNumberToObject(object, "number", term->number);
  cJSON_AddStringToObject(object, "of", term->counted);
  cJSON_AddStringToObject(object, "what", term->what);
  cJSON_AddStringToObject(object, "source", term->source);
  return object;
}

static void add_areas(cJSON *document, const weft_array *array) {
  weft_area area = {.size = sizeof area};
  weft_array_area(array, 0, &area);
  cJSON_AddItemToObject(document, "total", area_json(&area));
  cJSON *parts = cJSON_AddArrayToObject(document, "parts");
  for (size_t i = 1; weft_array_area(array, i, &area) == WEFT_OK; i++) cJSON_AddItemToArray(parts, area_json(&area));
}

static void add_paths(cJSON *document, const weft_array *array) {
  weft_unit_path path = {.size = sizeof path}, longest;
  cJSON *paths = cJSON_AddArrayToObject(document, "paths");
  for (size_t i = 0; weft_array_path(array, i, &path) == WEFT_OK; i++) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "unit", path.unit);
    cJSON_AddStringToObject(object, "part", path.part);
    cJSON_AddNumberToObject(object, "ns", path.ns);
    cJSON_AddNumberToObject(object, "low_ns", path.low_ns);
    cJSON_AddNumberToObject(object, "high_ns", path.high_ns);
    cJSON_AddItemToArray(paths, object);
  }
  cJSON_AddNumberToObject(document, "clock_mhz_most", longest_path(array, &longest));
}

static cJSON *cost_json(const weft_array *array) {
  weft_area_term term = {.size = sizeof term};
  weft_area_unknown unknown = {.size = sizeof unknown};
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "array", weft_array_name(array));
  wf_json_hash(document, "array_hash", weft_array_hash(array));
  add_areas(document, array);
  add_paths(document, array);
  cJSON *terms = cJSON_AddArrayToObject(document, "terms"), *unknowns = cJSON_AddArrayToObject(document, "unknown");
  for (size_t i = 0; weft_array_area_term(array, i, &term) == WEFT_OK; i++)
    cJSON_AddItemToArray(terms, term_json(&term));
  for (size_t i = 0; weft_array_area_unknown(i, &unknown) == WEFT_OK; i++)
    cJSON_AddItemToArray(unknowns, cJSON_CreateString(unknown.what));
  return document;
}

static cli_exit cost(const cli_common *common, weft_session *s, int argc, char **argv) {
  weft_array *array = chosen(common, s, argc, argv);
  if (array == NULL) return CLI_BAD_INPUT;
  cJSON *document = common->json == NULL ? NULL : cost_json(array);
  if (document == NULL) print_cost(array);
  weft_array_destroy(array);
  return cli_put_json(common, document);
}

static const action actions[] = {
    {"list", 0, 0, list}, {"show", 0, 1, show},     {"check", 1, 1000, check},
    {"diff", 2, 2, diff}, {"params", 0, 0, params}, {"cost", 0, 1, cost},
};

static cli_exit run(const action *chosen_action, const cli_common *common, int argc, char **argv) {
  weft_session *session = weft_session_create();
  const cli_exit code = chosen_action->run(common, session, argc, argv);
  weft_session_destroy(session);
  return code;
}

static cli_exit act(const cli_common *common, int argc, char **argv) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (strcmp(argv[0], actions[i].name) != 0) continue;
    const size_t left = (size_t)argc - 1;
    if (left >= actions[i].min_arguments && left <= actions[i].max_arguments)
      return run(&actions[i], common, argc - 1, argv + 1);
    fprintf(stderr, "weft: error: wrong number of arguments for array %s\n  hint: weft array --help\n", argv[0]);
    return CLI_USAGE;
  }
  fprintf(stderr, "weft: error: unknown action %s\n  hint: weft array --help\n", argv[0]);
  return CLI_USAGE;
}

cli_exit cli_array(int argc, char **argv) {
  static const cli_usage usage = {
      .verb = "array",
      .synopsis = "list | show [NAME|FILE] | check NAME|FILE... | diff NAME|FILE NAME|FILE | params | cost [NAME|FILE]",
      .text =
          "list    the built-in arrays\n"
          "show    every parameter of an array, and what follows from them\n"
          "check   read array descriptions and say whether they can be built\n"
          "diff    the parameters in which two arrays differ\n"
          "params  the table of all parameters, as Markdown\n"
          "cost    the area of every part of an array, with bands and sources",
      .min_arguments = 1,
      .max_arguments = 1001,
      .takes_array = true};
  cli_common common;
  cli_exit code;
  if (!cli_parse(&usage, NULL, &argc, argv, &common, &code)) return code;
  return act(&common, argc, argv);
}
