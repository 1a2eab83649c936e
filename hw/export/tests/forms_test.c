// SPDX-License-Identifier: Apache-2.0
// Descriptions of the array for other simulators and tools, read back by libyaml, cJSON and our own reader, against the
// numbers of every built-in array.
#include <yaml.h>

#include "base/alloc.h"
#include "hw/export/tests/export_text.h"
#include "hw/rtl_files.h"
#include "hw/tech.h"
#include "hw/yaml_tree.h"

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

static void check_technology(const char *text, const hw_array *array) {
  hw_tech tech;
  hw_tech_of(&tech, array);
  char *quoted = wf_format("technology: \"%s\"\n", tech.name), *plain = wf_format("technology: %s\n", tech.name);
  assert_true(tech.name[0] != '\0' && (strstr(text, quoted) != NULL || strstr(text, plain) != NULL));
  wf_free(quoted);
  wf_free(plain);
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
    check_technology(text, &array);
    free(text);
  }
}

// How often a node has this tag, as libyaml sees it.
static int count_tag(const char *text, const char *tag) {
  yaml_parser_t parser;
  yaml_event_t event;
  bool done = false;
  int count = 0;
  assert_true(yaml_parser_initialize(&parser));
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
  while (!done) {
    if (!yaml_parser_parse(&parser, &event)) fail_msg("not YAML: %s\n%s", parser.problem, text);
    const yaml_char_t *has = event.type == YAML_MAPPING_START_EVENT ? event.data.mapping_start.tag : NULL;
    count += has != NULL && strcmp((const char *)has, tag) == 0;
    done = event.type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&parser);
  return count;
}

static bool is_near(double value, double expected) {
  return value >= expected * (1 - 1e-5) && value <= expected * (1 + 1e-5);
}

static void timeloop_v4_has_the_sizes(void **state) {
  (void)state;
  enum { SCRATCHPAD, ACCUMULATOR, REGISTERS };
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    const hw_derived d = hw_derive(&array);
    char *text = text_of(hw_export_timeloop_v4, &array), *older = text_of(hw_export_timeloop, &array);
    assert_true(timeloop_number(text, "version", 0) == 0.4);
    assert_int_equal(count_tag(text, "!Component"), 5);
    assert_int_equal(count_tag(text, "!Container"), 3);
    const double mesh = timeloop_number(text, "meshX", 0) * timeloop_number(text, "meshY", 0);
    assert_true(mesh == (double)d.dim * d.dim);
    // Rows of so many bits are the memories; the accumulator is there once in every column.
    const double scratchpad =
        timeloop_number(text, "depth", SCRATCHPAD) * timeloop_number(text, "width", 1 + SCRATCHPAD);
    assert_true(scratchpad == array.scratchpad.capacity_kib * 8192.0);
    const double column = timeloop_number(text, "depth", ACCUMULATOR) * timeloop_number(text, "width", 1 + ACCUMULATOR);
    assert_true(column * timeloop_number(text, "meshX", 0) == array.accumulator.capacity_kib * 8192.0);
    assert_true(timeloop_number(text, "depth", REGISTERS) == 1);
    // Both versions have the same bandwidths.
    static const char *const rates[] = {"shared_bandwidth", "read_bandwidth", "write_bandwidth"};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
      for (int n = 0; n < 3; n++)
        assert_true(timeloop_number(text, rates[r], n) == timeloop_number(older, rates[r], n));
    assert_true(is_near(timeloop_number(text, "global_cycle_seconds", 0) * array.chip.clock_mhz, 1e-6));
    assert_true((strstr(text, "keep: [Weights]") == NULL) == (array.mesh.dataflow == HW_DATAFLOW_OS));
    free(older);
    check_technology(text, &array);
    free(text);
  }
}

// The energies are those of AccelForge's description, of rows where the architecture has rows.
static void accelergy_has_the_energies(void **state) {
  (void)state;
  enum { ACTIONS = 4, MEMORIES = 4 };
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    char *text = text_of(hw_export_accelergy, &array), *forge = text_of(hw_export_accelforge, &array);
    char *arch = text_of(hw_export_timeloop_v4, &array);
    for (int m = 0; m < MEMORIES; m++) {
      const double words = timeloop_number(arch, "width", m) / timeloop_number(arch, "datawidth", m);
      const double joules = timeloop_number(forge, "energy", 2 * m) * 8;  // a word, in AccelForge's tensors of 8 bits
      for (int action = 0; action < ACTIONS - 1; action++)
        assert_true(is_near(timeloop_number(text, "energy", ACTIONS * m + action) * 1e-12, joules * words));
      assert_true(timeloop_number(text, "energy", ACTIONS * m + ACTIONS - 1) == 0);
    }
    free(text);
    free(forge);
    free(arch);
  }
}

static void accelforge_has_the_sizes(void **state) {
  (void)state;
  enum { MAIN, SCRATCHPAD, ACCUMULATOR, REGISTER, ACCESSES_PER_MEMORY = 2, VALUE_BITS = 8 };
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    const hw_derived d = hw_derive(&array);
    hw_tech tech;
    hw_tech_of(&tech, &array);
    char *text = text_of(hw_export_accelforge, &array);
    assert_int_equal(count_tag(text, "!Memory"), 4);
    assert_int_equal(count_tag(text, "!Container"), 1);
    assert_int_equal(count_tag(text, "!Compute"), 1);
    assert_true(timeloop_number(text, "size", SCRATCHPAD) == array.scratchpad.capacity_kib * 8192.0);
    assert_true(timeloop_number(text, "size", ACCUMULATOR) * d.acc_bytes == array.accumulator.capacity_kib * 8192.0);
    assert_true(timeloop_number(text, "fanout", 0) * timeloop_number(text, "fanout", 1) == (double)d.dim * d.dim);
    const double hz = timeloop_number(text, "throughput", REGISTER * ACCESSES_PER_MEMORY + ACCESSES_PER_MEMORY);
    assert_true(is_near(hz, array.chip.clock_mhz * 1e6));
    const uint32_t bus = array.dma.bus_bits / 8, memory = array.memory.bytes_per_cycle;
    const double rate = timeloop_number(text, "throughput", MAIN);
    assert_true(is_near(rate, hz * VALUE_BITS * (bus < memory ? bus : memory)));
    const double pj[] = {tech.has.energy_pj ? tech.energy_pj.dram : 0,
                         tech.has.energy_pj ? hw_tech_scratchpad_pj(&tech, &array) : 0,
                         tech.has.energy_pj ? hw_tech_accumulator_pj(&tech, &array) : 0,
                         tech.has.energy_pj ? tech.energy_pj.registers : 0};
    for (int n = 0; n < 8; n++)
      assert_true(is_near(timeloop_number(text, "energy", n) * VALUE_BITS, pj[n / ACCESSES_PER_MEMORY] * 1e-12));
    assert_true((strstr(text, "0 stands for them") != NULL) == !tech.has.energy_pj);
    free(text);
  }
}

static unsigned setting_of(const char *text, const char *section, const char *key) {
  char line[64];
  snprintf(line, sizeof line, "[%s]\n", section);
  const char *at = strstr(text, line);
  if (at == NULL) fail_msg("no section %s", section);
  snprintf(line, sizeof line, "\n%s=", key);
  at = strstr(at, line);
  if (at == NULL) fail_msg("no %s", key);
  return (unsigned)strtoul(at + strlen(line), NULL, 10);
}

static void stonne_has_the_side(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    const unsigned dim = hw_derive(&array).dim;
    char *text = text_of(hw_export_stonne, &array);
    assert_int_equal(setting_of(text, "MSNetwork", "ms_rows"), dim);
    assert_int_equal(setting_of(text, "MSNetwork", "ms_cols"), dim);
    assert_int_equal(setting_of(text, "ReduceNetwork", "accumulation_buffer_enabled"), 1);
    assert_int_equal(setting_of(text, "SDMemory", "dn_bw"), 2 * dim);
    assert_int_equal(setting_of(text, "SDMemory", "rn_bw"), dim * dim);
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

// ---- IP-XACT

// Elements are closed in the order in which they were opened, and nothing but elements holds a '<'.
static void check_elements(const char *text) {
  char open[32][64];
  int depth = 0;
  for (const char *at = strchr(text, '<'); at != NULL; at = strchr(at + 1, '<')) {
    const char *end = strchr(at, '>');
    assert_non_null(end);
    if (at[1] == '?' || at[1] == '!' || end[-1] == '/') continue;
    const char *name = at + 1 + (at[1] == '/');
    const size_t length = strcspn(name, " >");
    assert_true(length < sizeof open[0] && depth < 32);
    if (at[1] != '/') {
      snprintf(open[depth++], sizeof open[0], "%.*s", (int)length, name);
    } else {
      assert_true(depth-- > 0);
      assert_true(strlen(open[depth]) == length && strncmp(open[depth], name, length) == 0);
    }
  }
  assert_int_equal(depth, 0);
}

static int count_text(const char *text, const char *part) {
  int count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

// What the top declares: names of ports end in _i or _o, and stand once before its body.
static int check_ports(const char *top, const char *text) {
  int ports = 0;
  const char *end = strstr(top, "\n);");
  for (const char *at = strstr(top, "\n) (\n"); at < end; at += strspn(at, " ,()[]\n")) {
    const size_t length = strcspn(at, " ,()[]\n");
    if (length > 2 && strchr("io", at[length - 1]) != NULL && memchr(at, '_', length) != NULL) {
      char *line = wf_format(
          "<ipxact:port>\n        <ipxact:name>%.*s</ipxact:name>\n        <ipxact:wire>\n"
          "          <ipxact:direction>%s</ipxact:direction>",
          (int)length, at, at[length - 1] == 'o' ? "out" : "in");
      assert_int_equal(count_text(text, line), 1);
      wf_free(line);
      ports++;
    }
    at += length;
  }
  return ports;
}

static const char *rtl_text(const char *name) {
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    if (strcmp(hw_rtl_files[i].name, name) == 0) return hw_rtl_files[i].text;
  fail_msg("no %s", name);
  return "";
}

static int parameter_of(const char *text, const char *id) {
  char *head = wf_format("parameterId=\"%s\"", id);
  const char *at = strstr(text, head);
  wf_free(head);
  assert_non_null(at);
  return atoi(strstr(at, "<ipxact:value>") + strlen("<ipxact:value>"));
}

static void ipxact_has_ports_files_and_parameters(void **state) {
  (void)state;
  for (size_t i = 0; hw_builtin_name(i) != NULL; i++) {
    const hw_array array = builtin(i);
    char *text = text_of(hw_export_ipxact, &array);
    check_elements(text);
    const int ports = check_ports(rtl_text("weft_accel.sv"), text);
    assert_true(ports > 40);
    assert_int_equal(count_text(text, "<ipxact:port>"), ports);
    assert_int_equal(count_text(text, "<ipxact:file>"), hw_rtl_file_count + 1);
    assert_non_null(strstr(text,
                           "<ipxact:name>ARADDR</ipxact:name></ipxact:logicalPort>\n"
                           "              <ipxact:physicalPort><ipxact:name>m_axi_araddr_o<"));
    assert_non_null(strstr(text, "<ipxact:left>BUS_BITS/8-1</ipxact:left>"));
    assert_int_equal(parameter_of(text, "BUS_BITS"), array.dma.bus_bits);
    assert_int_equal(parameter_of(text, "SCRATCHPAD_BANKS"), array.scratchpad.banks);
    const uint32_t numbers = 1u << parameter_of(text, "RID_BITS");
    assert_true(numbers >= array.dma.reads_in_flight && (numbers == 2 || numbers < 2 * array.dma.reads_in_flight));
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(timeloop_has_the_sizes),     cmocka_unit_test(timeloop_v4_has_the_sizes),
      cmocka_unit_test(accelergy_has_the_energies), cmocka_unit_test(accelforge_has_the_sizes),
      cmocka_unit_test(stonne_has_the_side),        cmocka_unit_test(onnxim_has_the_sizes),
      cmocka_unit_test(fusesoc_has_the_files),      cmocka_unit_test(ipxact_has_ports_files_and_parameters),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
