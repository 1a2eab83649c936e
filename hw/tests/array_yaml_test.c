// SPDX-License-Identifier: Apache-2.0
// What the reader and the rules refuse, with the exact message; and that damaged text is refused or read, never worse.
#include "base/test.h"
#include "hw/array.h"

typedef struct refusal {
  const char *yaml;
  const char *message;  // everything that is reported
} refusal;

// Parses as file "t"; returns all messages, to free.
static char *messages_of(const char *yaml, size_t length, hw_array *array, bool *good) {
  char *text = NULL;
  size_t text_length = 0;
  FILE *out = open_memstream(&text, &text_length);
  wf_diag diag = wf_diag_to(out);
  *good = hw_array_parse(array, "t", yaml, length, &diag);
  fclose(out);
  assert_true(*good == (diag.errors == 0));
  return text;
}

static void assert_refused(const refusal *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    hw_array array;
    bool good;
    char *text = messages_of(cases[i].yaml, strlen(cases[i].yaml), &array, &good);
    if (good || strcmp(text, cases[i].message) != 0) {
      fail_msg("for\n%s\nexpected\n%s\ngot\n%s", cases[i].yaml, cases[i].message, text);
    }
    free(text);
  }
}
#define ASSERT_REFUSED(cases) assert_refused(cases, sizeof cases / sizeof *cases)

static void unknown_names_are_refused_with_the_nearest(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"mesh:\n  row: 8\n", "t:2:3: error: section \"mesh\" has no key \"row\"\n  hint: did you mean \"rows\"?\n"},
      {"mesh:\n  colunms: 8\n",
       "t:2:3: error: section \"mesh\" has no key \"colunms\"\n  hint: did you mean \"columns\"?\n"},
      {"scratchpd:\n  banks: 2\n",
       "t:1:1: error: unknown section \"scratchpd\"\n  hint: did you mean \"scratchpad\"?\n"},
      {"descripton: x\n", "t:1:1: error: unknown section \"descripton\"\n  hint: did you mean \"description\"?\n"},
      {"zzzzzz: 1\n", "t:1:1: error: unknown section \"zzzzzz\"\n"},
      {"mesh: {zzzzzz: 1}\n", "t:1:8: error: section \"mesh\" has no key \"zzzzzz\"\n"},
      {"bus_bits: 64\n",
       "t:1:1: error: unknown section \"bus_bits\"\n  hint: section \"dma\" has a key of that name\n"},
      {"mesh: {bus_bits: 64}\n",
       "t:1:8: error: section \"mesh\" has no key \"bus_bits\"\n  hint: section \"dma\" has a key of that name\n"},
      {"dma.bus_bits: 64\n",
       "t:1:1: error: unknown section \"dma.bus_bits\"\n  hint: write dma as a section and bus_bits as a key in it\n"},
      {"? [a]\n: 1\n", "t:1:3: error: a section has a name, not a list\n"},
      {"mesh:\n  ? {a: b}\n  : 1\n", "t:2:5: error: a key of section \"mesh\" is a name, not a mapping\n"},
      {"\"mesh\\0x\": 1\n", "t:1:1: error: a section has a name, not text with a zero byte\n"},
      {"a-key-that-is-much-longer-than-what-a-message-should-show: 1\n",
       "t:1:1: error: unknown section \"a-key-that-is-much-longer-than-what-...\"\n"},
      {"\"a\\nb\": 1\n", "t:1:1: error: unknown section \"a?b\"\n"},
      // One message each, in order; what follows an unknown name is skipped whole.
      {"one: {mesh: [{rows: 3}]}\nmesh:\n  two: [1, {rows: 3}]\n  rows: 3\n",
       "t:1:1: error: unknown section \"one\"\n"
       "t:3:3: error: section \"mesh\" has no key \"two\"\n"
       "t:4:9: error: mesh.rows is 3, not a power of two\n  hint: the nearest are 2 and 4\n"},
  };
  ASSERT_REFUSED(cases);
}

static void repeated_names_are_refused(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"load:\n  queue: 3\n  queue: 3\n",
       "t:3:3: error: \"queue\" is given twice\n  hint: the first is at line 2, column 10\n"},
      {"load:\n  queue: 3\nload: {}\n",
       "t:3:1: error: \"load\" is given twice\n  hint: the first is at line 1, column 1\n"},
      {"name: a\nname: b\n", "t:2:1: error: \"name\" is given twice\n  hint: the first is at line 1, column 1\n"},
  };
  ASSERT_REFUSED(cases);
}

static void wrong_types_are_refused(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"load:\n  queue: many\n", "t:2:10: error: load.queue is a whole number, not \"many\"\n"},
      {"load:\n  queue: 2.5\n", "t:2:10: error: load.queue is a whole number, not \"2.5\"\n"},
      {"load:\n  queue: -1\n", "t:2:10: error: load.queue is a whole number, not \"-1\"\n"},
      {"load:\n  queue: 010\n", "t:2:10: error: load.queue is a whole number, not \"010\"\n"},
      {"load:\n  queue: 0x8\n", "t:2:10: error: load.queue is a whole number, not \"0x8\"\n"},
      {"load:\n  queue:\n", "t:2:9: error: load.queue is a whole number, not \"\"\n"},
      {"load:\n  queue: \"8\"\n", "t:2:10: error: load.queue is a whole number, not the text \"8\"\n"},
      {"load:\n  queue: [8]\n", "t:2:10: error: load.queue is a single value, not a list\n"},
      {"load:\n  queue:\n    a: 8\n", "t:3:5: error: load.queue is a single value, not a mapping\n"},
      {"load: {queue: \"8\\0\"}\n", "t:1:15: error: load.queue is a single value, not text with a zero byte\n"},
      {"load: 8\n", "t:1:7: error: section \"load\" is a mapping of keys to values\n"},
      {"load: [8]\n", "t:1:7: error: section \"load\" is a mapping of keys to values\n"},
      {"units:\n  max_pool: yes\n", "t:2:13: error: units.max_pool is one of: true, false; not \"yes\"\n"},
      {"units:\n  max_pool: flase\n",
       "t:2:13: error: units.max_pool is one of: true, false; not \"flase\"\n  hint: did you mean \"false\"?\n"},
      {"units:\n  max_pool: \"true\"\n",
       "t:2:13: error: units.max_pool is one of: true, false; not the text \"true\"\n"},
      {"mesh:\n  dataflow: boht\n",
       "t:2:13: error: mesh.dataflow is one of: ws, os, both; not \"boht\"\n  hint: did you mean \"both\"?\n"},
      {"name: Big Array\n", "t:1:7: error: name is 1 to 63 of the characters a-z, 0-9 and -; not \"Big Array\"\n"},
      {"name:\n", "t:1:6: error: name is 1 to 63 of the characters a-z, 0-9 and -; not \"\"\n"},
      {"name: [a]\n", "t:1:7: error: name is text, not a list\n"},
      {"description: {}\n", "t:1:14: error: description is text, not a mapping\n"},
      {"description: \"a\\0b\"\n", "t:1:14: error: description is text, not text with a zero byte\n"},
  };
  ASSERT_REFUSED(cases);
}

static void values_outside_their_range_are_refused(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"load:\n  queue: 0\n", "t:2:10: error: load.queue is 0, outside 1 to 64 commands\n"},
      {"load:\n  queue: 65\n", "t:2:10: error: load.queue is 65, outside 1 to 64 commands\n"},
      {"isa:\n  revision: 3\n", "t:2:13: error: isa.revision is 3, outside 1 to 2\n"},
      {"load:\n  queue: 4294967304\n", "t:2:10: error: load.queue is 4294967304, outside 1 to 64 commands\n"},
      {"load:\n  queue: 18446744073709551624\n",
       "t:2:10: error: load.queue is 18446744073709551624, outside 1 to 64 commands\n"},
      {"mesh:\n  rows: 12\n", "t:2:9: error: mesh.rows is 12, not a power of two\n  hint: the nearest are 8 and 16\n"},
      {"dma: {bus_bits: 1000}\n",
       "t:1:17: error: dma.bus_bits is 1000, not a power of two\n  hint: the nearest are 512 and 1024\n"},
      {"mesh:\n  rows: 256\n", "t:2:9: error: mesh.rows is 256, outside 1 to 128 tiles\n"},
  };
  ASSERT_REFUSED(cases);
}

static void other_yaml_is_refused(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"", "t: error: the file is empty; {} is the default array\n"},
      {"# nothing\n", "t: error: the file is empty; {} is the default array\n"},
      {"---\n", "t:2:1: error: an array description is a mapping of sections\n"},
      {"- mesh\n", "t:1:1: error: an array description is a mapping of sections\n"},
      {"mesh\n", "t:1:1: error: an array description is a mapping of sections\n"},
      {"load: {queue: 3}\n---\nload: {queue: 4}\n", "t:2:1: error: a second document; a file describes one array\n"},
      {"load: {queue: &q 3}\n", "t:1:15: error: YAML anchors are not part of an array description\n"},
      {"load: {queue: *q}\n", "t:1:15: error: YAML aliases are not part of an array description\n"},
      {"load: {queue: !!int 3}\n", "t:1:15: error: YAML tags are not part of an array description\n"},
      {"load: &l {queue: 3}\n", "t:1:7: error: YAML anchors are not part of an array description\n"},
      {"load: *l\n", "t:1:7: error: YAML aliases are not part of an array description\n"},
      {"*l : {queue: 3}\n", "t:1:1: error: YAML aliases are not part of an array description\n"},
      {"load: {<<: *l}\n",
       "t:1:8: error: section \"load\" has no key \"<<\"\n"
       "t:1:12: error: YAML aliases are not part of an array description\n"},
      {"!x {}\n", "t:1:1: error: YAML tags are not part of an array description\n"},
      {"a: &a [x, x]\nb: &b [*a, *a]\n",
       "t:1:1: error: unknown section \"a\"\n"
       "t:1:4: error: YAML anchors are not part of an array description\n"
       "t:2:1: error: unknown section \"b\"\n"
       "t:2:4: error: YAML anchors are not part of an array description\n"
       "t:2:8: error: YAML aliases are not part of an array description\n"
       "t:2:12: error: YAML aliases are not part of an array description\n"},
      {"load: {queue: 3\n",
       "t:2:1: error: not valid YAML: did not find expected ',' or '}'\n  hint: while parsing a flow mapping\n"},
      {"load:\n\tqueue: 3\n",
       "t:2:1: error: not valid YAML: found character that cannot start any token\n"
       "  hint: while scanning for the next token\n"},
      {"load: {queue: 3}\nname: \"\xc3\x28\"\n",
       "t:2:9: error: not valid YAML text: invalid trailing UTF-8 octet (0x28)\n"},
      {"name: \xc3\xa9\xff\n", "t:1:8: error: not valid YAML text: invalid leading UTF-8 octet (0xff)\n"},
      {"name: \x01\n", "t:1:7: error: not valid YAML text: control characters are not allowed (0x01)\n"},
  };
  ASSERT_REFUSED(cases);
}

// Each rule between parameters, at the value that the file states.
static void impossible_combinations_are_refused(void **state) {
  (void)state;
  static const refusal cases[] = {
      {"mesh:\n  columns: 8\n",
       "t:2:12: error: the array must be square: mesh.rows 16 x mesh.tile_rows 1 is 16 PEs high, mesh.columns 8 x "
       "mesh.tile_columns 1 is 8 PEs wide\n"},
      {"mesh: {rows: 1, columns: 1}\n",
       "t:1:14: error: mesh.rows 1 x mesh.tile_rows 1 is an array of 1 PEs per side; 2 to 128 can be built\n"},
      {"mesh: {tile_rows: 16, tile_columns: 16}\n",
       "t:1:19: error: mesh.rows 16 x mesh.tile_rows 16 is an array of 256 PEs per side; 2 to 128 can be built\n"},
      {"mesh:\n  bias_garbage: true\n",
       "t:2:17: error: mesh.bias_garbage true removes the D port, which output-stationary products need; mesh.dataflow "
       "must be ws, not both\n"},
      {"units: {transposer: false}\n",
       "t:1:21: error: units.transposer false removes what output-stationary products bring A in with, column by "
       "column; mesh.dataflow must be ws, not both\n"},
      {"units: {loop_conv: false}\nmesh: {dataflow: os}\n",
       "t:2:18: error: units.loop_matmul true unrolls into weight-stationary products, which mesh.dataflow os cannot "
       "run\n"},
      {"units: {loop_matmul: false}\nmesh: {dataflow: os}\n",
       "t:2:18: error: units.loop_conv true unrolls into weight-stationary products, which mesh.dataflow os cannot "
       "run\n"},
      {"scratchpad: {capacity_kib: 96}\n",
       "t:1:28: error: scratchpad.capacity_kib 96 in scratchpad.banks 4 with rows of 16 bytes is 1536 rows per bank; "
       "it "
       "must be a power of two\n"},
      {"accumulator: {capacity_kib: 1, banks: 64}\n",
       "t:1:29: error: accumulator.capacity_kib 1 in accumulator.banks 64 with rows of 64 bytes is 0.25 rows per bank; "
       "it "
       "must be a power of two\n"},
      {"scratchpad: {capacity_kib: 1, banks: 16}\n",
       "t:1:28: error: scratchpad.capacity_kib 1 in scratchpad.banks 16 is 4 rows per bank; a tile has 16 rows and "
       "must "
       "fit a bank\n"},
      {"accumulator: {capacity_kib: 1, banks: 1}\n",
       "t:1:29: error: accumulator.capacity_kib 1 is 16 rows; the loop unrollers need 2 tiles of 16 rows, one of C in "
       "each "
       "half\n"},
      {"mesh: {rows: 32, columns: 32}\ntypes: {output_bits: 21}\nscratchpad: {capacity_kib: 2, banks: 2}\n",
       "t:3:28: error: scratchpad.capacity_kib 2 is 64 rows; the loop unrollers need 4 tiles of 32 rows, one of A and "
       "one "
       "of B in each half\n"},
      {"accumulator: {sub_banks: 2}\n",
       "t:1:26: error: accumulator.sub_banks 2 belongs to accumulator.single_ported true; a two-ported bank is one "
       "memory "
       "(sub_banks 1)\n"},
      {"accumulator: {single_ported: true}\n",
       "t:1:30: error: accumulator.single_ported true needs accumulator.sub_banks 2 or more, not 1: accumulating reads "
       "one "
       "row while it writes another\n"},
      {"accumulator: {single_ported: true, sub_banks: 3}\n",
       "t:1:47: error: accumulator.sub_banks 3 cannot share the 512 rows of a bank by low address bits; it must be a "
       "power "
       "of two up to that number\n"},
      {"scratchpad: {execute_writes: false}\naccumulator: {execute_writes: false}\n",
       "t:1:30: error: scratchpad.execute_writes and accumulator.execute_writes are both false: results have nowhere "
       "to "
       "go\n"},
      {"accumulator: {full_reads: false, narrow_reads: false}\n",
       "t:1:27: error: accumulator.full_reads and accumulator.narrow_reads are both false: nothing can leave the "
       "accumulator\n"},
      {"accumulator: {narrow_reads: false}\n",
       "t:1:29: error: accumulator.execute_reads true needs accumulator.narrow_reads true: operands are scaled int8 "
       "rows\n"},
      {"units: {normaliser: true}\naccumulator: {narrow_reads: false, execute_reads: false}\n",
       "t:1:21: error: units.normaliser true needs accumulator.narrow_reads true: normalised rows leave as scaled "
       "int8\n"},
      {"sync: {by: tokens}\nunits: {loop_matmul: false}\n",
       "t:1:12: error: units.loop_conv true unrolls into commands without tokens; sync.by tokens needs "
       "units.loop_matmul and units.loop_conv false\n"},
      {"sync: {by: tokens}\nunits: {loop_matmul: false, loop_conv: false}\nstore: {order: completed}\n",
       "t:3:16: error: store.order completed is a wait of the reservation station; sync.by tokens needs store.order "
       "issued\n"},
      {"units: {gate: true}\naccumulator: {narrow_reads: false, execute_reads: false}\n",
       "t:1:15: error: units.gate true needs accumulator.narrow_reads true: it multiplies rows that leave as scaled "
       "int8\n"},
      {"units: {normaliser: true, activation: false}\n",
       "t:1:21: error: units.normaliser true needs units.activation true: layer norm, softmax and GELU are "
       "activations\n"},
      {"dma: {max_burst_bytes: 8}\n",
       "t:1:24: error: dma.max_burst_bytes 8 is less than one beat of dma.bus_bits 128 (16 bytes)\n"},
      {"dma: {bus_bits: 512}\nl2: {line_bytes: 32}\n",
       "t:1:17: error: a beat of dma.bus_bits 512 (64 bytes) is wider than l2.line_bytes 32\n"},
      {"host: {icache_kib: 1, icache_ways: 32}\n",
       "t:1:20: error: host.icache_kib 1 does not hold one set: host.icache_ways 32 lines of host.line_bytes 64\n"},
      {"host: {dcache_ways: 64, line_bytes: 256, dcache_kib: 8, icache_kib: 64}\n",
       "t:1:54: error: host.dcache_kib 8 does not hold one set: host.dcache_ways 64 lines of host.line_bytes 256\n"},
      {"l2: {capacity_kib: 1, ways: 64}\n",
       "t:1:20: error: l2.capacity_kib 1 does not hold one set: l2.ways 64 lines of l2.line_bytes 64\n"},
  };
  ASSERT_REFUSED(cases);
}

static void accepted_forms(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{}",
      "--- {}\n...\n",
      "\xef\xbb\xbfname: bom\n",
      "%YAML 1.1\n---\nmesh:\n",
      "name: a\r\nload:\r\n  queue: 8\r\n",
      "{\"load\": {\"queue\": 8, \"reservation_entries\": 8}}",
      "mesh: {dataflow: \"both\"}",
      "description: >\n  two lines\n  of text\n",
      "l2: {present: false, capacity_kib: 1, ways: 64}\n",  // not built, so not checked
      "units: {loop_matmul: false, loop_conv: false}\nmesh: {dataflow: os}\n",
      "units: {loop_matmul: false, loop_conv: false}\naccumulator: {capacity_kib: 1, banks: 1}\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    hw_array array;
    bool good;
    char *text = messages_of(texts[i], strlen(texts[i]), &array, &good);
    if (!good || text[0] != '\0') fail_msg("%s\n%s", texts[i], text);
    free(text);
  }
}

static void narrow_sums_are_warned_of(void **state) {
  (void)state;
  static const char yaml[] = "mesh: {rows: 32, columns: 32}\n";
  hw_array array;
  bool good;
  char *text = messages_of(yaml, strlen(yaml), &array, &good);
  assert_true(good);
  assert_string_equal(text,
                      "t:1:14: warning: types.output_bits 20 lets a sum over 32 products wrap; 21 or more cannot\n");
  free(text);
}

static void a_refused_file_leaves_the_array_alone(void **state) {
  (void)state;
  static const char yaml[] = "load: {queue: 3}\nstore: {queue: 0}\n";
  hw_array array;
  hw_array_default(&array);
  array.load.queue = 7;
  bool good;
  free(messages_of(yaml, strlen(yaml), &array, &good));
  assert_false(good);
  assert_int_equal(array.load.queue, 7);
}

static void long_texts_are_refused(void **state) {
  (void)state;
  const size_t length = 64 * 1024 + 1;
  char *yaml = malloc(length);
  memset(yaml, '\n', length);
  memcpy(yaml, "{}", 2);
  hw_array array;
  bool good;
  char *text = messages_of(yaml, length - 1, &array, &good);
  assert_true(good);
  free(text);
  text = messages_of(yaml, length, &array, &good);
  assert_string_equal(text, "t: error: larger than the 65536 bytes an array description may have\n");
  free(text);
  free(yaml);
}

static void long_names_and_descriptions_are_refused(void **state) {
  (void)state;
  char yaml[400], text_of[300];
  memset(text_of, 'a', sizeof text_of);
  static const struct {
    const char *key;
    int length;
    bool good;
  } cases[] = {{"name", 63, true}, {"name", 64, false}, {"description", 255, true}, {"description", 256, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    snprintf(yaml, sizeof yaml, "%s: %.*s\n", cases[i].key, cases[i].length, text_of);
    hw_array array;
    bool good;
    free(messages_of(yaml, strlen(yaml), &array, &good));
    assert_int_equal(good, cases[i].good);
  }
}

static void deep_nesting_is_refused_cheaply(void **state) {
  (void)state;
  char yaml[4096];
  memset(yaml, '[', sizeof yaml);
  memcpy(yaml, "a: ", 3);
  hw_array array;
  bool good;
  char *text = messages_of(yaml, sizeof yaml, &array, &good);
  assert_false(good);
  assert_non_null(strstr(text, "t:1:1: error: unknown section \"a\"\n"));
  free(text);
}

// What load says of names and files; messages go through a temporary stream.
static void assert_load_refused(const char *name, const char *message) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  hw_array array;
  assert_false(hw_array_load(&array, name, &diag));
  fclose(out);
  assert_string_equal(text, message);
  free(text);
}

static void names_that_are_no_array_are_refused(void **state) {
  (void)state;
  assert_load_refused("gemini-default",
                      "weft: error: no built-in array is named \"gemini-default\"\n  hint: did you mean "
                      "\"gemmini-default\"?\n");
  assert_load_refused("nothing-like-it",
                      "weft: error: no built-in array is named \"nothing-like-it\"\n"
                      "  hint: `weft array list` names them; a file is given with a / or ends in .yaml\n");
  assert_load_refused("missing.yaml", "missing.yaml: error: cannot read the file: No such file or directory\n");
  assert_load_refused("./missing", "./missing: error: cannot read the file: No such file or directory\n");
  assert_load_refused("/", "/: error: cannot read the file: Is a directory\n");
  assert_load_refused("/dev/zero", "/dev/zero: error: larger than the 65536 bytes an array description may have\n");
}

static void a_file_without_a_name_gets_the_files(void **state) {
  (void)state;
  static const struct {
    const char *path, *name;
  } cases[] = {{"array-yaml-test-tmp.yaml", "array-yaml-test-tmp"}, {"./Array_Yaml_Test_Tmp.yaml", "unnamed"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FILE *out = fopen(cases[i].path, "w");
    assert_non_null(out);
    fputs("load: {queue: 3}\n", out);
    fclose(out);
    hw_array array;
    wf_diag diag = wf_diag_to(stderr);
    bool good = hw_array_load(&array, cases[i].path, &diag);
    remove(cases[i].path);
    assert_true(good);
    assert_string_equal(array.name, cases[i].name);
    assert_int_equal(array.load.queue, 3);
  }
}

// The public check also guards arrays that were built in memory.
static void check_refuses_values_outside_the_table(void **state) {
  (void)state;
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_diag diag = wf_diag_to(out);
  hw_array array;
  hw_array_default(&array);
  array.mesh.rows = 0;
  array.store.queue = 65;
  array.mesh.dataflow = 3;
  assert_false(hw_array_check(&array, NULL, &diag));
  hw_array_default(&array);
  array.mesh.rows = 8;
  assert_false(hw_array_check(&array, "made", &diag));
  fclose(out);
  assert_string_equal(
      text,
      "weft: error: mesh.rows cannot be 0\n"
      "weft: error: mesh.dataflow cannot be 3\n"
      "weft: error: store.queue cannot be 65\n"
      "made: error: the array must be square: mesh.rows 8 x mesh.tile_rows 1 is 8 PEs high, mesh.columns "
      "16 x mesh.tile_columns 1 is 16 PEs wide\n");
  free(text);
}

static uint32_t random_next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 33);
}

// A damaged text is either refused with a message or gives an array that passes the check.
static void damaged_texts_never_crash(void **state) {
  (void)state;
  uint64_t random = 1;
  size_t refused = 0, accepted = 0;
  for (unsigned round = 0; round < 4000; round++) {
    const char *yaml = hw_builtin_yaml(round % 10);
    size_t length = strlen(yaml);
    char *damaged = malloc(length);
    memcpy(damaged, yaml, length);
    for (uint32_t flips = 1 + random_next(&random) % 3; flips > 0; flips--) {
      damaged[random_next(&random) % length] ^= (char)(1u << random_next(&random) % 8);
    }
    hw_array array;
    bool good;
    char *text = messages_of(damaged, length, &array, &good);
    wf_diag silent = wf_diag_to(NULL);
    if (good) assert_true(hw_array_check(&array, NULL, &silent));
    if (!good) assert_int_equal(strncmp(text, "t:", 2), 0);
    *(good ? &accepted : &refused) += 1;
    free(text);
    free(damaged);
  }
  assert_true(refused > 500 && accepted > 500);  // both kinds were met
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unknown_names_are_refused_with_the_nearest),
      cmocka_unit_test(repeated_names_are_refused),
      cmocka_unit_test(wrong_types_are_refused),
      cmocka_unit_test(values_outside_their_range_are_refused),
      cmocka_unit_test(other_yaml_is_refused),
      cmocka_unit_test(impossible_combinations_are_refused),
      cmocka_unit_test(accepted_forms),
      cmocka_unit_test(narrow_sums_are_warned_of),
      cmocka_unit_test(a_refused_file_leaves_the_array_alone),
      cmocka_unit_test(long_texts_are_refused),
      cmocka_unit_test(long_names_and_descriptions_are_refused),
      cmocka_unit_test(deep_nesting_is_refused_cheaply),
      cmocka_unit_test(names_that_are_no_array_are_refused),
      cmocka_unit_test(a_file_without_a_name_gets_the_files),
      cmocka_unit_test(check_refuses_values_outside_the_table),
      cmocka_unit_test(damaged_texts_never_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
