// SPDX-License-Identifier: Apache-2.0
// Technology tables: the built-in ones, what an array costs in them, and what the reader refuses, each with its place.
#include "hw/tech.h"

#include <math.h>

#include "base/alloc.h"
#include "base/test.h"

static hw_array array_in(const char *technology) {
  hw_array array;
  hw_array_default(&array);
  const hw_param *param = hw_param_find("chip.technology");
  uint32_t value;
  assert_true(hw_param_value(param, technology, &value));
  hw_param_set(&array, param, value);
  return array;
}

static hw_tech table(const char *technology) {
  const hw_array array = array_in(technology);
  hw_tech tech;
  hw_tech_of(&tech, &array);
  assert_string_equal(tech.name, technology);
  return tech;
}

static bool near(double value, double expected) { return fabs(value - expected) <= 1e-9 * fabs(expected); }

// Every file is a table under the file's name, which is a value of chip.technology.
static void files_are_tables(void **state) {
  (void)state;
  size_t count = 0;
  for (; hw_tech_builtin_name(count) != NULL; count++) {
    char name[HW_NAME_MAX];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(hw_tech_builtin_name(count), "."), hw_tech_builtin_name(count));
    const hw_tech tech = table(name);
    assert_true(tech.has.energy_pj || tech.has.area_um2);
  }
  assert_true(count > 0);
  assert_null(hw_tech_builtin_yaml(count));
}

static void energies_follow_the_capacities(void **state) {
  (void)state;
  const hw_tech tech = table("40nm");
  hw_array array;
  hw_array_default(&array);  // 256 KiB, 64 KiB, 16 columns
  assert_true(near(tech.energy_pj.mac, 0.561) && near(tech.energy_pj.registers, 0.487));
  assert_true(near(tech.energy_pj.dram, 100) && near(tech.words_per_cycle.dram, 8));
  assert_true(near(hw_tech_accumulator_pj(&tech, &array), 1.94 + 0.1005 * 64 / 16));
  assert_true(near(hw_tech_scratchpad_pj(&tech, &array), 0.49 + 0.025 * 256));
}

// A table of areas alone: those of the parts are {1000, 10, 1} times their place.
static char *areas_text(void) {
  static const char *const parts[] = {
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...)
#define AREA(group, field, ...) #field,
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
  };
  char *text = wf_format("name: areas\ndescription: for a test\narea_um2:\n");
  for (int i = 0; i < (int)(sizeof parts / sizeof *parts); i++) {
    char *longer =
        wf_format("%s  %s: {constant: %d, lane: %d, pe: %d}\n", text, parts[i], 1000 * (i + 1), 10 * (i + 1), i + 1);
    wf_free(text);
    text = longer;
  }
  return text;
}

static void area_is_the_sum_of_its_parts(void **state) {
  (void)state;
  char *text = areas_text();
  wf_diag diag = wf_diag_to(stderr);
  hw_tech tech;
  assert_true(hw_tech_parse(&tech, "areas", text, strlen(text), &diag));
  wf_free(text);
  assert_true(tech.has.area_um2 && !tech.has.energy_pj && !tech.has.words_per_cycle);
  hw_array array;
  hw_array_default(&array);
  const hw_area area = hw_tech_area_of(&tech, &array);
  const double unit = 1000 + 10 * 16 + 256;
  assert_int_equal(area.memory_bits, 320 * 1024 * 8);
  assert_true(near(area.mesh, unit) && near(area.execute, 2 * unit));
  assert_true(near(area.total, area.mesh + area.execute + area.load + area.store + area.reservation + area.loop_matmul +
                                   area.loop_conv + area.local_memory + area.dma + area.rest));
  assert_true(area.loop_conv > 0);
  array.units.loop_conv = false;
  const hw_area smaller = hw_tech_area_of(&tech, &array);
  assert_true(smaller.loop_conv == 0 && near(smaller.total, area.total - area.loop_conv));
}

// 16 x 16 with 256 + 64 KiB and a hart of two caches of 16 KiB: what is not known stands apart from the sum.
static void areas_of_the_whole(void **state) {
  (void)state;
  hw_tech tech = table("40nm");
  hw_array array;
  hw_array_default(&array);
  const hw_system_area a = hw_tech_system_area(&tech, &array);
  assert_true(near(a.mesh, 1498.0 * 256) && near(a.scratchpad, 7025.0 * 256) && near(a.accumulator, 7541.0 * 64));
  assert_true(near(a.hart, 140000 + 7813.0 * 32) && isnan(a.l2) && isnan(a.controllers) && !a.whole);
  assert_true(near(a.known, a.mesh + a.scratchpad + a.accumulator + a.hart));
  tech.system_um2.controllers = 5, tech.system_um2.l2_kib = 2;
  const hw_system_area all = hw_tech_system_area(&tech, &array);
  assert_true(all.whole && near(all.known, a.known + 5 + 2 * 512));
  array.l2.present = false;
  assert_true(near(hw_tech_system_area(&tech, &array).known, a.known + 5));
}

static void accesses_grow_with_the_root(void **state) {
  (void)state;
  assert_true(near(hw_tech_access_pj(20, 32, 8), 10) && near(hw_tech_access_pj(100, 1024, 1024), 100));
}

static char *messages_of(const char *text, bool *good);
static char *replaced(const char *text, const char *from, const char *to);
static const char *text_40nm(void);

// Only where nothing needs the number.
static void figures_may_be_unknown(void **state) {
  (void)state;
  const hw_tech tech = table("40nm");
  assert_true(isnan(tech.hart_pj.divide) && isnan(tech.leakage_uw.pe) && near(tech.hart_pj.memory, 45));
  bool good;
  char *text = replaced(text_40nm(), "mac: 0.561", "mac: unknown"), *messages = messages_of(text, &good);
  assert_true(!good && strstr(messages, "energy_pj.mac is a number of 0 or more, not \"unknown\"") != NULL);
  free(messages);
  wf_free(text);
  text = replaced(text_40nm(), "divide: unknown", "divide: hardly"), messages = messages_of(text, &good);
  assert_true(!good && strstr(messages, "hart_pj.divide is a number of 0 or more, or unknown, not") != NULL);
  free(messages);
  wf_free(text);
}

// A table of one's own stands in for the one that chip.technology names.
static void an_array_may_have_its_own(void **state) {
  (void)state;
  hw_tech own = table("40nm"), got;
  own.energy_pj.mac = 7;
  hw_array array = array_in("180nm");
  const uint64_t hash = hw_array_hash(&array);
  array.tech = &own;
  hw_tech_of(&got, &array);
  assert_true(got.has.energy_pj && got.energy_pj.mac == 7 && hw_array_hash(&array) == hash);
}

// Figures that were not measured are absent: no areas of units in 40nm, no energies in 180nm.
static void tables_say_what_they_have(void **state) {
  (void)state;
  const hw_tech fine = table("40nm"), coarse = table("180nm");
  assert_true(fine.has.energy_pj && fine.has.words_per_cycle && !fine.has.area_um2);
  assert_false(coarse.has.energy_pj || coarse.has.words_per_cycle);
}

static void tables_have_names(void **state) {
  (void)state;
  hw_tech tech;
  assert_true(hw_tech_named(&tech, "40nm"));
  assert_string_equal(tech.name, "40nm");
  static const char *const others[] = {"41nm", "40", "40nm.yaml", ""};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) assert_false(hw_tech_named(&tech, others[i]));
}

// ---- refused input

typedef struct edit {
  const char *from, *to;  // in the text of 40nm
  const char *message;    // that must appear
} edit;

static const char *text_40nm(void) {
  size_t i = 0;
  while (strcmp(hw_tech_builtin_name(i), "40nm.yaml") != 0) i++;
  return hw_tech_builtin_yaml(i);
}

static char *replaced(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  return wf_format("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static char *messages_of(const char *text, bool *good) {
  char *messages;
  size_t size;
  FILE *out = open_memstream(&messages, &size);
  assert_non_null(out);
  wf_diag diag = wf_diag_to(out);
  hw_tech tech;
  *good = hw_tech_parse(&tech, "t.yaml", text, strlen(text), &diag);
  fclose(out);
  return messages;
}

static void slips_are_refused_in_place(void **state) {
  (void)state;
  static const edit edits[] = {
      {"\n  mac:", "\n  mack:", "no key \"mack\" here\n  hint: did you mean \"energy_pj.mac\"?"},
      {"\n  mac: 0.561", "", "the key \"energy_pj.mac\" is missing"},
      {"\n  mac: 0.561", "\n  mac: 0.561\n  mac: 1", "\"energy_pj.mac\" is given twice"},
      {"\n  mac: 0.561", "\n  mac: much", "energy_pj.mac is a number of 0 or more, not \"much\""},
      {"\n  mac: 0.561", "\n  mac: -1", "energy_pj.mac is a number of 0 or more, not \"-1\""},
      {"\n  mac: 0.561", "\n  mac: 1e999", "energy_pj.mac is a number of 0 or more"},
      {"\n  mac: 0.561", "\n  mac: 0x10", "energy_pj.mac is a number of 0 or more"},
      {"\n  mac: 0.561", "\n  mac: nan", "energy_pj.mac is a number of 0 or more"},
      {"\n  mac: 0.561", "\n  mac:", "energy_pj.mac is a number of 0 or more, not \"\""},
      {"\n  mac: 0.561", "\n  mac: [1]", "energy_pj.mac is a single plain value"},
      {"\n  mac: 0.561", "\n  mac: &a 1", "energy_pj.mac is a single plain value"},
      {"\nenergy_pj:", "\nenergy_pj: 3\nenergy:", "energy_pj is a mapping of keys to values"},
      {"\n  mac: 0.561", "\n  mac: 0.561\n  energy_pj.dram: 1", "no key \"energy_pj.dram\" here"},
      {"\nenergy_pj:", "\n[a]: 1\nenergy_pj:", "a key is a plain name"},
      {"\nenergy_pj:", "\n---\nenergy_pj:", "a second document"},
      {"\nenergy_pj:", "\n\tenergy_pj:", "not valid YAML"},
  };
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    char *text = replaced(text_40nm(), edits[i].from, edits[i].to);
    bool good;
    char *messages = messages_of(text, &good);
    if (good || strstr(messages, edits[i].message) == NULL)
      fail_msg("\"%s\" for \"%s\" gave: %s", edits[i].to, edits[i].from, messages);
    assert_memory_equal(messages, "t.yaml:", 7);
    free(messages);
    wf_free(text);
  }
}

static void other_texts_are_refused(void **state) {
  (void)state;
  static const char *const texts[] = {
      "", "3", "[]", "{}", "---\n---\n", "name: \"\xff\"", "energy_pj: {mac: 1", "name: a\ndescription: b"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    bool good;
    char *messages = messages_of(texts[i], &good);
    assert_false(good);
    assert_memory_equal(messages, "t.yaml", 6);
    free(messages);
  }
}

// Every line that a table loses leaves a table that is refused, and none that crashes the reader.
static void refuse_shortened(const char *text) {
  for (const char *line = text; *line != '\0';) {
    const size_t length = strcspn(line, "\n") + 1;
    bool good;
    if (*line != '#' && *line != '\n') {
      char *shortened = wf_format("%.*s%s", (int)(line - text), text, line + length);
      char *messages = messages_of(shortened, &good);
      assert_false(good);
      free(messages);
      wf_free(shortened);
    }
    line += length;
  }
}

static void a_shortened_table_is_refused(void **state) {
  (void)state;
  for (size_t i = 0; hw_tech_builtin_yaml(i) != NULL; i++) refuse_shortened(hw_tech_builtin_yaml(i));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_tables),
      cmocka_unit_test(energies_follow_the_capacities),
      cmocka_unit_test(area_is_the_sum_of_its_parts),
      cmocka_unit_test(areas_of_the_whole),
      cmocka_unit_test(accesses_grow_with_the_root),
      cmocka_unit_test(figures_may_be_unknown),
      cmocka_unit_test(an_array_may_have_its_own),
      cmocka_unit_test(tables_say_what_they_have),
      cmocka_unit_test(tables_have_names),
      cmocka_unit_test(slips_are_refused_in_place),
      cmocka_unit_test(other_texts_are_refused),
      cmocka_unit_test(a_shortened_table_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
