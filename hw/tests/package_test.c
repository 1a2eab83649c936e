// SPDX-License-Identifier: Apache-2.0
// The SystemVerilog package of several arrays: every parameter, every derived number and the hash stand in it once,
// with the values of the array. Values are read back from the text, not compared with what the writer computes.
#include <ctype.h>
#include <inttypes.h>

#include "base/test.h"
#include "hw/array.h"
#include "hw/rtl_files.h"

static char *package_of(const hw_array *array) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  assert_true(hw_write_sv_package(array, out));
  fclose(out);
  return text;
}

// The value behind " NAME = ", which must occur exactly once. Decimal, N'bX and N'hX are understood.
static uint64_t value_of(const char *package, const char *name) {
  char key[128];
  snprintf(key, sizeof key, " %s = ", name);
  const char *at = strstr(package, key);
  if (at == NULL) fail_msg("no constant %s", name);
  at += strlen(key);
  assert_null(strstr(at, key));
  const char *tick = strchr(at, '\''), *end = strchr(at, ';');
  assert_non_null(end);
  if (tick == NULL || tick > end) return strtoull(at, NULL, 10);
  return strtoull(tick + 2, NULL, tick[1] == 'h' ? 16 : 2);
}

static void check_parameters(const hw_array *array, const char *package) {
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) {
    char name[2 * HW_NAME_MAX];
    snprintf(name, sizeof name, "%s_%s", params[i].section, params[i].name);
    for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    assert_int_equal(value_of(package, name), hw_param_get(array, &params[i]));
  }
}

static void check_derived(const hw_array *array, const char *package) {
  const hw_derived d = hw_derive(array);
  assert_int_equal(value_of(package, "DIM"), d.dim);
  assert_int_equal(value_of(package, "SP_ROWS"), d.sp_rows);
  assert_int_equal(value_of(package, "SP_BANK_ROWS") * array->scratchpad.banks, d.sp_rows);
  assert_int_equal(value_of(package, "ACC_ROWS"), d.acc_rows);
  assert_int_equal(value_of(package, "ACC_BANK_ROWS") * array->accumulator.banks, d.acc_rows);
  assert_int_equal(value_of(package, "ROW_BITS"), d.row_bits);
  assert_int_equal(value_of(package, "INPUT_BITS"), 8);
  assert_int_equal(value_of(package, "ACC_BITS"), 32);
  assert_int_equal(value_of(package, "OUTPUT_BITS"), array->types.output_bits);
  assert_int_equal(value_of(package, "MAX_BLOCK_LEN") * d.dim, d.max_cols);
  assert_int_equal(value_of(package, "MAX_BLOCK_LEN_ACC") * d.dim, d.max_cols_acc);
  assert_int_equal(value_of(package, "MAX_COLS"), d.max_cols);
  assert_int_equal(value_of(package, "MAX_COLS_ACC"), d.max_cols_acc);
  assert_int_equal(value_of(package, "MESH_LATENCY"), d.mesh_latency);
  assert_int_equal(value_of(package, "MAX_MATMULS"), d.max_matmuls);
  assert_int_equal(value_of(package, "LOAD_COMMANDS"), d.load_commands_tracked);
  assert_int_equal(value_of(package, "STORE_COMMANDS"), d.store_commands_tracked);
  assert_int_equal(value_of(package, "NORM_STATS"), d.norm_stats);
  assert_true(value_of(package, "HASH") == hw_array_hash(array));
}

static void every_builtin_has_its_numbers(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  size_t arrays = 0;
  for (; hw_builtin_name(arrays) != NULL; arrays++) {
    hw_array array;
    assert_true(hw_array_load(&array, hw_builtin_name(arrays), &diag));
    char *package = package_of(&array);
    check_parameters(&array, package);
    check_derived(&array, package);
    free(package);
  }
  assert_true(arrays >= 2);
}

static char *model_package_with(const char *name, const char *value) {
  hw_array array;
  hw_array_default(&array);
  const hw_param *param = hw_param_find(name);
  uint32_t number;
  assert_non_null(param);
  assert_true(hw_param_value(param, value, &number));
  assert_int_not_equal(number, hw_param_get(&array, param));
  hw_param_set(&array, param, number);
  snprintf(array.name, sizeof array.name, "changed");
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_true(hw_write_model_package(&array, out));
  fclose(out);
  return text;
}

// What is built from the package must be built again when the accelerator changes, and only then.
static void models_depend_on_the_accelerator_alone(void **state) {
  (void)state;
  static const struct {
    const char *name, *value;
    bool same;
  } changes[] = {{"host.dcache_kib", "32", true}, {"memory.latency_cycles", "7", true},
                 {"l2.present", "false", true},   {"chip.clock_mhz", "200", true},
                 {"mesh.rows", "8", false},       {"load.queue", "4", false},
                 {"dma.bus_bits", "64", false},   {"units.counters", "4", false}};
  char *first = model_package_with(changes[0].name, changes[0].value);
  for (size_t i = 1; i < sizeof changes / sizeof changes[0]; i++) {
    char *other = model_package_with(changes[i].name, changes[i].value);
    if ((strcmp(first, other) == 0) != changes[i].same) fail_msg("%s", changes[i].name);
    free(other);
  }
  free(first);
}

static const char *source_of(const char *name) {
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (strcmp(hw_rtl_files[i].name, name) == 0) return hw_rtl_files[i].text;
  fail_msg("no source %s", name);
  return NULL;
}

// SECTION_NAME_VALUE of each value stands in weft_pkg.sv.
static void check_values(const hw_param *param, const char *package) {
  char values[128], *rest = NULL;
  snprintf(values, sizeof values, "%s", param->values);
  uint64_t index = 0;
  for (char *value = strtok_r(values, "|", &rest); value != NULL; value = strtok_r(NULL, "|", &rest)) {
    char name[3 * HW_NAME_MAX];
    snprintf(name, sizeof name, "%s_%s_%s", param->section, param->name, value);
    for (char *p = name; *p != '\0'; p++) *p = (char)toupper((unsigned char)*p);
    assert_int_equal(value_of(package, name), index++);
  }
}

static void the_values_of_enumerations_have_names(void **state) {
  (void)state;
  static const char *const names[] = {"mesh.dataflow", "scratchpad.read_pipeline", "store.order", "sync.by"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    check_values(hw_param_find(names[i]), source_of("weft_pkg.sv"));
}

static void failed_writes_are_seen(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  FILE *full = fopen("/dev/full", "w");
  assert_non_null(full);
  assert_false(hw_write_sv_package(&array, full));
  fclose(full);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_builtin_has_its_numbers),
      cmocka_unit_test(models_depend_on_the_accelerator_alone),
      cmocka_unit_test(the_values_of_enumerations_have_names),
      cmocka_unit_test(failed_writes_are_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
