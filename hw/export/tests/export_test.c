// SPDX-License-Identifier: Apache-2.0
// The written texts, read back: Scala fields and balance, JSON against the parameter table, YAML against the reader and
// libyaml, the core of FuseSoC against the sources; which parameters the generator cannot express; and which
// directories are refused.
#include "hw/export/export.h"

#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/test.h"
#include "hw/rtl_files.h"
#include "hw/yaml_tree.h"

typedef bool (*text_writer)(const hw_array *array, FILE *out);

static char *text_of(text_writer write, const hw_array *array) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  assert_non_null(out);
  assert_true(write(array, out));
  fclose(out);
  return text;
}

static hw_array builtin(size_t index) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, hw_builtin_name(index), &diag));
  return array;
}

// An array with every value off its default where the rules allow it.
static hw_array unusual(void) {
  static const char text[] =
      "name: odd-one\nisa: {revision: 2}\nmesh: {dataflow: ws, max_matmuls: 9, zero_skip: true}\n"
      "scratchpad: {read_pipeline: queue}\nstore: {order: completed}\nload: {scale_units: 0}\n"
      "dma: {writes_in_flight: 5, max_burst_bytes: 32}\n"
      "units: {transposer: false, loop_matmul: false, loop_conv: false, training_conv: false}\nhost: {divide_bits: "
      "2}\n";
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_parse(&array, "odd", text, strlen(text), &diag));
  return array;
}

// ---- Scala

// The fields of GemminiArrayConfig in v0.7.1.
static const char *const known_fields[] = {
    "opcodes",
    "inputType",
    "spatialArrayOutputType",
    "accType",
    "dataflow",
    "tileRows",
    "tileColumns",
    "meshRows",
    "meshColumns",
    "ld_queue_length",
    "st_queue_length",
    "ex_queue_length",
    "reservation_station_entries_ld",
    "reservation_station_entries_st",
    "reservation_station_entries_ex",
    "sp_banks",
    "sp_singleported",
    "sp_capacity",
    "spad_read_delay",
    "acc_banks",
    "acc_singleported",
    "acc_sub_banks",
    "acc_capacity",
    "acc_latency",
    "dma_maxbytes",
    "dma_buswidth",
    "shifter_banks",
    "aligned_to",
    "mvin_scale_args",
    "mvin_scale_acc_args",
    "mvin_scale_shared",
    "acc_scale_args",
    "acc_read_full_width",
    "acc_read_small_width",
    "use_dedicated_tl_port",
    "tlb_size",
    "use_tlb_register_filter",
    "max_in_flight_mem_reqs",
    "ex_read_from_spad",
    "ex_read_from_acc",
    "ex_write_to_spad",
    "ex_write_to_acc",
    "hardcode_d_to_garbage_addr",
    "use_shared_tlb",
    "tile_latency",
    "mesh_output_delay",
    "use_tree_reduction_if_possible",
    "num_counter",
    "has_training_convs",
    "has_max_pool",
    "has_nonlinear_activations",
    "has_dw_convs",
    "has_normalizations",
    "has_first_layer_optimizations",
    "use_firesim_simulation_counters",
    "use_shared_ext_mem",
    "clock_gate",
    "headerFileName",
};

static bool is_known(const char *field, size_t length) {
  for (size_t i = 0; i < sizeof known_fields / sizeof *known_fields; i++)
    if (strlen(known_fields[i]) == length && strncmp(known_fields[i], field, length) == 0) return true;
  return false;
}

static void check_balance(const char *text) {
  int round = 0, square = 0, curly = 0;
  for (const char *p = text; *p != '\0'; p++) {
    if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
    round += (*p == '(') - (*p == ')');
    square += (*p == '[') - (*p == ']');
    curly += (*p == '{') - (*p == '}');
    assert_true(round >= 0 && square >= 0 && curly >= 0);
  }
  assert_true(round == 0 && square == 0 && curly == 0);
}

// A field's value, as far as the line goes; fails if the field is not there.
static void expect_field(const char *text, const char *field, const char *value) {
  char line[128];
  snprintf(line, sizeof line, "\n    %s = %s", field, value);
  if (strstr(text, line) == NULL) fail_msg("no %s = %s in:\n%s", field, value, text);
}

static void scala_fields_are_known(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    char *text = text_of(hw_export_scala, &array);
    check_balance(text);
    size_t fields = 0;
    for (const char *line = text; line != NULL; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
      const size_t length = strspn(line, "    ") == 4 ? strcspn(line + 4, " =\n") : 0;
      if (length == 0 || strncmp(line + 4 + length, " = ", 3) != 0) continue;
      if (!is_known(line + 4, length)) fail_msg("unknown field: %.*s", (int)length, line + 4);
      fields++;
    }
    assert_true(fields > 40);
    free(text);
  }
}

static void scala_says_the_default(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  char *text = text_of(hw_export_scala, &array);
  static const char *const expected[][2] = {
      {"meshRows", "16,"},
      {"meshColumns", "16,"},
      {"dataflow", "Dataflow.BOTH"},
      {"sp_capacity", "CapacityInKilobytes(256)"},
      {"sp_banks", "4,"},
      {"spatialArrayOutputType", "SInt(20.W)"},
      {"sp_singleported", "true,"},
      {"max_in_flight_mem_reqs", "16,"},
      {"acc_sub_banks", "1,"},
      {"reservation_station_entries_ex", "16,"},
      {"st_queue_length", "2,"},
      {"has_normalizations", "false,"},
      {"tlb_size", "4,"},
      {"hardcode_d_to_garbage_addr", "false,"},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) expect_field(text, expected[i][0], expected[i][1]);
  assert_non_null(strstr(text, "_.copy(latency = 8, num_scale_units = -1)"));
  assert_non_null(strstr(text, "_.copy(latency = 4, num_scale_units = 4)"));
  assert_non_null(strstr(text, "can express every parameter"));
  free(text);
}

// A new parameter must be given a field or a limit: changed to another value, it must show in the file.
static void no_parameter_is_dropped(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  char *before = text_of(hw_export_scala, &array);
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    const uint32_t value = hw_param_get(&array, &params[i]);
    const uint32_t other = value != params[i].min ? params[i].min : value + 1;
    if (params[i].kind == HW_PARAM_ENUM && params[i].max == 0) continue;  // only one value
    hw_array changed = array;
    hw_param_set(&changed, &params[i], other);
    char *after = text_of(hw_export_scala, &changed);
    // The first line holds the hash, which always changes.
    if (strcmp(strchr(before, '\n'), strchr(after, '\n')) == 0)
      fail_msg("%s.%s has no effect", params[i].section, params[i].name);
    free(after);
  }
  free(before);
}

static void limits_are_named(void **state) {
  (void)state;
  const hw_array array = unusual();
  static const char *const lost[] = {
      "isa.revision",         "mesh.max_matmuls",    "mesh.zero_skip",    "scratchpad.read_pipeline",
      "store.order",          "units.transposer",    "units.loop_matmul", "units.loop_conv",
      "dma.writes_in_flight", "dma.max_burst_bytes", "host.divide_bits",
  };
  hw_export_limit limits[HW_EXPORT_LIMITS_MAX];
  const size_t count = hw_export_limits(&array, limits);
  assert_int_equal(count, sizeof lost / sizeof *lost);
  char *text = text_of(hw_export_scala, &array);
  for (size_t i = 0; i < count; i++) {
    char line[128];
    snprintf(line, sizeof line, "//   %s: ", lost[i]);
    if (strstr(text, line) == NULL) fail_msg("%s is not named", lost[i]);
  }
  expect_field(text, "mvin_scale_args", "None");
  free(text);
}

// ---- JSON and YAML

static void json_agrees_with_the_table(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    cJSON *written = hw_export_json(&array);
    char *text = cJSON_Print(written);
    cJSON *document = cJSON_Parse(text);
    assert_non_null(document);
    size_t count;
    const hw_param *params = hw_params(&count);
    for (size_t p = 0; p < count; p++) {
      const cJSON *item = cJSON_GetObjectItemCaseSensitive(
          cJSON_GetObjectItemCaseSensitive(document, params[p].section), params[p].name);
      assert_non_null(item);
      char value[64];
      if (cJSON_IsString(item)) snprintf(value, sizeof value, "%s", item->valuestring);
      if (cJSON_IsBool(item)) snprintf(value, sizeof value, "%s", cJSON_IsTrue(item) ? "true" : "false");
      if (cJSON_IsNumber(item)) snprintf(value, sizeof value, "%.0f", item->valuedouble);
      uint32_t number;
      assert_true(hw_param_value(&params[p], value, &number));
      assert_int_equal(number, hw_param_get(&array, &params[p]));
    }
    const cJSON *derived = cJSON_GetObjectItemCaseSensitive(document, "derived");
    assert_int_equal(cJSON_GetArraySize(derived), sizeof(hw_derived) / sizeof(uint32_t));
    assert_int_equal(cJSON_GetObjectItemCaseSensitive(derived, "sp_rows")->valueint, hw_derive(&array).sp_rows);
    cJSON_Delete(document);
    cJSON_free(text);
    cJSON_Delete(written);
  }
}

static void yaml_reads_back(void **state) {
  (void)state;
  const hw_array array = unusual();
  char *text = text_of(hw_export_yaml, &array);
  hw_array back;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_parse(&back, "array.yaml", text, strlen(text), &diag));
  assert_true(hw_array_hash(&back) == hw_array_hash(&array));
  free(text);
}

// The value of the n-th mapping entry `key` in a Timeloop file (0 is the first), as a number.
static double timeloop_number(const char *text, const char *key, int n) {
  yaml_parser_t parser;
  yaml_event_t event;
  double value = -1;
  bool found = false, done = false;
  assert_true(yaml_parser_initialize(&parser));
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
  while (!done) {
    if (!yaml_parser_parse(&parser, &event)) fail_msg("not YAML: %s\n%s", parser.problem, text);
    if (event.type == YAML_SCALAR_EVENT) {
      const char *scalar = (const char *)event.data.scalar.value;
      if (found) value = atof(scalar);
      found = value < 0 && !found && strcmp(scalar, key) == 0 && n-- == 0;
    }
    done = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return value;
}

static void timeloop_has_the_sizes(void **state) {
  (void)state;
  enum { DRAM, SCRATCHPAD, ACCUMULATOR, REGISTERS, MAC };
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    const hw_derived d = hw_derive(&array);
    char *text = text_of(hw_export_timeloop, &array);
    assert_true(timeloop_number(text, "entries", SCRATCHPAD - 1) == array.scratchpad.capacity_kib * 1024.0);
    assert_true(timeloop_number(text, "entries", ACCUMULATOR - 1) * timeloop_number(text, "instances", ACCUMULATOR) ==
                array.accumulator.capacity_kib * 256.0);
    assert_true(timeloop_number(text, "instances", REGISTERS) == (double)d.dim * d.dim);
    assert_true(timeloop_number(text, "instances", MAC) == (double)d.dim * d.dim);
    assert_true(timeloop_number(text, "n_banks", 0) == array.scratchpad.banks);
    const uint32_t bus = array.dma.bus_bits / 8, memory = array.memory.bytes_per_cycle;
    assert_true(timeloop_number(text, "shared_bandwidth", 0) == (bus < memory ? bus : memory));
    free(text);
  }
}

static double onnxim_number(const cJSON *object, const char *key) {
  const cJSON *value = cJSON_GetObjectItemCaseSensitive(object, key);
  if (!cJSON_IsNumber(value)) fail_msg("no number %s", key);
  return value->valuedouble;
}

// What its readers need, at the top and in core_config alike; the bandwidth of memory is that of the description.
static void onnxim_has_the_sizes(void **state) {
  (void)state;
  static const char *const of_core[] = {"core_width",      "core_height", "spad_size",
                                        "accum_spad_size", "sram_width",  "vector_process_bit",
                                        "add_latency",     "mac_latency", "div_latency"};
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    const hw_derived d = hw_derive(&array);
    char *text = text_of(hw_export_onnxim, &array);
    cJSON *top = cJSON_Parse(text);
    const cJSON *core = cJSON_GetObjectItem(cJSON_GetObjectItem(top, "core_config"), "core_0");
    assert_non_null(core);
    for (size_t k = 0; k < sizeof of_core / sizeof *of_core; k++)
      assert_true(onnxim_number(top, of_core[k]) == onnxim_number(core, of_core[k]));
    assert_true(onnxim_number(core, "core_width") * onnxim_number(core, "core_height") == (double)d.dim * d.dim);
    assert_true(onnxim_number(core, "spad_size") == array.scratchpad.capacity_kib);
    assert_true(onnxim_number(core, "accum_spad_size") == array.accumulator.capacity_kib);
    const bool os = array.mesh.dataflow == HW_DATAFLOW_OS;
    assert_string_equal(cJSON_GetObjectItem(core, "core_type")->valuestring, os ? "systolic_os" : "systolic_ws");
    const double bytes_per_us =
        onnxim_number(top, "dram_channels") * onnxim_number(top, "dram_req_size") * onnxim_number(top, "dram_freq");
    const uint32_t bus = array.dma.bus_bits / 8, memory = array.memory.bytes_per_cycle;
    assert_true(bytes_per_us == (double)(bus < memory ? bus : memory) * array.chip.clock_mhz);
    assert_true(onnxim_number(top, "precision") == 1);
    cJSON_Delete(top);
    free(text);
  }
}

// ---- FuseSoC

static const hw_yaml_node *entry(const hw_yaml_node *map, const char *key) {
  const hw_yaml_node *found = hw_yaml_tree_find(map, key);
  if (found == NULL) fail_msg("no %s", key);
  return found;
}

// A file of a fileset by its name: plain, or as a map whose key it is.
static bool core_has(const hw_yaml_node *fileset, const char *path) {
  for (const hw_yaml_node *file = entry(fileset, "files")->first; file != NULL; file = file->next)
    if (strcmp(file->kind == YAML_TREE_MAP ? file->first->key : file->text, path) == 0) return true;
  return false;
}

static void check_core_files(const hw_yaml_node *filesets) {
  const hw_yaml_node *headers = entry(filesets, "headers"), *rtl = entry(filesets, "rtl");
  assert_int_equal(entry(headers, "files")->count + entry(rtl, "files")->count, hw_rtl_file_count + 1);
  assert_string_equal(entry(rtl, "files")->first->text, "rtl/weft_array_pkg.sv");
  for (size_t i = 0; i < hw_rtl_file_count; i++) {
    char path[128];
    snprintf(path, sizeof path, "rtl/%s", hw_rtl_files[i].name);
    assert_true(core_has(hw_rtl_is_header(path) ? headers : rtl, path));
  }
  for (const hw_yaml_node *file = entry(headers, "files")->first; file != NULL; file = file->next)
    assert_string_equal(entry(file->first, "is_include_file")->text, "true");
}

static void check_core_targets(const hw_yaml_node *targets) {
  static const char *const names[] = {"default", "lint", "sim", "synth"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const hw_yaml_node *target = entry(targets, names[i]);
    assert_string_equal(entry(target, "toplevel")->text, "weft_accel");
    assert_string_equal(entry(target, "filesets")->first->text, "headers");
    assert_string_equal(entry(target, "filesets")->first->next->text, "rtl");
  }
  const hw_yaml_node *lint = entry(targets, "lint");
  const char *tool = entry(lint, "default_tool")->text;
  assert_string_equal(entry(entry(entry(lint, "tools"), tool), "mode")->text, "lint-only");
}

static void fusesoc_has_the_files(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    char *text = text_of(hw_export_fusesoc, &array), *name = wf_format("weft:arrays:%s:0", array.name);
    assert_true(strncmp(text, "CAPI=2:\n", 8) == 0);
    wf_arena *arena = wf_arena_create();
    wf_diag diag = wf_diag_to(stderr);
    const hw_yaml_node *root = hw_yaml_tree_parse(arena, "weft.core", text, strlen(text), &diag);
    assert_non_null(root);
    assert_string_equal(entry(root, "name")->text, name);
    check_core_files(entry(root, "filesets"));
    check_core_targets(entry(root, "targets"));
    wf_arena_destroy(arena);
    wf_free(name);
    free(text);
  }
}

// ---- directories

typedef struct fixture {
  char directory[256];
  FILE *messages;
  wf_diag diag;
} fixture;

static int set_up(void **state) {
  fixture *f = WF_NEW(fixture);
  mkdir(WORK, 0777);
  snprintf(f->directory, sizeof f->directory, "%s/setXXXXXX", WORK);
  f->messages = tmpfile();
  f->diag = wf_diag_to(f->messages);
  *state = f;
  return mkdtemp(f->directory) != NULL && f->messages != NULL ? 0 : -1;
}

static int tear_down(void **state) {
  fixture *f = *state;
  char *command = wf_format("rm -rf '%s'", f->directory);
  const int code = system(command);
  wf_free(command);
  fclose(f->messages);
  wf_free(f);
  return code;
}

static char *in_directory(const fixture *f, const char *name) { return wf_format("%s/%s", f->directory, name); }

static void put(const fixture *f, const char *name, const char *text) {
  char *path = in_directory(f, name);
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
  wf_free(path);
}

static bool exists(const fixture *f, const char *name) {
  char *path = in_directory(f, name);
  const bool there = access(path, F_OK) == 0;
  wf_free(path);
  return there;
}

static void an_empty_directory_is_filled(void **state) {
  fixture *f = *state;
  const hw_array array = builtin(0);
  size_t files;
  assert_true(hw_export_write(&array, f->directory, &files, &f->diag));
  assert_true(files > 8 && f->diag.warnings == 0);
  assert_true(exists(f, "array.json") && exists(f, "rtl/weft_isa_pkg.sv") && exists(f, "weft.f"));
}

static void a_foreign_directory_is_refused(void **state) {
  fixture *f = *state;
  const hw_array array = builtin(0);
  put(f, "thesis.tex", "text");
  assert_false(hw_export_write(&array, f->directory, NULL, &f->diag));
  put(f, "array.json", "{\"generator\": \"something else\"}");
  assert_false(hw_export_write(&array, f->directory, NULL, &f->diag));
  assert_int_equal(f->diag.errors, 2);
  assert_false(exists(f, "weft.f"));
}

static void a_second_call_replaces_the_first(void **state) {
  fixture *f = *state;
  hw_array array = builtin(0);
  assert_true(hw_export_write(&array, f->directory, NULL, &f->diag));
  // A file of an earlier version, one of the user, and a list that points outside.
  put(f, "rtl/old_unit.sv", "module old_unit; endmodule");
  put(f, "notes.txt", "mine");
  put(f, "array.json",
      "{\"generator\": \"weft rtl\", \"files\": [\"rtl/old_unit.sv\", \"../outside\", \"weft.f\", 3]}");
  char *outside = wf_format("%s/../outside", f->directory);
  FILE *out = fopen(outside, "w");
  assert_non_null(out);
  fclose(out);
  array = unusual();
  assert_true(hw_export_write(&array, f->directory, NULL, &f->diag));
  assert_int_equal(f->diag.warnings, 11);
  assert_false(exists(f, "rtl/old_unit.sv"));
  assert_true(exists(f, "notes.txt") && exists(f, "weft.f"));
  assert_int_equal(access(outside, F_OK), 0);
  unlink(outside);
  wf_free(outside);
}

static void a_file_in_the_way_is_an_error(void **state) {
  fixture *f = *state;
  const hw_array array = builtin(0);
  put(f, "file", "text");
  char *path = in_directory(f, "file");
  assert_false(hw_export_write(&array, path, NULL, &f->diag));
  assert_int_equal(f->diag.errors, 1);
  wf_free(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scala_fields_are_known),
      cmocka_unit_test(scala_says_the_default),
      cmocka_unit_test(no_parameter_is_dropped),
      cmocka_unit_test(limits_are_named),
      cmocka_unit_test(json_agrees_with_the_table),
      cmocka_unit_test(yaml_reads_back),
      cmocka_unit_test(timeloop_has_the_sizes),
      cmocka_unit_test(onnxim_has_the_sizes),
      cmocka_unit_test(fusesoc_has_the_files),
      cmocka_unit_test_setup_teardown(an_empty_directory_is_filled, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_foreign_directory_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_second_call_replaces_the_first, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_file_in_the_way_is_an_error, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
