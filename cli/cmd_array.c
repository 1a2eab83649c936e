// SPDX-License-Identifier: Apache-2.0
// `weft array list|show|check|diff|params|cost`.
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"
#include "hw/cost.h"

enum { VALUE_TEXT = 64 };

typedef struct action {
  const char *name;
  size_t min_arguments, max_arguments;
  cli_exit (*run)(const cli_common *common, int argc, char **argv, wf_diag *diag);
} action;

static cJSON *array_json(const hw_array *array) {
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "name", array->name);
  cJSON_AddStringToObject(document, "description", array->description);
  cli_json_hash(document, "hash", hw_array_hash(array));
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    cJSON *section = cJSON_GetObjectItem(document, params[i].section);
    if (section == NULL) section = cJSON_AddObjectToObject(document, params[i].section);
    uint32_t value = hw_param_get(array, &params[i]);
    char text[VALUE_TEXT];
    hw_param_text(&params[i], value, text, sizeof text);
    if (params[i].kind == HW_PARAM_FLAG)
      cJSON_AddBoolToObject(section, params[i].name, value != 0);
    else if (params[i].kind == HW_PARAM_ENUM)
      cJSON_AddStringToObject(section, params[i].name, text);
    else
      cJSON_AddNumberToObject(section, params[i].name, value);
  }
  return document;
}

typedef struct derived_row {
  const char *name;
  size_t offset;
} derived_row;

static const derived_row derived_rows[] = {
#define ROW(field) \
  { #field, offsetof(hw_derived, field) }
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

static uint32_t derived_value(const hw_derived *derived, const derived_row *row) {
  uint32_t value;
  memcpy(&value, (const char *)derived + row->offset, sizeof value);
  return value;
}

static void print_derived(const hw_array *array) {
  hw_derived derived = hw_derive(array);
  printf("\n# hash %016" PRIx64 "; derived:\n", hw_array_hash(array));
  for (size_t i = 0; i < sizeof derived_rows / sizeof derived_rows[0]; i++)
    printf("#   %-22s %" PRIu32 "\n", derived_rows[i].name, derived_value(&derived, &derived_rows[i]));
}

static cJSON *derived_json(const hw_array *array) {
  hw_derived derived = hw_derive(array);
  cJSON *object = cJSON_CreateObject();
  for (size_t i = 0; i < sizeof derived_rows / sizeof derived_rows[0]; i++)
    cJSON_AddNumberToObject(object, derived_rows[i].name, derived_value(&derived, &derived_rows[i]));
  return object;
}

static cli_exit show(const cli_common *common, int argc, char **argv, wf_diag *diag) {
  cli_common chosen = *common;
  if (argc == 1) chosen.array = argv[0];
  hw_array array;
  if (!cli_load_array(&chosen, &array, diag)) return CLI_BAD_INPUT;
  if (common->json != NULL) {
    cJSON *document = array_json(&array);
    cJSON_AddItemToObject(document, "derived", derived_json(&array));
    return cli_write_json(common->json, document, diag) ? CLI_OK : CLI_BAD_INPUT;
  }
  hw_array_print(&array, stdout);
  print_derived(&array);
  return CLI_OK;
}

// The longest name of a built-in array.
static int name_width(void) {
  size_t width = strlen("name");
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) width = wf_max(width, strlen(hw_builtin_name(i)));
  return (int)width;
}

static void list_row(const hw_array *array) {
  hw_derived derived = hw_derive(array);
  static const char *const dataflows[] = {"ws", "os", "both"};
  printf("%-*s %4" PRIu32 "  %-5s %9" PRIu32 " %9" PRIu32 "  %016" PRIx64 "  %s\n", name_width(), array->name,
         derived.dim, dataflows[array->mesh.dataflow], array->scratchpad.capacity_kib, array->accumulator.capacity_kib,
         hw_array_hash(array), array->description);
}

static cli_exit list(const cli_common *common, int argc, char **argv, wf_diag *diag) {
  (void)argc;
  (void)argv;
  cJSON *document = common->json == NULL ? NULL : cJSON_CreateArray();
  if (document == NULL)
    printf("%-*s %4s  %-5s %9s %9s  %-16s  %s\n", name_width(), "name", "dim", "flow", "spad KiB", "acc KiB", "hash",
           "description");
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    hw_array array;
    if (!hw_array_load(&array, hw_builtin_name(i), diag)) return CLI_BAD_INPUT;
    if (document == NULL)
      list_row(&array);
    else
      cJSON_AddItemToArray(document, array_json(&array));
  }
  if (document == NULL) return CLI_OK;
  return cli_write_json(common->json, document, diag) ? CLI_OK : CLI_BAD_INPUT;
}

static cli_exit check(const cli_common *common, int argc, char **argv, wf_diag *diag) {
  cli_exit code = CLI_OK;
  for (int i = 0; i < argc; i++) {
    hw_array array;
    if (!hw_array_load(&array, argv[i], diag)) {
      code = CLI_BAD_INPUT;
      continue;
    }
    if (cli_prints(common)) printf("%s: good, hash %016" PRIx64 "\n", argv[i], hw_array_hash(&array));
  }
  return code;
}

static cli_exit diff(const cli_common *common, int argc, char **argv, wf_diag *diag) {
  (void)argc;
  hw_array a, b;
  bool good = hw_array_load(&a, argv[0], diag);
  good = hw_array_load(&b, argv[1], diag) && good;
  if (!good) return CLI_BAD_INPUT;
  cJSON *document = common->json == NULL ? NULL : cJSON_CreateArray();
  size_t count, differences = 0;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    uint32_t va = hw_param_get(&a, &params[i]), vb = hw_param_get(&b, &params[i]);
    if (va == vb) continue;
    differences++;
    char ta[VALUE_TEXT], tb[VALUE_TEXT], name[VALUE_TEXT];
    hw_param_text(&params[i], va, ta, sizeof ta);
    hw_param_text(&params[i], vb, tb, sizeof tb);
    snprintf(name, sizeof name, "%s.%s", params[i].section, params[i].name);
    if (document == NULL) {
      printf("%-32s %12s -> %-12s %s\n", name, ta, tb, params[i].unit);
      continue;
    }
    cJSON *row = cJSON_CreateObject();
    cJSON_AddStringToObject(row, "parameter", name);
    cJSON_AddStringToObject(row, "from", ta);
    cJSON_AddStringToObject(row, "to", tb);
    cJSON_AddItemToArray(document, row);
  }
  if (document != NULL) return cli_write_json(common->json, document, diag) ? CLI_OK : CLI_BAD_INPUT;
  if (differences == 0 && !common->quiet) puts("no difference");
  return CLI_OK;
}

static cli_exit params(const cli_common *common, int argc, char **argv, wf_diag *diag) {
  (void)common;
  (void)argc;
  (void)argv;
  (void)diag;
  return hw_write_markdown(stdout) ? CLI_OK : CLI_BAD_INPUT;
}

// ---- what an array costs

static void print_band(const char *name, hw_cost_band band, double total, FILE *out) {
  fprintf(out, "%-24s %12.0f %12.0f %12.0f %7.2f\n", name, band.value, band.low, band.high, 100 * band.value / total);
}

static void print_cost(const hw_array *array) {
  const hw_cost cost = hw_cost_of(array);
  const hw_cost_unknown *unknown;
  hw_cost_term term;
  printf("%-24s %12s %12s %12s %7s\n", "area of, um2 in 40 nm", "", "low", "high", "%");
  for (int p = 0; p < HW_COST_PARTS; p++) print_band(hw_cost_part_names[p], cost.part[p], cost.total.value, stdout);
  print_band("all", cost.total, cost.total.value, stdout);
  puts("\nfigures:");
  for (size_t i = 0; hw_cost_term_at(array, i, &term); i++)
    printf("  %-22s %10.1f um2 x %8.0f %-16s %s; %s\n", hw_cost_part_names[term.part], term.um2, term.number,
           term.driver, term.what, term.source);
  puts("\nnot known, and nothing here:");
  for (size_t i = 0; (unknown = hw_cost_unknown_at(i)) != NULL; i++)
    printf("  %-40s %s\n", unknown->what, unknown->parameters);
}

static cJSON *band_json(const char *name, hw_cost_band band) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "part", name);
  cJSON_AddNumberToObject(object, "um2", band.value);
  cJSON_AddNumberToObject(object, "low_um2", band.low);
  cJSON_AddNumberToObject(object, "high_um2", band.high);
  return object;
}

static cJSON *term_json(const hw_cost_term *term) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "part", hw_cost_part_names[term->part]);
  cJSON_AddNumberToObject(object, "um2", term->um2);
  cJSON_AddNumberToObject(object, "number", term->number);
  cJSON_AddStringToObject(object, "of", term->driver);
  cJSON_AddStringToObject(object, "what", term->what);
  cJSON_AddStringToObject(object, "source", term->source);
  return object;
}

static cJSON *cost_json(const hw_array *array) {
  const hw_cost cost = hw_cost_of(array);
  const hw_cost_unknown *unknown;
  hw_cost_term term;
  cJSON *document = cJSON_CreateObject();
  cJSON_AddStringToObject(document, "array", array->name);
  cli_json_hash(document, "array_hash", hw_array_hash(array));
  cJSON_AddItemToObject(document, "total", band_json("all", cost.total));
  cJSON *parts = cJSON_AddArrayToObject(document, "parts"), *terms = cJSON_AddArrayToObject(document, "terms"),
        *unknowns = cJSON_AddArrayToObject(document, "unknown");
  for (int p = 0; p < HW_COST_PARTS; p++) cJSON_AddItemToArray(parts, band_json(hw_cost_part_names[p], cost.part[p]));
  for (size_t i = 0; hw_cost_term_at(array, i, &term); i++) cJSON_AddItemToArray(terms, term_json(&term));
  for (size_t i = 0; (unknown = hw_cost_unknown_at(i)) != NULL; i++)
    cJSON_AddItemToArray(unknowns, cJSON_CreateString(unknown->what));
  return document;
}

static cli_exit cost(const cli_common *common, int argc, char **argv, wf_diag *diag) {
  cli_common chosen = *common;
  hw_array array;
  if (argc == 1) chosen.array = argv[0];
  if (!cli_load_array(&chosen, &array, diag)) return CLI_BAD_INPUT;
  if (common->json != NULL) return cli_write_json(common->json, cost_json(&array), diag) ? CLI_OK : CLI_BAD_INPUT;
  print_cost(&array);
  return CLI_OK;
}

static const action actions[] = {
    {"list", 0, 0, list}, {"show", 0, 1, show},     {"check", 1, 1000, check},
    {"diff", 2, 2, diff}, {"params", 0, 0, params}, {"cost", 0, 1, cost},
};

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
  wf_diag diag = wf_diag_to(stderr);
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (strcmp(argv[0], actions[i].name) != 0) continue;
    size_t left = (size_t)argc - 1;
    if (left >= actions[i].min_arguments && left <= actions[i].max_arguments)
      return actions[i].run(&common, argc - 1, argv + 1, &diag);
    fprintf(stderr, "weft: error: wrong number of arguments for array %s\n  hint: weft array --help\n", argv[0]);
    return CLI_USAGE;
  }
  fprintf(stderr, "weft: error: unknown action %s\n  hint: weft array --help\n", argv[0]);
  return CLI_USAGE;
}
